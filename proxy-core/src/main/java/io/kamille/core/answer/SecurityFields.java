package io.kamille.core.answer;

import io.kamille.core.http.Fields;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The fields that {@code routes[].security-headers} gives responses which lack them. Stateless; any
 * thread.
 */
public final class SecurityFields {

  /*
   * As the OWASP Secure Headers Project gives them, 2025, without those that depend on the site:
   * a policy for content or permissions is the origin's. A field that the origin has sent stays.
   */
  private static final Map<String, String> PLAIN = withValues(false);
  private static final Map<String, String> SECURE = withValues(true);

  private SecurityFields() {}

  private static Map<String, String> withValues(boolean isSecure) {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("X-Content-Type-Options", "nosniff");
    all.put("X-Frame-Options", "SAMEORIGIN");
    all.put("Referrer-Policy", "strict-origin-when-cross-origin");
    if (isSecure) {
      all.put("Strict-Transport-Security", "max-age=31536000");
    }
    return Collections.unmodifiableMap(all);
  }

  /**
   * With their values, in order.
   *
   * @param isSecure whether the request came by https: only there RFC 6797 §7.2 allows its field
   */
  public static Map<String, String> all(boolean isSecure) {
    return isSecure ? SECURE : PLAIN;
  }

  /** Adds those that are missing. */
  public static void addTo(Fields fields, boolean isSecure) {
    all(isSecure)
        .forEach(
            (name, value) -> {
              if (fields.all(name).isEmpty()) {
                fields.add(name, value);
              }
            });
  }
}
