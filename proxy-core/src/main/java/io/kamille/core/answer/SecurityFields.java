package io.kamille.core.answer;

import io.kamille.core.http.Fields;
import java.util.List;

/**
 * The fields that {@code routes[].security-headers} gives responses which lack them. Stateless; any
 * thread.
 */
public final class SecurityFields {

  /*
   * As the OWASP Secure Headers Project gives them, 2025, without those that depend on the site:
   * a policy for content or permissions is the origin's. A field that the origin has sent stays.
   */
  private static final String HSTS = "Strict-Transport-Security";

  /** Their names. */
  public static final List<String> NAMES =
      List.of("X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", HSTS);

  private static final List<String> VALUES =
      List.of("nosniff", "SAMEORIGIN", "strict-origin-when-cross-origin", "max-age=31536000");

  private SecurityFields() {}

  /**
   * Adds those that are missing.
   *
   * @param isSecure whether the request came by https: only there RFC 6797 §7.2 allows its field
   */
  public static void addTo(Fields fields, boolean isSecure) {
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      if ((isSecure || !name.equals(HSTS)) && fields.all(name).isEmpty()) {
        fields.add(name, VALUES.get(i));
      }
    }
  }
}
