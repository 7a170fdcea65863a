package io.kamille.cache.rules;

/**
 * How a freshness lifetime is guessed when the origin gives none (RFC 9111 §4.2.2).
 *
 * @param isEnabled whether to guess at all
 * @param percent of the time since the last modification, 0 to 100
 * @param limitSeconds the longest lifetime a guess may give
 */
public record HeuristicSettings(boolean isEnabled, int percent, int limitSeconds) {

  /*
   * A guess is one tenth of the time since the last modification, as §4.2.2 suggests, for at most
   * a day: beyond that, a wrong guess costs more than the request it saves.
   */
  public static final HeuristicSettings DEFAULT = new HeuristicSettings(true, 10, 86_400);

  public static final HeuristicSettings OFF = new HeuristicSettings(false, 0, 0);

  public HeuristicSettings {
    if (percent < 0 || percent > 100) {
      throw new IllegalArgumentException("percent: " + percent + " (expected: 0 to 100)");
    }
    if (limitSeconds < 0) {
      throw new IllegalArgumentException("limitSeconds: " + limitSeconds + " (expected: >= 0)");
    }
  }
}
