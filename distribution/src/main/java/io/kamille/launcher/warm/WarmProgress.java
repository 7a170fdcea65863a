package io.kamille.launcher.warm;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a warm-up has come. Immutable.
 *
 * @param state none, preparing, running, done or stopped
 * @param of what is warmed up, in words
 * @param total how many requests there are to make; with variants
 * @param done those that are over, of whatever kind
 * @param stored fetched and stored
 * @param fresh stored already, so that no origin was asked
 * @param notStored fetched, and not stored
 * @param failed the origin failed, or answered with 400 or above
 * @param skipped not sent: no route of ours would store the response
 * @param troubles the first that failed, were skipped or were not stored
 * @param rate requests to origins a second, at the most
 * @param concurrency requests at the same time, at the most
 */
record WarmProgress(
    String state,
    String of,
    int total,
    int done,
    int stored,
    int fresh,
    int notStored,
    int failed,
    int skipped,
    @Nullable Instant started,
    double seconds,
    int rate,
    int concurrency,
    List<Trouble> troubles) {

  WarmProgress {
    troubles = List.copyOf(troubles);
  }

  /** The same as somebody may see it. */
  WarmProgress with(String shown, List<Trouble> shownTroubles) {
    return new WarmProgress(
        state,
        shown,
        total,
        done,
        stored,
        fresh,
        notStored,
        failed,
        skipped,
        started,
        seconds,
        rate,
        concurrency,
        shownTroubles);
  }

  /** Why a URL is not warm. */
  record Trouble(String url, String why) {}
}
