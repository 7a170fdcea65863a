package io.kamille.launcher.version;

import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Who wants a change of the configuration, and how.
 *
 * @param match what {@code If-Match} says; null for whatever runs
 * @param comment empty for none
 * @param confirm how long the change is on trial; null to keep it at once
 * @param guard what ends the trial before; null for nothing
 */
record ChangeOrder(
    String by,
    String comment,
    @Nullable String match,
    @Nullable Duration confirm,
    TrialGuard.@Nullable Limits guard) {

  /** Whether {@code If-Match} names {@code tag}: strong comparison (RFC 9110 §13.1.1). */
  static boolean matches(String match, String tag) {
    return match.strip().equals("*")
        || Arrays.stream(match.split(",", -1)).anyMatch(each -> each.strip().equals(tag));
  }

  /** Makes the next text of the one that runs. */
  interface Edit {
    String next(String running) throws Refused;
  }
}
