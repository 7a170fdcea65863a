package io.kamille.perf.compare;

/**
 * The highest rate that one way of pacing kept up with in one round.
 *
 * @param rate in requests per second, 0 if none was found
 * @param isClientLimited whether the search ended where the client was at its own limit: the server
 *     can do as much at least
 */
record Capacity(String way, int round, double rate, boolean isClientLimited) {}
