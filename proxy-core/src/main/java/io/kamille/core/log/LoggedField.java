package io.kamille.core.log;

import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One more value of each line of the access log. Immutable.
 *
 * @param name of a field, in lower case; empty for what is no field
 */
public record LoggedField(Kind kind, String name) {

  /** How many may be added. */
  static final int MOST = 16;

  static final String EXPECTED =
      "request-field:NAME, response-field:NAME, request-id, trace-id, route, origin, origin-time or"
          + " tls-version; at most "
          + MOST;

  private static final Pattern FIELD =
      Pattern.compile("(request|response)-field:([A-Za-z0-9!#$%&'*+.^_`|~-]{1,64})");

  /** Where a value comes from. */
  public enum Kind {
    REQUEST_FIELD("request-field:"),
    RESPONSE_FIELD("response-field:"),
    REQUEST_ID("requestId"),
    TRACE_ID("traceId"),
    ROUTE("route"),
    ORIGIN("origin"),
    ORIGIN_TIME("originSeconds"),
    TLS_VERSION("tlsVersion");

    private final String member;

    Kind(String member) {
      this.member = member;
    }
  }

  /** What this text calls; null if nothing. */
  static @Nullable LoggedField parse(String text) {
    var field = FIELD.matcher(text);
    if (field.matches()) {
      Kind kind = field.group(1).equals("request") ? Kind.REQUEST_FIELD : Kind.RESPONSE_FIELD;
      return new LoggedField(kind, field.group(2).toLowerCase(Locale.ROOT));
    }
    for (Kind kind : Kind.values()) {
      if (kind.compareTo(Kind.RESPONSE_FIELD) > 0 && word(kind).equals(text)) {
        return new LoggedField(kind, "");
      }
    }
    return null;
  }

  private static String word(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** As settings write it. */
  String text() {
    return name.isEmpty() ? word(kind) : kind.member + name;
  }

  /** What a line of JSON calls it. */
  String member() {
    return kind.member + name;
  }

  /** Whether every line of JSON has it anyway. */
  boolean isUsual() {
    return kind == Kind.ROUTE || kind == Kind.ORIGIN;
  }

  /** Whether its value lets in whoever reads it, so that only a digest is written. */
  boolean isSecret() {
    return switch (name) {
      case "authorization", "proxy-authorization", "cookie", "set-cookie" -> true;
      default -> false;
    };
  }

  /** Whether its value is mostly the address of a client. */
  public boolean isClientAddress() {
    return switch (name) {
      case "forwarded",
          "x-forwarded-for",
          "x-real-ip",
          "x-client-ip",
          "x-cluster-client-ip",
          "client-ip",
          "true-client-ip",
          "cf-connecting-ip",
          "fastly-client-ip" ->
          true;
      default -> false;
    };
  }
}
