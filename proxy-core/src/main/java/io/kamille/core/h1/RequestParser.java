package io.kamille.core.h1;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Authority;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.TargetForm;
import io.kamille.core.http.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Reads the head of a request, strictly (RFC 9112 §3, §5). Confined to its loop.
 *
 * <p>A complete head has a valid authority (or none, in HTTP/1.0), a target in one of the four
 * forms, and framing fields that can mean one thing only.
 */
public final class RequestParser extends SectionParser {

  /** Room for the method and the version around a target of the greatest length. */
  private static final int LINE_OVERHEAD = 64;

  private static final int MAX_METHOD = 32;

  private final HeadLimits limits;
  private final RequestHead head;

  /** A parser for requests under these limits. */
  public RequestParser(HeadLimits limits) {
    RequestHead head = new RequestHead();
    super(head.fields(), limits.fields(), limits.headBytes(), true);
    this.limits = limits;
    this.head = head;
  }

  /** The head under construction, complete after {@code COMPLETE}. */
  public RequestHead head() {
    return head;
  }

  /** Begins anew over the same head. */
  public void reset() {
    head.clear();
    restart(head.fields());
  }

  @Override
  int startLine(byte[] octets, int start, int end) {
    if (octets[start] == '\r') {
      // An empty line before the request line is ignored (RFC 9112 §2.2).
      return octets[start + 1] == '\n' ? start + 2 : reject(bad("a CR without LF"));
    }
    int at = start;
    while (Octets.tokenLower(octets[at]) != 0) {
      at++;
    }
    if (octets[at] != ' ' || at == start) {
      return reject(bad("no method and single space at the beginning"));
    }
    if (at - start > MAX_METHOD) {
      return reject(Failure.request(StatusCode.NOT_IMPLEMENTED, "a method of over 32 octets"));
    }
    int methodEnd = at;
    int targetStart = ++at;
    int query = -1;
    while (octets[at] > ' ' && octets[at] < 0x7f && octets[at] != '#') {
      if (octets[at] == '?' && query < 0) {
        query = at;
      }
      at++;
    }
    if (at - targetStart > limits.targetBytes()) {
      return reject(tooLarge(false));
    }
    if (octets[at] != ' ' || at == targetStart) {
      return reject(bad("no request target of visible ASCII octets"));
    }
    int version = version(octets, at + 1);
    if (version == REJECTED) {
      return REJECTED;
    }
    int targetEnd = at;
    Method method = Method.of(octets, start, methodEnd);
    TargetForm form = form(method, octets, targetStart, targetEnd);
    if (form == null) {
      return REJECTED;
    }
    head.startLine(method, start, methodEnd, form, targetStart, targetEnd, version);
    if (form != TargetForm.ABSOLUTE) {
      head.target(targetStart, query < 0 ? targetEnd : query);
    } else if (!absolute(octets, targetStart, targetEnd)) {
      return REJECTED;
    }
    if (form == TargetForm.AUTHORITY) {
      head.authority(targetStart, targetEnd);
    }
    startLineIsDone();
    return at + 11;
  }

  /**
   * The minor version of {@code HTTP/1.x CRLF}, or {@link #REJECTED}. A minor version above 1 is
   * treated as 1 (RFC 9110 §6.2).
   */
  private int version(byte[] octets, int at) {
    for (int i = 0; i < 10; i++) {
      byte octet = octets[at + i];
      boolean fits =
          switch (i) {
            case 5, 7 -> Octets.isDigit(octet);
            case 8 -> octet == '\r';
            case 9 -> octet == '\n';
            default -> octet == "HTTP/x.x".charAt(i);
          };
      if (!fits) {
        return reject(
            bad(i < 8 ? "no HTTP version after the target" : "no CRLF after the version"));
      }
    }
    if (octets[at + 5] != '1') {
      return reject(
          Failure.request(StatusCode.VERSION_NOT_SUPPORTED, "a version other than HTTP/1"));
    }
    return Math.min(octets[at + 7] - '0', 1);
  }

  private @Nullable TargetForm form(Method method, byte[] octets, int start, int end) {
    if (method == Method.CONNECT) {
      if (Authority.isValid(octets, start, end) && Authority.hasPort(octets, start, end)) {
        return TargetForm.AUTHORITY;
      }
      reject(bad("CONNECT without host and port"));
      return null;
    }
    if (octets[start] == '/') {
      return TargetForm.ORIGIN;
    }
    if (end - start == 1 && octets[start] == '*') {
      if (method == Method.OPTIONS) {
        return TargetForm.ASTERISK;
      }
      reject(bad("the target * with a method other than OPTIONS"));
      return null;
    }
    return TargetForm.ABSOLUTE;
  }

  /** Takes an absolute-form target apart (RFC 9112 §3.2.2). */
  private boolean absolute(byte[] octets, int start, int end) {
    int authority = schemeEnd(octets, start, end);
    if (authority < 0) {
      reject(bad("a target that is neither a path nor an http URI"));
      return false;
    }
    int at = authority;
    while (at < end && octets[at] != '/' && octets[at] != '?') {
      at++;
    }
    if (at == authority || !Authority.isValid(octets, authority, at)) {
      reject(bad("an absolute target without a valid authority"));
      return false;
    }
    head.authority(authority, at);
    head.target(at, Octets.indexOf(octets, at, end, '?'));
    return true;
  }

  private static int schemeEnd(byte[] octets, int start, int end) {
    for (String scheme : SCHEMES) {
      int behind = start + scheme.length();
      if (behind <= end && Octets.equalsIgnoreCase(octets, start, behind, scheme)) {
        return behind;
      }
    }
    return -1;
  }

  private static final String[] SCHEMES = {"http://", "https://"};

  @Override
  @Nullable Failure finish() {
    Failure trouble = checkHost();
    return trouble != null ? trouble : MessageFraming.fault(head);
  }

  /** RFC 9112 §3.2: one valid Host line, which an absolute-form target overrules. */
  private @Nullable Failure checkHost() {
    Fields fields = head.fields();
    int line = fields.indexOf(FieldName.HOST);
    if (line < 0) {
      return head.minorVersion() == 0 ? null : bad("no Host");
    }
    if (fields.indexOf(FieldName.HOST, line + 1) >= 0) {
      return bad("more than one Host");
    }
    int start = fields.valueStart(line);
    int end = fields.valueEnd(line);
    if (start < end && !Authority.isValid(fields.octets(), start, end)) {
      return bad("a Host that is not a host with an optional port");
    }
    if (head.form() == TargetForm.ORIGIN || head.form() == TargetForm.ASTERISK) {
      if (start == end && head.minorVersion() == 1) {
        return bad("an empty Host");
      }
      head.authority(start, end);
    }
    return null;
  }

  @Override
  Failure bad(String reason) {
    return Failure.request(StatusCode.BAD_REQUEST, reason);
  }

  @Override
  Failure tooLarge(boolean inFields) {
    return inFields
        ? Failure.request(StatusCode.FIELDS_TOO_LARGE, "a header section over its limit")
        : Failure.request(StatusCode.URI_TOO_LONG, "a request target over its limit");
  }

  @Override
  int startLineLimit() {
    return limits.targetBytes() + LINE_OVERHEAD;
  }
}
