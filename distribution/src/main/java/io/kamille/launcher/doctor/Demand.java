package io.kamille.launcher.doctor;

import java.time.Duration;

/**
 * The load that is to be served.
 *
 * @param rate of requests, each second
 * @param objectBytes mean length of the responses' content
 * @param hitRatio share of the requests answered from the store, 0 to 1
 * @param storedResponses that are to be kept for it; 0 if not known
 * @param think how long the origin takes for a miss
 * @param requestsPerConnection of clients, on average
 * @param connectionTime how long a client's connection stays open, on average
 * @param utilization share of its time that a loop may be busy on average, above 0, at most 1
 */
public record Demand(
    double rate,
    long objectBytes,
    double hitRatio,
    long storedResponses,
    Duration think,
    double requestsPerConnection,
    Duration connectionTime,
    double utilization) {}
