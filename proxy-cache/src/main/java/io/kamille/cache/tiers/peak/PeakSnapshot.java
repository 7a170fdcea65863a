package io.kamille.cache.tiers.peak;

/**
 * Which tiers requests use at one moment, and what is known about that.
 *
 * @param choice what the operator said
 * @param mode what it has come to
 * @param sinceEpochSeconds since when
 * @param reason why, in words
 * @param trialReads how many reads are let through in the present window of a peak
 * @param readNanos how long requests waited for the disk in the last window that had reads; 0 if
 *     there was none
 * @param queue how many reads waited or ran at a time in that window
 * @param quietReadNanos what a read takes when the disk is quiet; 0 while that is unknown
 * @param originNanos what origins take to begin their answer; 0 while that is unknown
 * @param requestsPerSecond in the last window
 * @param meanRequestsPerSecond in the last five minutes
 * @param skippedReads requests that the disk was not read for, since the start
 * @param skippedWrites times that a response was not written, since the start
 */
public record PeakSnapshot(
    PeakChoice choice,
    TierMode mode,
    long sinceEpochSeconds,
    String reason,
    int trialReads,
    double readNanos,
    double queue,
    double quietReadNanos,
    double originNanos,
    double requestsPerSecond,
    double meanRequestsPerSecond,
    long skippedReads,
    long skippedWrites) {}
