package io.kamille.cache.removal;

import io.kamille.cache.purge.PurgeTarget;

/**
 * What became of one purge so far.
 *
 * @param id its number in the list
 * @param target what it is about
 * @param isSoft whether what it is about is made stale, not removed
 * @param isDryRun whether it only counts
 * @param epochSeconds when it was made; it held from then on
 * @param responses how many were removed, made stale or, in a dry run, counted
 */
public record PurgeReport(
    long id,
    PurgeTarget target,
    boolean isSoft,
    boolean isDryRun,
    long epochSeconds,
    Progress state,
    long responses) {

  /** How far it has come. */
  public enum Progress {
    /** It holds; what it is about is being taken out of memory. */
    SWEEPING,
    /** What it would be about is being counted. */
    COUNTING,
    DONE
  }
}
