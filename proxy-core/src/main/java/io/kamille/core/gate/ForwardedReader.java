package io.kamille.core.gate;

import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.NamedClient;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
   * X-Forwarded-Proto and -Host need not have a member of each proxy, and a client may begin any of
   * the lists. So no position in them is the client's: the last member counts, which the last proxy
   * wrote, and goes on alone. In Forwarded, they stand with the client.
   * They count for any form of target: a proxy that ends TLS may ask for http://example.org/.
   *
   * What goes on to the origin begins with the client. Without a trusted proxy, nothing does.
   * Members are views of the request's octets, as far as they are looked at.
   */

  /** Nobody has so many proxies: members beyond these are not looked at. */
  private static final int MOST_MEMBERS = 32;

  private static final int GREATEST_PORT = 65_535;

  private static final Set<FieldName> LISTS =
      EnumSet.of(
          FieldName.X_FORWARDED_FOR, FieldName.X_FORWARDED_HOST, FieldName.X_FORWARDED_PROTO);

  private static final RemovedFields ALL =
      new RemovedFields(
          List.of("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"));

  private static final List<AsciiString> PARAMETERS =
      Stream.of("for", "proto", "host").map(AsciiString::cached).toList();

  /** A part of an IPv4 address that some take for an octal number. */
  private static final Pattern LEADING_ZERO = Pattern.compile("(^|\\.)0[0-9]");

  private final AddressRanges proxies;
  private final FieldName field;
  private final InetSocketAddress peer;
  private final boolean isTrusted;
  private final Set<FieldName> kept;
  // Of one request, while it is read.
  private @Nullable AsciiString scheme;
  private @Nullable AsciiString host;

  /** Believes these, by that field. */
  ForwardedReader(AddressRanges proxies, FieldName field, InetSocketAddress peer) {
    this.proxies = proxies;
    this.field = field;
    this.peer = peer;
    InetAddress address = peer.getAddress();
    this.isTrusted = address != null && proxies.contains(address);
    Set<FieldName> read = field == FieldName.FORWARDED ? EnumSet.of(field) : LISTS;
    this.kept = isTrusted ? read : EnumSet.noneOf(FieldName.class);
  }

  /** Whether the other end of the connection is believed. */
  public boolean isTrusted() {
    return isTrusted;
  }

  /** Has the request say whose it is, and removes from it what no trusted proxy says. */
  public void identify(RequestHead request) {
    if (isTrusted) {
      scheme = null;
      host = null;
      request.named(new NamedClient(client(request.fields()), peer));
      target(request);
    }
    ALL.removeFrom(request.fields(), kept);
  }

  /** The client, with the scheme and the host that stand with it; cuts what stands left of it. */
  private InetSocketAddress client(Fields fields) {
    InetSocketAddress client = peer;
    AsciiString first = null;
    for (AsciiString member : members(fields, field)) {
      AsciiString node = field == FieldName.FORWARDED ? element(member) : member;
      InetSocketAddress found = node == null ? null : address(node);
      if (found == null) {
        break;
      }
      client = found;
      first = member;
      if (!proxies.contains(found.getAddress())) {
        break;
      }
    }
    if (field != FieldName.FORWARDED) {
      scheme = last(fields, FieldName.X_FORWARDED_PROTO);
      host = last(fields, FieldName.X_FORWARDED_HOST);
    }
    if (first == null) {
      fields.remove(field);
    } else {
      fields.cut(field, first.arrayOffset());
    }
    return client;
  }

  private void target(RequestHead request) {
    if (isScheme("https") || isScheme("wss")) {
      request.secure(true);
    } else if (isScheme("http") || isScheme("ws")) {
      request.secure(false);
    }
    if (host != null) {
      int start = host.arrayOffset();
      int end = start + host.length();
      if (Authority.isValid(request.octets(), start, end)) {
        request.authority(start, end);
      }
    }
  }

  private boolean isScheme(String word) {
    return scheme != null && scheme.contentEqualsIgnoreCase(word);
  }

  /** The last member of a list; cuts what stands left of it. */
  private static @Nullable AsciiString last(Fields fields, FieldName name) {
    List<AsciiString> members = members(fields, name);
    if (members.isEmpty()) {
      return null;
    }
    fields.cut(name, members.getFirst().arrayOffset());
    return members.getFirst();
  }

  /**
   * The node of an element of {@code Forwarded} (RFC 7239 §4); null if it is malformed or names
   * none. What it says of scheme and host counts, though it may not say for whom.
   */
  private @Nullable AsciiString element(AsciiString element) {
    List<AsciiString> pairs = new ArrayList<>();
    split(element, ';', pairs);
    @Nullable AsciiString[] values = new AsciiString[PARAMETERS.size()];
    for (AsciiString pair : pairs) {
      int equals = pair.indexOf('=', 0);
      AsciiString value = equals < 0 ? null : unquoted(part(pair, equals + 1, pair.length()));
      int parameter = equals < 0 ? -1 : PARAMETERS.indexOf(part(pair, 0, equals).toLowerCase());
      if (value == null || (parameter >= 0 && values[parameter] != null)) {
        return null;
      }
      if (parameter >= 0) {
        values[parameter] = value;
      }
    }
    scheme = values[1] == null ? scheme : values[1];
    host = values[2] == null ? host : values[2];
    return values[0];
  }

  /** A token, or what is in a quoted string, which keeps its escapes; null if that has no end. */
  private static @Nullable AsciiString unquoted(AsciiString value) {
    if (!value.startsWith("\"")) {
      return value;
    }
    int last = value.length() - 1;
    return last > 0 && value.charAt(last) == '"' ? part(value, 1, last) : null;
  }

  // Lists

  /** The last members of a list field (RFC 9110 §5.6.1) from the right, over all its lines. */
  private static List<AsciiString> members(Fields fields, FieldName name) {
    List<AsciiString> members = new ArrayList<>();
    for (int i = fields.has(name) ? fields.size() - 1 : -1; i >= 0; i--) {
      if (fields.knownAt(i) == name) {
        int start = fields.valueStart(i);
        int length = fields.valueEnd(i) - start;
        split(new AsciiString(fields.octets(), start, length, false), ',', members);
      }
    }
    return members;
  }

  /** Adds the parts of a list from the right, without empty ones, up to the limit. */
  private static void split(AsciiString list, char separator, List<AsciiString> parts) {
    int end = list.length();
    while (end >= 0 && parts.size() < MOST_MEMBERS) {
      int before = end - 1;
      boolean isQuoted = false;
      while (before >= 0 && (isQuoted || list.charAt(before) != separator)) {
        if (list.charAt(before) == '"' && !(isQuoted && isEscaped(list, before))) {
          isQuoted = !isQuoted;
        }
        before--;
      }
      int first = before + 1;
      int last = end;
      while (first < last && Octets.isBlank(list.byteAt(first))) {
        first++;
      }
      while (first < last && Octets.isBlank(list.byteAt(last - 1))) {
        last--;
      }
      if (first < last) {
        parts.add(part(list, first, last));
      }
      end = before;
    }
  }

  private static boolean isEscaped(AsciiString text, int quote) {
    int at = quote;
    while (at > 0 && text.charAt(at - 1) == '\\') {
      at--;
    }
    return (quote - at) % 2 == 1;
  }

  private static AsciiString part(AsciiString text, int start, int end) {
    return text.subSequence(start, end, false);
  }

  // Addresses

  /**
   * An address with its port, or 0; an IPv6 address with a port stands in brackets (RFC 7239 §6).
   * Null for anything else, as {@code unknown} or {@code _hidden}.
   */
  static @Nullable InetSocketAddress address(AsciiString text) {
    int colon = text.lastIndexOf(":");
    boolean hasPort = colon > 0 && (text.charAt(colon - 1) == ']' || text.indexOf(':', 0) == colon);
    int portStart = text.arrayOffset() + colon + 1;
    int portEnd = text.arrayOffset() + text.length();
    long port = hasPort ? Octets.decimal(text.array(), portStart, portEnd) : 0;
    AsciiString literal = hasPort ? part(text, 0, colon) : text;
    boolean isBracketed = literal.startsWith("[") && literal.endsWith("]");
    AsciiString bare = isBracketed ? part(literal, 1, literal.length() - 1) : literal;
    boolean isIpv6 = bare.indexOf(':', 0) >= 0;
    if (port < 0
        || port > GREATEST_PORT
        || (isBracketed && !isIpv6)
        || (!isIpv6 && LEADING_ZERO.matcher(bare).find())) {
      return null;
    }
    InetAddress address = NetUtil.getByName(bare);
    try {
      // As an IPv4 address, if it is one inside IPv6.
      return address == null
          ? null
          : new InetSocketAddress(InetAddress.getByAddress(address.getAddress()), (int) port);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
