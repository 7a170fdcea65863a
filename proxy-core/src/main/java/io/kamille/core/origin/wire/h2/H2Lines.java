package io.kamille.core.origin.wire.h2;

import io.kamille.core.h2.HpackWriter;
import io.kamille.core.h2.ResponseSink;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.wire.RequestHeadWriter;
import java.util.function.LongSupplier;

/**
 * What all connections of one loop to one origin have in common.
 *
 * @param origin its name, for reasons and for requests that name no host
 * @param isSecure whether it is asked over TLS
 * @param sink of the loop
 * @param section scratch of the loop
 * @param clock monotonic nanoseconds
 */
public record H2Lines(
    String origin,
    boolean isSecure,
    ConnectionSettings settings,
    RequestHeadWriter head,
    ResponseSink sink,
    HpackWriter section,
    LongSupplier clock) {}
