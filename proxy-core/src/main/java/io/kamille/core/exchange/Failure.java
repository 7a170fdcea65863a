package io.kamille.core.exchange;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Why an exchange could not be completed as asked (RFC 9209 for the names). Immutable.
 *
 * @param kind what went wrong
 * @param status the status code the client is told, if no answer has begun yet
 * @param reason one phrase for the log and {@code Proxy-Status} details, without line breaks
 * @param retryAfterSeconds when the client may try again (RFC 9110 §10.2.3); 0 to say nothing of it
 * @param field what else the answer has to say; null for nothing
 */
public record Failure(
    ErrorType kind, int status, String reason, int retryAfterSeconds, @Nullable Field field) {

  /** Our name in {@code Via} (RFC 9110 §7.6.3) and in what says whose answer it is. */
  public static final String PSEUDONYM = "kamille";

  /** A header field of the answer, such as {@code Content-Range}. */
  public record Field(String name, String value) {}

  /** Whose doing it was. */
  public enum Side {
    CLIENT,
    ORIGIN,
    SELF
  }

  /** What went wrong, with the error types of RFC 9209 §2.3 and the status code it mostly means. */
  public enum ErrorType {
    DNS_ERROR(Side.ORIGIN, 502),
    DESTINATION_UNAVAILABLE(Side.ORIGIN, 503),
    CONNECTION_REFUSED(Side.ORIGIN, 502),
    CONNECTION_TERMINATED(Side.ORIGIN, 502),
    CONNECTION_TIMEOUT(Side.ORIGIN, 504),
    CONNECTION_READ_TIMEOUT(Side.ORIGIN, 504),
    CONNECTION_WRITE_TIMEOUT(Side.ORIGIN, 504),
    CONNECTION_LIMIT_REACHED(Side.SELF, 503),
    TLS_PROTOCOL_ERROR(Side.ORIGIN, 502),
    TLS_CERTIFICATE_ERROR(Side.ORIGIN, 502),
    TLS_ALERT_RECEIVED(Side.ORIGIN, 502),
    HTTP_RESPONSE_INCOMPLETE(Side.ORIGIN, 502),
    HTTP_RESPONSE_HEADER_SECTION_SIZE(Side.ORIGIN, 502),
    HTTP_RESPONSE_TIMEOUT(Side.ORIGIN, 504),
    HTTP_PROTOCOL_ERROR(Side.ORIGIN, 502),
    HTTP_REQUEST_ERROR(Side.CLIENT, 400),
    HTTP_REQUEST_DENIED(Side.SELF, 403),
    PROXY_INTERNAL_RESPONSE(Side.SELF, 503),
    PROXY_INTERNAL_ERROR(Side.SELF, 500),
    /** The client went away or broke its own message; there is nobody left to tell. */
    CLIENT_GONE(Side.CLIENT, 400);

    private final Side side;
    private final int status;
    private final String token;

    ErrorType(Side side, int status) {
      this.side = side;
      this.status = status;
      this.token = name().toLowerCase(Locale.ROOT);
    }

    public Side side() {
      return side;
    }

    /** The error token of RFC 9209 §2.3. */
    public String token() {
      return token;
    }
  }

  /** A failure whose answer needs no field of its own. */
  public Failure(ErrorType kind, int status, String reason, int retryAfterSeconds) {
    this(kind, status, reason, retryAfterSeconds, null);
  }

  /** A failure that says nothing of when to try again. */
  public Failure(ErrorType kind, int status, String reason) {
    this(kind, status, reason, 0);
  }

  /** A failure with the status code its kind mostly means. */
  public static Failure of(ErrorType kind, String reason) {
    return new Failure(kind, kind.status, reason);
  }

  /** A request we refuse with this status code. */
  public static Failure request(int status, String reason) {
    return new Failure(ErrorType.HTTP_REQUEST_ERROR, status, reason);
  }

  /** A request we refuse with this status code and that field beside it. */
  public static Failure request(int status, String reason, String field, String value) {
    return new Failure(ErrorType.HTTP_REQUEST_ERROR, status, reason, 0, new Field(field, value));
  }

  /** A request that its client may send again later: 429 (RFC 6585 §4). */
  public static Failure busyClient(String reason, int retryAfterSeconds) {
    return new Failure(ErrorType.HTTP_REQUEST_DENIED, 429, reason, retryAfterSeconds);
  }

  public Side side() {
    return kind.side();
  }

  /**
   * What the client may know: what is wrong with its own message, but nothing of the origins behind
   * us beyond the kind of failure (RFC 9209 §4). The log has it all.
   */
  public String publicReason() {
    return side() == Side.ORIGIN ? kind.token().replace('_', ' ') : reason;
  }

  /** The field value of {@code Proxy-Status} (RFC 9209 §2). */
  public String proxyStatus() {
    String error = PSEUDONYM + "; error=" + kind.token();
    return side() == Side.ORIGIN ? error : error + "; details=\"" + quotable(reason) + "\"";
  }

  /** A structured-field string may hold visible ASCII and spaces (RFC 9651 §3.3.3). */
  private static String quotable(String text) {
    StringBuilder quoted = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else {
        quoted.append(c >= ' ' && c < 0x7f ? c : '?');
      }
    }
    return quoted.toString();
  }
}
