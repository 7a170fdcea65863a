package io.kamille.core.gate;

import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.NamedClient;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.TargetForm;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds out whose the requests of one connection are, behind proxies that are trusted. Confined to
 * the loop of the connection.
 */
public final class ForwardedReader {

  /*
   * Each proxy adds the address that it has seen behind those that came (RFC 7239 §4). So a client
   * chooses what stands left of its own address, and nothing right of it. The list is read from the
   * right, past trusted addresses. The first other one is the client, and what stands left of it is
   * never looked at. A member that cannot be read ends the search: the trusted proxy right of it
   * counts, as the last one that is known.
   *
   * X-Forwarded-Proto and -Host are lists beside that one, or single values. So the member as far
   * from the right as the client's counts, or the first. In Forwarded, they stand with the client.
   *
   * What goes on to the origin begins with the client. Without a trusted proxy, nothing does.
   */

  /** Nobody has so many proxies: trusted members beyond these are not looked at. */
  private static final int MOST_MEMBERS = 32;

  /** The longest is an IPv6 address with an IPv4 address in it, in brackets, with a port. */
  private static final int LONGEST_ADDRESS = 53;

  private static final int GREATEST_PORT = 65_535;
  private static final int NONE = -1;

  private static final RemovedFields ALL =
      new RemovedFields(
          List.of(
              FieldName.FORWARDED.text(),
              FieldName.X_FORWARDED_FOR.text(),
              FieldName.X_FORWARDED_HOST.text(),
              FieldName.X_FORWARDED_PROTO.text()));

  private final AddressRanges proxies;
  private final FieldName field;
  private final InetSocketAddress peer;
  private final boolean isTrusted;
  // Of one request, while it is read.
  private InetSocketAddress client;
  private int hops;
  private int clientLine;
  private int clientStart;
  private final Span scheme = new Span();
  private final Span host = new Span();

  /** Believes these, by that field. */
  ForwardedReader(AddressRanges proxies, FieldName field, InetSocketAddress peer) {
    this.proxies = proxies;
    this.field = field;
    this.peer = peer;
    this.client = peer;
    InetAddress address = peer.getAddress();
    this.isTrusted = address != null && proxies.contains(address);
  }

  /** Whether the other end of the connection is believed. */
  public boolean isTrusted() {
    return isTrusted;
  }

  /** Has the request say whose it is, and removes from it what no trusted proxy says. */
  public void identify(RequestHead request) {
    Fields fields = request.fields();
    if (isTrusted) {
      client = peer;
      hops = 0;
      clientLine = NONE;
      scheme.set(NONE, NONE);
      host.set(NONE, NONE);
      if (isForwarded()) {
        readForwarded(fields);
      } else {
        readLists(fields);
      }
      request.named(new NamedClient(client, peer));
      if (request.form() != TargetForm.ABSOLUTE) {
        target(request);
      }
      cut(fields);
    }
    remove(fields);
  }

  private boolean isForwarded() {
    return field == FieldName.FORWARDED;
  }

  /** An absolute-form target names scheme and host itself; any other takes those of the client. */
  private void target(RequestHead request) {
    byte[] octets = request.octets();
    if (is(octets, "https") || is(octets, "wss")) {
      request.secure(true);
    } else if (is(octets, "http") || is(octets, "ws")) {
      request.secure(false);
    }
    if (host.isSet() && Authority.isValid(octets, host.start, host.end)) {
      request.authority(host.start, host.end);
    }
  }

  private boolean is(byte[] octets, String word) {
    return scheme.isSet() && Octets.equalsIgnoreCase(octets, scheme.start, scheme.end, word);
  }

  private void cut(Fields fields) {
    if (hops == 0) {
      fields.remove(field);
    } else if (clientLine > fields.indexOf(field) || clientStart > fields.valueStart(clientLine)) {
      fields.cut(field, clientLine, clientStart);
    }
  }

  /** Those of no trusted proxy, those of the other kind, and names that pass for one of them. */
  private void remove(Fields fields) {
    for (int i = fields.size() - 1; i >= 0; i--) {
      // Removing a name takes all its lines, so that i may point behind the last by now.
      if (i < fields.size() && ALL.includes(fields, i)) {
        FieldName known = fields.knownAt(i);
        if (known == null) {
          fields.remove(fields.nameAt(i));
        } else if (!isTrusted || (known == FieldName.FORWARDED) != isForwarded()) {
          fields.remove(known);
        }
      }
    }
  }

  // X-Forwarded-For, -Proto and -Host

  private void readLists(Fields fields) {
    Members members = new Members(fields, FieldName.X_FORWARDED_FOR);
    boolean goesOn = true;
    while (goesOn && members.next()) {
      goesOn = pass(members, members.start, members.end);
    }
    beside(fields, FieldName.X_FORWARDED_PROTO, scheme);
    beside(fields, FieldName.X_FORWARDED_HOST, host);
  }

  /** The member that belongs to the client's. */
  private void beside(Fields fields, FieldName name, Span span) {
    Members members = new Members(fields, name);
    for (int i = 0; i < Math.max(hops, 1) && members.next(); i++) {
      span.set(members.start, members.end);
    }
  }

  /** Takes the address of a member, if it is one; answers whether the one left of it is asked. */
  private boolean pass(Members members, int start, int end) {
    InetSocketAddress found = address(members.octets, start, end);
    if (found == null) {
      return false;
    }
    client = found;
    clientLine = members.line;
    clientStart = members.start;
    return ++hops < MOST_MEMBERS && proxies.contains(found.getAddress());
  }

  // Forwarded (RFC 7239 §4)

  private void readForwarded(Fields fields) {
    Members members = new Members(fields, FieldName.FORWARDED);
    boolean goesOn = true;
    while (goesOn && members.next()) {
      goesOn = element(members);
    }
  }

  /** What it says of scheme and host counts, though it may not say for whom. */
  private boolean element(Members members) {
    Span node = new Span();
    Span proto = new Span();
    Span name = new Span();
    int at = members.start;
    while (at < members.end) {
      int end = pairEnd(members.octets, at, members.end);
      if (!pair(
          members.octets, Octets.skipBlanks(members.octets, at, end), end, node, proto, name)) {
        return false;
      }
      at = end + 1;
    }
    scheme.setIfSet(proto);
    host.setIfSet(name);
    return node.isSet() && pass(members, node.start, node.end);
  }

  /** Reads a token or a quoted string; answers false if it is neither, or there twice. */
  private static boolean pair(
      byte[] octets, int start, int pairEnd, Span node, Span proto, Span name) {
    int end = withoutBlanks(octets, start, pairEnd);
    int equals = start;
    while (equals < end && octets[equals] != '=') {
      equals++;
    }
    boolean isQuoted = equals + 1 < end && octets[equals + 1] == '"';
    if (start == end
        || equals == end
        || (isQuoted && (end - equals < 3 || octets[end - 1] != '"'))) {
      return start == end;
    }
    Span said =
        Octets.equalsIgnoreCase(octets, start, equals, "for")
            ? node
            : Octets.equalsIgnoreCase(octets, start, equals, "proto")
                ? proto
                : Octets.equalsIgnoreCase(octets, start, equals, "host") ? name : null;
    if (said != null && said.isSet()) {
      return false;
    }
    if (said != null) {
      said.set(isQuoted ? equals + 2 : equals + 1, isQuoted ? end - 1 : end);
    }
    return true;
  }

  private static int pairEnd(byte[] octets, int start, int end) {
    boolean isQuoted = false;
    int at = start;
    while (at < end && (isQuoted || octets[at] != ';')) {
      if (octets[at] == '"') {
        isQuoted = !isQuoted;
      } else if (isQuoted && octets[at] == '\\') {
        at++;
      }
      at++;
    }
    return Math.min(at, end);
  }

  private static int withoutBlanks(byte[] octets, int start, int end) {
    int last = end;
    while (last > start && Octets.isBlank(octets[last - 1])) {
      last--;
    }
    return last;
  }

  // Addresses

  /**
   * The address in {@code [start, end)} with its port, or 0; an IPv6 address with a port stands in
   * brackets (RFC 7239 §6). Null for anything else, as {@code unknown} or {@code _hidden}.
   */
  static @Nullable InetSocketAddress address(byte[] octets, int start, int end) {
    if (end - start > LONGEST_ADDRESS || start == end) {
      return null;
    }
    boolean isBracketed = octets[start] == '[';
    int from = isBracketed ? start + 1 : start;
    int to = from;
    int colons = 0;
    while (to < end && !(isBracketed && octets[to] == ']')) {
      colons += octets[to++] == ':' ? 1 : 0;
    }
    int behind = isBracketed ? to + 1 : end;
    if (colons == 1 && !isBracketed) {
      to = from;
      while (octets[to] != ':') {
        to++;
      }
      behind = to;
    }
    byte[] address =
        colons > 1 ? ipv6(octets, from, to) : isBracketed ? null : ipv4(octets, from, to);
    int port = behind == end ? 0 : behind > end ? NONE : port(octets, behind, end);
    if (address == null || port == NONE) {
      return null;
    }
    try {
      return new InetSocketAddress(InetAddress.getByAddress(address), port);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static byte @Nullable [] ipv6(byte[] octets, int start, int end) {
    if (!Authority.isIpv6(octets, start, end)) {
      return null;
    }
    InetAddress address = NetUtil.getByName(new AsciiString(octets, start, end - start, false));
    return address == null ? null : address.getAddress();
  }

  /** Without leading zeros, which some take for octal numbers. */
  private static byte @Nullable [] ipv4(byte[] octets, int start, int end) {
    if (!Authority.isIpv4(octets, start, end)) {
      return null;
    }
    byte[] address = new byte[4];
    int part = 0;
    for (int i = start; i < end; i++) {
      if (octets[i] == '.') {
        part++;
      } else if (address[part] == 0 && i > start && octets[i - 1] == '0') {
        return null;
      } else {
        address[part] = (byte) (address[part] * 10 + octets[i] - '0');
      }
    }
    return address;
  }

  private static int port(byte[] octets, int colon, int end) {
    long port = octets[colon] == ':' ? Octets.decimal(octets, colon + 1, end) : NONE;
    return port < 0 || port > GREATEST_PORT ? NONE : (int) port;
  }

  /** A part of the request's octets, or none. */
  private static final class Span {

    int start = NONE;
    int end = NONE;

    boolean isSet() {
      return start != NONE;
    }

    void set(int start, int end) {
      this.start = start;
      this.end = end;
    }

    void setIfSet(Span other) {
      if (other.isSet()) {
        set(other.start, other.end);
      }
    }
  }

  /** The members of a list field (RFC 9110 §5.6.1) from the right, over all its lines. */
  private static final class Members {

    final byte[] octets;
    private final Fields fields;
    private final FieldName name;
    int line;
    int start;
    int end;
    private int rest = NONE;

    Members(Fields fields, FieldName name) {
      this.octets = fields.octets();
      this.fields = fields;
      this.name = name;
      this.line = fields.has(name) ? fields.size() : 0;
    }

    /** Goes on to the next one that is not empty; answers whether there is one. */
    boolean next() {
      do {
        if (rest == NONE && !previousLine()) {
          return false;
        }
        int comma = comma(fields.valueStart(line));
        start = Octets.skipBlanks(octets, comma + 1, rest);
        end = withoutBlanks(octets, start, rest);
        rest = comma < fields.valueStart(line) ? NONE : comma;
      } while (start == end);
      return true;
    }

    private boolean previousLine() {
      line--;
      while (line >= 0 && fields.knownAt(line) != name) {
        line--;
      }
      rest = line < 0 ? NONE : fields.valueEnd(line);
      return line >= 0;
    }

    /** The last comma before the rest that is not in quotes; before {@code first} for none. */
    private int comma(int first) {
      boolean isQuoted = false;
      int at = rest - 1;
      while (at >= first && (isQuoted || octets[at] != ',')) {
        if (octets[at] == '"' && !(isQuoted && isEscaped(first, at))) {
          isQuoted = !isQuoted;
        }
        at--;
      }
      return at;
    }

    private boolean isEscaped(int first, int quote) {
      int at = quote;
      while (at > first && octets[at - 1] == '\\') {
        at--;
      }
      return (quote - at) % 2 == 1;
    }
  }
}
