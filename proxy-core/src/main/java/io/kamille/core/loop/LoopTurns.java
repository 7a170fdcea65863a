package io.kamille.core.loop;

import io.kamille.core.metric.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What one loop did and how it paces itself. A copy; its numbers are each true, not of one moment.
 *
 * @param name of its thread
 * @param intervalNanos between two polls, at least, now
 * @param reason why it is that
 * @param polls since the start
 * @param events that they brought
 * @param pollsPerSecond in the last second
 * @param eventsPerPoll in the last second
 * @param utilisation lately: the share of the time in which the loop was busy, 0–1; zero when
 *     pacing is off
 * @param judgement what the last trial of pauses found; null before
 * @param pauses since the start
 * @param pauseNanos they took
 * @param spinBudgetNanos the longest busy wait, now
 * @param spins busy waits since the start
 * @param paidSpins of those, how many ended with something to do
 * @param spinNanos they took
 * @param stalls turns that took longer than a limit
 * @param turns how long turns took
 */
public record LoopTurns(
    String name,
    long intervalNanos,
    PaceReason reason,
    long polls,
    long events,
    double pollsPerSecond,
    double eventsPerPoll,
    double utilisation,
    @Nullable PaceJudgement judgement,
    long pauses,
    long pauseNanos,
    long spinBudgetNanos,
    long spins,
    long paidSpins,
    long spinNanos,
    long stalls,
    Histogram.Snapshot turns) {}
