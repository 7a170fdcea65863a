package io.kamille.core.http;

import java.nio.charset.StandardCharsets;

/** The status codes Kamille itself speaks of, and the status lines of all registered ones. */
public final class StatusCode {

  public static final int CONTINUE = 100;
  public static final int SWITCHING_PROTOCOLS = 101;
  public static final int OK = 200;
  public static final int ACCEPTED = 202;
  public static final int CREATED = 201;
  public static final int NO_CONTENT = 204;
  public static final int RESET_CONTENT = 205;
  public static final int PARTIAL_CONTENT = 206;
  public static final int MULTIPLE_CHOICES = 300;
  public static final int NOT_MODIFIED = 304;
  public static final int PERMANENT_REDIRECT = 308;
  public static final int BAD_REQUEST = 400;
  public static final int UNAUTHORIZED = 401;
  public static final int FORBIDDEN = 403;
  public static final int NOT_FOUND = 404;
  public static final int METHOD_NOT_ALLOWED = 405;
  public static final int REQUEST_TIMEOUT = 408;
  public static final int CONFLICT = 409;
  public static final int PRECONDITION_FAILED = 412;
  public static final int CONTENT_TOO_LARGE = 413;
  public static final int URI_TOO_LONG = 414;
  public static final int UNSUPPORTED_MEDIA_TYPE = 415;
  public static final int RANGE_NOT_SATISFIABLE = 416;
  public static final int EXPECTATION_FAILED = 417;
  public static final int MISDIRECTED_REQUEST = 421;
  public static final int UNPROCESSABLE_CONTENT = 422;
  public static final int PRECONDITION_REQUIRED = 428;
  public static final int TOO_MANY_REQUESTS = 429;
  public static final int FIELDS_TOO_LARGE = 431;
  public static final int INTERNAL_SERVER_ERROR = 500;
  public static final int NOT_IMPLEMENTED = 501;
  public static final int SERVICE_UNAVAILABLE = 503;
  public static final int GATEWAY_TIMEOUT = 504;
  public static final int VERSION_NOT_SUPPORTED = 505;
  public static final int LOOP_DETECTED = 508;

  /** Greater ones are invalid (RFC 9110 §15). */
  public static final int GREATEST = 599;

  private static final byte[][] STATUS_LINES = new byte[GREATEST + 1][];

  static {
    for (int status = 100; status <= GREATEST; status++) {
      STATUS_LINES[status] =
          ("HTTP/1.1 " + status + " " + reason(status) + "\r\n")
              .getBytes(StandardCharsets.US_ASCII);
    }
  }

  private StatusCode() {}

  /** Whether a response with this code never has content (RFC 9110 §6.4.1). */
  public static boolean hasNoContent(int status) {
    return status < 200 || status == NO_CONTENT || status == NOT_MODIFIED;
  }

  /** The HTTP/1.1 status line with its CRLF. Do not change. */
  public static byte[] statusLine(int status) {
    return STATUS_LINES[status];
  }

  /** The registered reason phrase, empty for an unregistered code. */
  public static String reason(int status) {
    return switch (status) {
      case 100 -> "Continue";
      case 101 -> "Switching Protocols";
      case 102 -> "Processing";
      case 103 -> "Early Hints";
      case 200 -> "OK";
      case 201 -> "Created";
      case 202 -> "Accepted";
      case 203 -> "Non-Authoritative Information";
      case 204 -> "No Content";
      case 205 -> "Reset Content";
      case 206 -> "Partial Content";
      case 207 -> "Multi-Status";
      case 208 -> "Already Reported";
      case 226 -> "IM Used";
      case 300 -> "Multiple Choices";
      case 301 -> "Moved Permanently";
      case 302 -> "Found";
      case 303 -> "See Other";
      case 304 -> "Not Modified";
      case 305 -> "Use Proxy";
      case 307 -> "Temporary Redirect";
      case 308 -> "Permanent Redirect";
      case 400 -> "Bad Request";
      case 401 -> "Unauthorized";
      case 402 -> "Payment Required";
      case 403 -> "Forbidden";
      case 404 -> "Not Found";
      case 405 -> "Method Not Allowed";
      case 406 -> "Not Acceptable";
      case 407 -> "Proxy Authentication Required";
      case 408 -> "Request Timeout";
      case 409 -> "Conflict";
      case 410 -> "Gone";
      case 411 -> "Length Required";
      case 412 -> "Precondition Failed";
      case 413 -> "Content Too Large";
      case 414 -> "URI Too Long";
      case 415 -> "Unsupported Media Type";
      case 416 -> "Range Not Satisfiable";
      case 417 -> "Expectation Failed";
      case 421 -> "Misdirected Request";
      case 422 -> "Unprocessable Content";
      case 423 -> "Locked";
      case 424 -> "Failed Dependency";
      case 425 -> "Too Early";
      case 426 -> "Upgrade Required";
      case 428 -> "Precondition Required";
      case TOO_MANY_REQUESTS -> "Too Many Requests";
      case 431 -> "Request Header Fields Too Large";
      case 451 -> "Unavailable For Legal Reasons";
      case 500 -> "Internal Server Error";
      case 501 -> "Not Implemented";
      case 502 -> "Bad Gateway";
      case 503 -> "Service Unavailable";
      case 504 -> "Gateway Timeout";
      case 505 -> "HTTP Version Not Supported";
      case 506 -> "Variant Also Negotiates";
      case 507 -> "Insufficient Storage";
      case 508 -> "Loop Detected";
      case 511 -> "Network Authentication Required";
      default -> "";
    };
  }
}
