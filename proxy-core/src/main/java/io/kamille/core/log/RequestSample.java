package io.kamille.core.log;

/**
 * One request as it was when it was over. Immutable.
 *
 * @param number counts the samples of its loop from 1
 * @param startEpochMillis when its head was complete
 * @param url scheme, authority and path, cut to 512 characters
 * @param query what stands behind the question mark, likewise; empty for none
 * @param status 0 if the client left before an answer began
 * @param cache what the cache did, as the access log has it
 * @param failure an error token of RFC 9209; empty for none
 * @param origin the one that answered; empty if none was asked
 * @param client its address
 * @param trace the identifier of its trace; empty if it was not recorded step by step
 */
public record RequestSample(
    int loop,
    long number,
    long startEpochMillis,
    long durationNanos,
    String method,
    String url,
    String query,
    int status,
    long contentBytes,
    String cache,
    String failure,
    String route,
    String origin,
    String client,
    String trace) {}
