package io.kamille.perf.load;

import org.HdrHistogram.Histogram;

/**
 * What became of the requests that should have been sent in one part of a run.
 *
 * @param beginNanos after the beginning of the run
 * @param latency in nanoseconds, of those answered rightly
 */
public record LoadWindow(long beginNanos, Histogram latency) {}
