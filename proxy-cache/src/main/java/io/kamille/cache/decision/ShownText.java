package io.kamille.cache.decision;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What clients and origins wrote, as an operator is shown it. Stateless; any thread. */
public final class ShownText {

  /** Longer texts are cut, so that what is shown is bounded. */
  private static final int LIMIT = 256;

  /** Fields whose values let their holder pass for somebody else. */
  private static final Set<String> SECRET =
      Set.of("authorization", "cookie", "proxy-authorization");

  static final String HIDDEN = "(hidden)";

  private ShownText() {}

  static String cut(String text) {
    return text.length() <= LIMIT ? text : text.substring(0, LIMIT) + "…";
  }

  public static @Nullable String cutIfAny(@Nullable String text) {
    return text == null ? null : cut(text);
  }

  /**
   * The value of a request field, which others may have sent; null if there was none.
   *
   * @param name in lower case
   */
  public static @Nullable String value(String name, @Nullable String value) {
    return value != null && SECRET.contains(name) ? HIDDEN : cutIfAny(value);
  }
}
