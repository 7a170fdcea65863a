package io.kamille.perf.compare;

/**
 * What clients that behave well got in one situation, and what the server took for it.
 *
 * @param completed requests answered rightly
 * @param p50Micros from the intended send time, as is {@code p99Micros}
 * @param cpuMicros of the server meanwhile, all that it did
 * @param residentBytes of the server at the end
 * @param socketBytes of the kernel for all TCP sockets of the machine at the end
 * @param ended slow clients that the server ended meanwhile
 * @param isClientLimited whether the numbers say as much of the client
 */
record SlowSample(
    String server,
    SlowSituation situation,
    int round,
    long completed,
    long failed,
    double p50Micros,
    double p99Micros,
    long cpuMicros,
    long residentBytes,
    long socketBytes,
    long ended,
    boolean isClientLimited) {}
