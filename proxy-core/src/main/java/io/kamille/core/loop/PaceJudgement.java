package io.kamille.core.loop;

/**
 * What a trial of a loop's pauses found.
 *
 * @param allowsPauses whether an interval was shown to save enough, so that the loop pauses
 * @param intervalNanos that interval, or the one that came nearest to it
 * @param saving the share of the processor time per request that it saved, in the median of its
 *     comparisons; negative if it cost
 * @param uncertainty four comparisons of five found no less than {@code saving} minus this
 * @param waitNanos how much longer an event waited with it, at the median, in nanoseconds
 * @param nanos when it was found, by the loop's clock
 */
public record PaceJudgement(
    boolean allowsPauses,
    long intervalNanos,
    double saving,
    double uncertainty,
    long waitNanos,
    long nanos) {}
