package io.kamille.core.h2;

import io.kamille.core.exchange.Failure;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.TargetForm;
import io.kamille.core.http.StatusCode;
import io.kamille.core.http.WebSocketKey;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Takes the fields of a request off the HPACK decoder, strictly (RFC 9113 §8.2, §8.3). Confined to
 * its loop; one per loop, for one section at a time.
 */
public final class RequestSink extends SectionSink {

  /*
   * A section over its limits is answered. Cookies come in pieces, which are joined before anybody
   * looks at them (§8.2.3). Empty pieces are left out: the value must not end with a blank.
   *
   * A CONNECT that asks for a WebSocket becomes the GET that asks for one in HTTP/1.1, so that all
   * stations behind treat both alike (RFC 8441 §5).
   */
  private static final int MAX_METHOD = 32;
  private static final AsciiString PRIORITY = AsciiString.cached("priority");
  private static final byte[] HOST = {'h', 'o', 's', 't', ':', ' '};
  private static final AsciiString WEBSOCKET = AsciiString.cached("websocket");
  private static final AsciiString GET = AsciiString.cached("GET");
  private static final byte[] CONNECTION = "Connection".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] UPGRADE = "Upgrade".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] KEY = WebSocketKey.FIELD.getBytes(StandardCharsets.US_ASCII);
  private static final int NO_LENGTH = -1;

  private @Nullable RequestHead begun;
  private boolean trailers;
  private @Nullable AsciiString method;
  private @Nullable AsciiString scheme;
  private @Nullable AsciiString path;
  private @Nullable AsciiString authority;
  private @Nullable AsciiString protocol;
  private long contentLength;
  private int hosts;
  private @Nullable Priority priority;
  private byte[] cookies = new byte[0];
  private int cookiesLength;

  /** A sink of one loop. */
  public RequestSink() {
    super(HeadLimits.REQUEST);
  }

  /** The next section is a request's head, stored in {@code head}, which is empty. */
  public void beginHead(RequestHead head, HeadLimits limits) {
    begin(limits, head.fields());
    begun = head;
    trailers = false;
  }

  /** The next section has trailer fields, stored in {@code fields}; null to drop them. */
  public void beginTrailers(HeadLimits limits, @Nullable Fields fields) {
    begin(limits, fields);
    begun = null;
    trailers = true;
  }

  @Override
  void begin(HeadLimits limits, @Nullable Fields fields) {
    super.begin(limits, fields);
    method = null;
    scheme = null;
    path = null;
    authority = null;
    protocol = null;
    contentLength = NO_LENGTH;
    hosts = 0;
    priority = null;
    cookiesLength = 0;
  }

  @Override
  void pseudo(AsciiString name, AsciiString value) {
    if (trailers) {
      throw new MalformedSection("a pseudo-field among trailer fields");
    }
    switch (name.toString()) {
      case ":method" -> method = once(method, value);
      case ":scheme" -> scheme = once(scheme, value);
      case ":path" -> path = once(path, value);
      case ":authority" -> authority = once(authority, value);
      case ":protocol" -> protocol = once(protocol, value);
      default -> throw new MalformedSection("an unknown pseudo-field");
    }
  }

  @Override
  void field(Fields into, @Nullable FieldName known, AsciiString name, AsciiString value) {
    if (trailers) {
      store(into, name, value, known);
      return;
    }
    if (known == FieldName.COOKIE) {
      cookie(value);
      return;
    }
    if (known == FieldName.CONTENT_LENGTH) {
      contentLength = length(value, contentLength != NO_LENGTH);
    } else if (known == FieldName.HOST) {
      hosts++;
    } else if (known == null && name.contentEquals(PRIORITY)) {
      priority =
          Priority.parse(value.array(), value.arrayOffset(), value.arrayOffset() + value.length());
    }
    store(into, name, value, known);
  }

  private void cookie(AsciiString value) {
    if (value.isEmpty()) {
      return;
    }
    int needed = cookiesLength + value.length() + 2;
    if (cookies.length < needed) {
      cookies = Arrays.copyOf(cookies, Math.max(needed, 2 * cookies.length));
    }
    if (cookiesLength > 0) {
      cookies[cookiesLength++] = ';';
      cookies[cookiesLength++] = ' ';
    }
    System.arraycopy(value.array(), value.arrayOffset(), cookies, cookiesLength, value.length());
    cookiesLength += value.length();
  }

  // Once the section is complete

  /** What the request says of its content's length, or -1. */
  public long contentLength() {
    return contentLength;
  }

  public Priority priority() {
    return priority == null ? Priority.DEFAULT : priority;
  }

  /**
   * What is to become of a request.
   *
   * @param refusal why it goes no further, though it is well-formed; null if it does
   * @param isTunnel whether its stream is to become a WebSocket
   */
  public record Verdict(@Nullable Failure refusal, boolean isMalformed, boolean isTunnel) {

    private static final Verdict GOOD = new Verdict(null, false, false);
    private static final Verdict TUNNEL = new Verdict(null, false, true);
    private static final Verdict MALFORMED = new Verdict(null, true, false);

    private static Verdict refused(int status, String reason) {
      return new Verdict(Failure.request(status, reason), false, false);
    }
  }

  /**
   * Completes the head that was begun.
   *
   * @param isSecure whether the connection is
   * @param believesScheme whether the request may have another scheme than its connection
   */
  public Verdict finish(boolean isSecure, boolean believesScheme) {
    RequestHead into = begun;
    begun = null;
    if (into == null) {
      throw new IllegalStateException("finish: no head was begun");
    }
    AsciiString verb = method;
    if (verb == null || !Octets.isToken(verb.toString())) {
      return Verdict.MALFORMED;
    }
    AsciiString wanted = protocol;
    boolean isMethodConnect = verb.contentEquals("CONNECT");
    boolean isConnect = isMethodConnect && wanted == null;
    if (isConnect ? path != null || scheme != null : wanted != null && !isMethodConnect) {
      return Verdict.MALFORMED;
    }
    if (wanted != null && contentLength != NO_LENGTH) {
      return Verdict.MALFORMED;
    }
    AsciiString target = isConnect ? authority : path;
    if (target == null || (!isConnect && scheme == null)) {
      return Verdict.MALFORMED;
    }
    if (isTooLarge()) {
      return giveUp(into, StatusCode.FIELDS_TOO_LARGE, "a header section over its limit");
    }
    if (verb.length() > MAX_METHOD) {
      return giveUp(into, StatusCode.NOT_IMPLEMENTED, "a method of over 32 octets");
    }
    if (target.length() > limits().targetBytes()) {
      return giveUp(into, StatusCode.URI_TOO_LONG, "a request target over its limit");
    }
    if (!isConnect && !isPath(target, verb)) {
      return Verdict.MALFORMED;
    }
    if (!host(into, isSecure)) {
      return Verdict.MALFORMED;
    }
    if (cookiesLength > 0) {
      byte[] name = FieldName.COOKIE.text().getBytes(StandardCharsets.US_ASCII);
      store(into.fields(), name, 0, name.length, cookies, 0, cookiesLength, FieldName.COOKIE);
    }
    boolean isWebSocket = wanted != null && wanted.contentEqualsIgnoreCase(WEBSOCKET);
    if (isWebSocket) {
      askForWebSocket(into.fields());
    }
    startLine(into, isWebSocket ? GET : verb, target, isConnect);
    into.secure(isSecure);
    if (isConnect) {
      return Verdict.refused(StatusCode.METHOD_NOT_ALLOWED, "CONNECT is for forward proxies");
    }
    String other = isSecure ? "http" : "https";
    if (believesScheme && scheme != null && scheme.contentEqualsIgnoreCase(other)) {
      into.secure(!isSecure);
    } else if (scheme == null || !scheme.contentEqualsIgnoreCase(isSecure ? "https" : "http")) {
      return refusedToken(
          scheme, StatusCode.MISDIRECTED_REQUEST, "another scheme than the connection's");
    }
    if (wanted != null && !isWebSocket) {
      return refusedToken(
          wanted, StatusCode.NOT_IMPLEMENTED, "CONNECT with a protocol other than websocket");
    }
    return isWebSocket ? Verdict.TUNNEL : Verdict.GOOD;
  }

  /** What nobody understands may still be malformed: only tokens are answered. */
  private static Verdict refusedToken(@Nullable AsciiString word, int status, String reason) {
    return word != null && Octets.isToken(word.toString())
        ? Verdict.refused(status, reason)
        : Verdict.MALFORMED;
  }

  /** The fields of the handshake in HTTP/1.1 (RFC 6455 §4.1) that HTTP/2 goes without. */
  private void askForWebSocket(Fields fields) {
    fields.remove(WebSocketKey.FIELD);
    byte[] key = WebSocketKey.next();
    line(fields, CONNECTION, UPGRADE, FieldName.CONNECTION);
    line(fields, UPGRADE, WEBSOCKET.array(), FieldName.UPGRADE);
    line(fields, KEY, key, null);
  }

  private void line(Fields fields, byte[] name, byte[] value, @Nullable FieldName known) {
    store(fields, name, 0, name.length, value, 0, value.length, known);
  }

  /** Leaves a head that can be logged, without what was too much of it. */
  private static Verdict giveUp(RequestHead into, int status, String reason) {
    into.clear();
    byte[] octets = into.fields().roomFor(4);
    octets[0] = 'G';
    octets[1] = 'E';
    octets[2] = 'T';
    octets[3] = '/';
    into.startLine(Method.GET, 0, 3, TargetForm.ORIGIN, 3, 4, 1);
    into.target(3, 4);
    into.majorVersion(2);
    return Verdict.refused(status, reason);
  }

  /** One valid authority; a Host beside it has to mean the same (§8.3.1). */
  private boolean host(RequestHead into, boolean isSecure) {
    int line = into.fields().indexOf(FieldName.HOST);
    if (hosts > 1 || (authority == null && line < 0)) {
      return false;
    }
    if (line >= 0) {
      int start = into.fields().valueStart(line);
      int end = into.fields().valueEnd(line);
      if (!Authority.isValid(into.octets(), start, end)) {
        return false;
      }
      into.authority(start, end);
    }
    AsciiString named = authority;
    if (named == null) {
      return true;
    }
    int from = named.arrayOffset();
    int to = from + named.length();
    if (!Authority.isValid(named.array(), from, to)) {
      return false;
    }
    if (line >= 0) {
      return Arrays.equals(
          Authority.normal(named.array(), from, to, isSecure),
          Authority.normal(into.octets(), into.authorityStart(), into.authorityEnd(), isSecure));
    }
    int at = filled() + HOST.length;
    store(
        into.fields(),
        HOST,
        0,
        HOST.length - 2,
        named.array(),
        from,
        named.length(),
        FieldName.HOST);
    into.authority(at, at + named.length());
    return true;
  }

  private void startLine(
      RequestHead into, AsciiString verb, AsciiString target, boolean isConnect) {
    int start = filled();
    int methodEnd = start + verb.length();
    int end = methodEnd + target.length();
    byte[] octets = into.fields().roomFor(end);
    System.arraycopy(verb.array(), verb.arrayOffset(), octets, start, verb.length());
    System.arraycopy(target.array(), target.arrayOffset(), octets, methodEnd, target.length());
    filled(end);
    TargetForm form =
        isConnect
            ? TargetForm.AUTHORITY
            : octets[methodEnd] == '*' ? TargetForm.ASTERISK : TargetForm.ORIGIN;
    into.startLine(Method.of(octets, start, methodEnd), start, methodEnd, form, methodEnd, end, 1);
    into.target(methodEnd, Octets.indexOf(octets, methodEnd, end, '?'));
    into.majorVersion(2);
  }
}
