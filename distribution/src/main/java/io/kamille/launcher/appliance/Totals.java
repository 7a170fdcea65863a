package io.kamille.launcher.appliance;

/**
 * What happened since the start.
 *
 * @param requests exchanges that are over
 * @param failures of them answered with 5xx
 * @param hits of them answered from the store
 * @param cpuNanos processor time of all loops
 * @param connections open to clients now
 */
public record Totals(long requests, long failures, long hits, long cpuNanos, int connections) {}
