package io.kamille.core.log;

import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One more value of each line of the access log. Immutable.
 *
 * @param name of a field, in lower case; empty for what is no field
 */
public record LoggedField(Source kind, String name) {

  /** How many may be added. */
  static final int MOST = 16;

  static final ValueType<List<LoggedField>> LIST =
      ValueTypes.list(
              "list of values",
              LoggedField::parse,
              LoggedField::text,
              "request-field:NAME, response-field:NAME, request-id, trace-id, origin, origin-time"
                  + " or tls-version; at most "
                  + MOST)
          .map(fields -> fields.size() > MOST ? null : fields, fields -> fields);

  /** Where a value comes from. */
  public enum Source {
    REQUEST_FIELD("request-field:", "request-field:"),
    RESPONSE_FIELD("response-field:", "response-field:"),
    REQUEST_ID("request-id", "requestId"),
    TRACE_ID("trace-id", "traceId"),
    ORIGIN("origin", "origin"),
    ORIGIN_TIME("origin-time", "originSeconds"),
    TLS_VERSION("tls-version", "tlsVersion");

    private final String word;
    private final String member;

    Source(String word, String member) {
      this.word = word;
      this.member = member;
    }

    /** What a line of JSON calls it, before the name of a field. */
    String member() {
      return member;
    }
  }

  /** What this text calls; null if nothing. */
  static @Nullable LoggedField parse(String text) {
    int end = text.indexOf(':') + 1;
    String word = end == 0 ? text : text.substring(0, end);
    String name = end == 0 ? "" : text.substring(end);
    for (Source kind : Source.values()) {
      if (kind.word.equals(word) && (end == 0 || ValueTypes.token().parse(name) != null)) {
        return new LoggedField(kind, name.toLowerCase(Locale.ROOT));
      }
    }
    return null;
  }

  /** As settings write it. */
  String text() {
    return kind.word + name;
  }

  /** Whether its value lets in whoever reads it, so that only a digest is written. */
  boolean isSecret() {
    return switch (name) {
      case "authorization", "proxy-authorization", "cookie", "set-cookie" -> true;
      default -> false;
    };
  }
}
