package io.kamille.core.origin.wire;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.h1.ConnectionFields;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.h1.MessageFraming;
import io.kamille.core.h2.HpackWriter;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RemovedFields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.TargetForm;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.ForwardingSettings.Mode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Writes the head of a request as an origin gets it. Confined to its loop; one per loop. */
public final class RequestHeadWriter {

  /*
   * Most lines go on as they came, so neighbours among them are copied as one run of octets. What
   * an intermediary must change is written by hand: Host first (RFC 9110 §7.2), the framing of the
   * content, connection options, Via, Max-Forwards, and what tells of the client. Client octets are
   * never parsed into text and printed again, but for host and port, which go out in normal form
   * (RFC 9110 §4.2.3); what was one line stays one line.
   *
   * Names that are removed are those of clients' fields. What the operator sets under such a name
   * passes, and takes the place of what we would write.
   */
  private static final byte[] HTTP_1_1 = Fields.octetsOf(" HTTP/1.1\r\nHost: ");
  private static final byte[] CHUNKED = Fields.octetsOf("Transfer-Encoding: chunked\r\n");
  private static final byte[] TE = Fields.octetsOf("TE: trailers\r\n");
  private static final byte[] CONNECTION_TE = Fields.octetsOf("Connection: TE\r\n");
  private static final byte[] CONNECTION_UPGRADE = Fields.octetsOf("Connection: upgrade\r\n");
  private static final byte[] CONNECTION_BOTH = Fields.octetsOf("Connection: upgrade, TE\r\n");
  private static final byte[] VIA_1_0 = via("1.0");
  private static final byte[] VIA_1_1 = via("1.1");
  private static final byte[] VIA_2_0 = via("2.0");

  /**
   * What frames, routes, governs the connection or names its client is written by us alone; {@code
   * Content_Length}, which many origins take for {@code Content-Length}, is not passed on beside
   * it.
   */
  private static final List<String> OURS_IN_DISGUISE =
      List.of(
          "Client-Cert",
          "Client-Cert-Chain",
          "Client-Cert-Subject",
          "Connection",
          "Content-Length",
          "Host",
          "Keep-Alive",
          "Proxy-Connection",
          "Transfer-Encoding");

  private static final Set<Method> READS = EnumSet.of(Method.GET, Method.HEAD);
  private static final Set<Method> WITH_CONTENT = EnumSet.of(Method.POST, Method.PUT, Method.PATCH);

  private final ForwardingSettings settings;
  private final HeadWriter out;
  private final Set<FieldName> rewritten;
  private final RemovedFields removed;

  /**
   * A writer for one loop.
   *
   * @param out the loop's scratch
   */
  public RequestHeadWriter(ForwardingSettings settings, HeadWriter out) {
    this.settings = settings;
    this.out = out;
    this.rewritten = EnumSet.of(FieldName.HOST, FieldName.CONTENT_LENGTH, FieldName.MAX_FORWARDS);
    Set<String> names = new HashSet<>(settings.removedFields());
    names.addAll(OURS_IN_DISGUISE);
    if (settings.xForwarded() != Mode.PASS) {
      names.add(FieldName.X_FORWARDED_FOR.text());
      names.add(FieldName.X_FORWARDED_HOST.text());
      names.add(FieldName.X_FORWARDED_PROTO.text());
    }
    if (settings.forwarded() != Mode.PASS) {
      names.add(FieldName.FORWARDED.text());
    }
    this.removed = new RemovedFields(names);
  }

  /** Names of fields that are not passed on, in trailers neither. */
  public RemovedFields removed() {
    return removed;
  }

  /**
   * The other protocols that the request wishes for, in small letters (RFC 9110 §7.8); none unless
   * all of them may be switched to. A tunnel carries what nobody looks at: HTTP/2 in it would pass
   * by all rules for requests.
   */
  public List<String> wantedProtocols(RequestHead request) {
    Fields fields = request.fields();
    if (!fields.has(FieldName.UPGRADE)
        || request.minorVersion() == 0
        || !ConnectionFields.names(fields, "upgrade")) {
      return List.of();
    }
    List<String> wanted = protocols(fields);
    return settings.upgrades().containsAll(wanted) ? wanted : List.of();
  }

  /** The protocols that a request or its answer names in {@code Upgrade}, in small letters. */
  public static List<String> protocols(Fields fields) {
    List<String> named = new ArrayList<>(1);
    for (String line : fields.all(FieldName.UPGRADE)) {
      for (String protocol : line.split(",", -1)) {
        named.add(protocol.strip().toLowerCase(Locale.ROOT));
      }
    }
    return named;
  }

  /**
   * The head of the exchange's request in a buffer that the caller owns.
   *
   * @param origin host and port, for a request that names no host
   * @param expects whether the origin is asked for a {@code 100 (Continue)}
   * @param upgrades whether the wish for another protocol is passed on
   */
  public ByteBuf write(
      Exchange exchange,
      long contentLength,
      String origin,
      boolean expects,
      boolean upgrades,
      ByteBufAllocator allocator) {
    RequestHead request = exchange.request();
    begin(request, contentLength, origin, expects, upgrades);
    ownLines(request, exchange.client(), exchange.peer());
    out.newLine();
    return out.toBuffer(allocator);
  }

  private void begin(
      RequestHead request, long length, String origin, boolean expects, boolean upgrades) {
    out.begin();
    requestLine(request, origin);
    endToEndLines(request.fields(), expects);
    framing(request, length);
    connectionLines(request.fields(), upgrades);
  }

  /**
   * The fields of a request as an origin gets them, without sending it.
   *
   * @param client whose it is, sent by {@code peer}
   */
  public Fields sent(RequestHead request, InetSocketAddress client, InetSocketAddress peer) {
    boolean upgrades = !wantedProtocols(request).isEmpty();
    begin(request, Math.max(0, MessageFraming.of(request)), "", true, upgrades);
    ownLines(request, client, peer);
    Fields sent = new Fields();
    String head = out.toString();
    head.lines()
        .skip(1)
        .map(line -> line.split(":\\s*", 2))
        .forEach(line -> sent.add(line[0], line[1]));
    return sent;
  }

  /**
   * Writes the header section of the exchange's request in HTTP/2 (RFC 9113 §8.3.1).
   *
   * @param contentLength octets of content to come, or -1
   * @param isSecure whether the origin is asked over TLS
   * @param section begun already
   */
  public void write(
      Exchange exchange,
      long contentLength,
      String origin,
      boolean isSecure,
      boolean expects,
      HpackWriter section) {
    RequestHead request = exchange.request();
    Fields fields = request.fields();
    section.method(request.methodText());
    section.scheme(isSecure);
    out.begin();
    host(request, origin);
    section.authority(Arrays.copyOf(out.octets(), out.length()));
    out.begin();
    target(request);
    section.path(Arrays.copyOf(out.octets(), out.length()));
    for (int i = 0; i < fields.size(); i++) {
      if (!isDropped(fields, i, expects)) {
        section.line(fields, i);
      }
    }
    out.begin();
    if (contentLength >= 0) {
      framing(request, contentLength);
    }
    if (ConnectionFields.takesTrailers(fields)) {
      out.octets(TE);
    }
    ownLines(request, exchange.client(), exchange.peer());
    section.lines(out.octets(), 0, out.length());
  }

  private byte[] via(RequestHead request) {
    if (request.majorVersion() == 2) {
      return VIA_2_0;
    }
    return request.minorVersion() == 0 ? VIA_1_0 : VIA_1_1;
  }

  /** What we say of the way of the request, whatever the version of HTTP. */
  private void ownLines(RequestHead request, InetSocketAddress client, InetSocketAddress peer) {
    out.octets(via(request));
    if (MaxForwards.of(request) > 0) {
      out.line(FieldName.MAX_FORWARDS, MaxForwards.of(request) - 1);
    }
    if (isWritten(settings.xForwarded())) {
      xForwarded(request, client, peer);
    }
    if (isWritten(settings.forwarded()) && !request.fields().hasOwn(FieldName.FORWARDED)) {
      forwarded(request, settings.forwarded() == Mode.APPEND ? peer : client);
    }
  }

  private static boolean isWritten(Mode mode) {
    return mode == Mode.APPEND || mode == Mode.REPLACE;
  }

  private void requestLine(RequestHead request, String origin) {
    out.text(request.methodText());
    out.octet(' ');
    target(request);
    out.octets(HTTP_1_1);
    host(request, origin);
    out.newLine();
  }

  private void host(RequestHead request, String origin) {
    String host = settings.host();
    if (host != null) {
      out.text(host);
    } else if (request.authorityStart() == request.authorityEnd()) {
      out.text(origin);
    } else {
      authority(request);
    }
  }

  /** The origin form, or the asterisk, whatever form came (RFC 9112 §3.2.1, §3.2.4). */
  private void target(RequestHead request) {
    byte[] octets = request.octets();
    int start = request.pathStart();
    int end = request.queryEnd();
    if (request.form() == TargetForm.ABSOLUTE && (start == end || octets[start] != '/')) {
      out.octet(start == end && request.method() == Method.OPTIONS ? '*' : '/');
    }
    out.octets(octets, start, end - start);
  }

  /** In the form that the cache key is made of, so that no client chooses it for the others. */
  private void authority(RequestHead request) {
    out.authority(
        request.octets(), request.authorityStart(), request.authorityEnd(), request.isSecure());
  }

  private void endToEndLines(Fields fields, boolean expects) {
    byte[] octets = fields.octets();
    int runStart = 0;
    int runEnd = 0;
    for (int i = 0; i < fields.size(); i++) {
      if (isDropped(fields, i, expects)) {
        continue;
      }
      int start = fields.nameStart(i);
      boolean asItCame = isWhole(fields, i);
      if (start != runEnd || !asItCame) {
        out.octets(octets, runStart, runEnd - runStart);
        runStart = start;
        runEnd = start;
      }
      if (asItCame) {
        runEnd = fields.valueEnd(i) + 2;
      } else {
        out.line(fields, i);
      }
    }
    out.octets(octets, runStart, runEnd - runStart);
  }

  private boolean isDropped(Fields fields, int line, boolean expects) {
    FieldName known = fields.knownAt(line);
    if (known == FieldName.CLIENT_CERT || known == FieldName.CLIENT_CERT_SUBJECT) {
      return false; // ours: those of clients were removed as they came
    }
    if (known != null && (rewritten.contains(known) || (known == FieldName.EXPECT && !expects))) {
      return true;
    }
    return !fields.isOwn(line)
        && (removed.includes(fields, line) || ConnectionFields.includes(fields, line));
  }

  /** Whether name, colon, value and CRLF lie side by side: parsed lines do, added ones do not. */
  private static boolean isWhole(Fields fields, int line) {
    byte[] octets = fields.octets();
    int nameEnd = fields.nameEnd(line);
    int valueEnd = fields.valueEnd(line);
    return nameEnd < fields.valueStart(line)
        && valueEnd + 1 < octets.length
        && octets[nameEnd] == ':'
        && octets[valueEnd] == '\r'
        && octets[valueEnd + 1] == '\n';
  }

  /**
   * A length of 0, too, where content is usual: some origins insist on it (RFC 9110 §8.6). None of
   * 0 where a stored response may be the answer: it is no part of the cache key.
   */
  private void framing(RequestHead request, long contentLength) {
    if (contentLength < 0) {
      out.octets(CHUNKED);
    } else if (contentLength > 0
        || (request.fields().has(FieldName.CONTENT_LENGTH) && !READS.contains(request.method()))
        || WITH_CONTENT.contains(request.method())) {
      out.line(FieldName.CONTENT_LENGTH, contentLength);
    }
  }

  /** What we say on this connection for ourselves (RFC 9110 §7.6.1, §7.8, §10.1.4). */
  private void connectionLines(Fields fields, boolean upgrades) {
    boolean trailers = ConnectionFields.takesTrailers(fields);
    if (trailers) {
      out.octets(TE);
    }
    if (upgrades) {
      for (int i = fields.indexOf(FieldName.UPGRADE);
          i >= 0;
          i = fields.indexOf(FieldName.UPGRADE, i + 1)) {
        out.line(fields, i);
      }
      out.octets(trailers ? CONNECTION_BOTH : CONNECTION_UPGRADE);
    } else if (trailers) {
      out.octets(CONNECTION_TE);
    }
  }

  private void xForwarded(RequestHead request, InetSocketAddress client, InetSocketAddress peer) {
    Fields fields = request.fields();
    if (!fields.hasOwn(FieldName.X_FORWARDED_FOR)) {
      begin(FieldName.X_FORWARDED_FOR);
      boolean isList = settings.xForwarded() == Mode.APPEND;
      if (isList) {
        listSoFar(fields, FieldName.X_FORWARDED_FOR);
      }
      address(isList ? peer : client);
      out.newLine();
    }
    if (request.authorityStart() < request.authorityEnd()
        && !fields.hasOwn(FieldName.X_FORWARDED_HOST)) {
      begin(FieldName.X_FORWARDED_HOST);
      authority(request);
      out.newLine();
    }
    if (!fields.hasOwn(FieldName.X_FORWARDED_PROTO)) {
      out.line(FieldName.X_FORWARDED_PROTO, scheme(request));
    }
  }

  private void forwarded(RequestHead request, InetSocketAddress named) {
    begin(FieldName.FORWARDED);
    if (settings.forwarded() == Mode.APPEND) {
      listSoFar(request.fields(), FieldName.FORWARDED);
    }
    boolean ipv6 = isIpv6(named);
    out.text(ipv6 ? "for=\"[" : "for=");
    address(named);
    out.text(ipv6 ? "]\"" : "");
    if (request.authorityStart() < request.authorityEnd()) {
      out.text(";host=\"");
      authority(request);
      out.octet('"');
    }
    out.text(";proto=");
    out.text(scheme(request));
    out.newLine();
  }

  private static String scheme(RequestHead request) {
    return request.isSecure() ? "https" : "http";
  }

  private void begin(FieldName name) {
    out.text(name.text());
    out.text(": ");
  }

  private void listSoFar(Fields fields, FieldName name) {
    for (int i = fields.indexOf(name); i >= 0; i = fields.indexOf(name, i + 1)) {
      int start = fields.valueStart(i);
      int length = fields.valueEnd(i) - start;
      if (length > 0) {
        out.octets(fields.octets(), start, length);
        out.text(", ");
      }
    }
  }

  private static boolean isIpv6(InetSocketAddress client) {
    InetAddress address = client.getAddress();
    return address != null && address.getAddress().length > 4;
  }

  private void address(InetSocketAddress client) {
    @Nullable InetAddress address = client.getAddress();
    if (address == null) {
      out.text("unknown");
      return;
    }
    byte[] octets = address.getAddress();
    if (octets.length > 4) {
      out.text(NetUtil.toAddressString(address));
      return;
    }
    for (int i = 0; i < octets.length; i++) {
      if (i > 0) {
        out.octet('.');
      }
      out.decimal(octets[i] & 0xff);
    }
  }

  private static byte[] via(String version) {
    return Fields.octetsOf("Via: " + version + " " + Failure.PSEUDONYM + "\r\n");
  }
}
