package io.kamille.launcher.warm;

import java.util.List;

/**
 * How far a warm-up has come. Immutable.
 *
 * @param state none, running or done
 * @param of what is warmed up, in words
 * @param total how many requests there are to make; with variants
 * @param done those that are over, of whatever kind
 * @param stored fetched and stored
 * @param fresh stored already, so that no origin was asked
 * @param notStored fetched, and not stored
 * @param failed the origin failed, or answered with 400 or above
 * @param skipped not sent: no route of ours would store the response
 * @param troubles the first that failed, were skipped or were not stored
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
    List<Trouble> troubles) {

  /** Nothing was warmed up yet. */
  static final WarmProgress NONE = new WarmProgress("none", "", 0, 0, 0, 0, 0, 0, 0, List.of());

  WarmProgress {
    troubles = List.copyOf(troubles);
  }

  /** Why a URL is not warm. */
  record Trouble(String url, String why) {}
}
