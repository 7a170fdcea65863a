package io.kamille.core.loop;

/**
 * What a trial of a loop's pauses found.
 *
 * @param allowsPauses whether the loop may pause
 * @param saving the share of the processor time per request that pauses save; negative if they cost
 * @param uncertainty how far the true saving may lie from it, with 95 % confidence; 1 if the trial
 *     compared less than two pairs of windows
 * @param waitNanos how much longer an event waits with pauses, at the median, in nanoseconds
 * @param pairs of windows that were compared
 * @param nanos when it was found, by the loop's clock
 */
public record PaceJudgement(
    boolean allowsPauses,
    double saving,
    double uncertainty,
    long waitNanos,
    int pairs,
    long nanos) {}
