package io.kamille.cache.rules;

/**
 * The lifetimes an operator gives to responses, in seconds; {@link CacheControl#ABSENT} for none.
 *
 * @param ttlSeconds of responses that are no errors, whatever the origin says of their lifetime
 * @param ofStatus of responses that carry none, by status code
 * @param defaultSeconds of other responses that carry none, instead of a guess
 */
public record Lifetimes(int ttlSeconds, StatusLifetimes ofStatus, int defaultSeconds) {

  public Lifetimes {
    check("ttlSeconds", ttlSeconds);
    check("defaultSeconds", defaultSeconds);
  }

  private static void check(String name, int seconds) {
    if (seconds < CacheControl.ABSENT) {
      throw new IllegalArgumentException(
          name + ": " + seconds + " (expected: >= 0, or -1 for none)");
    }
  }
}
