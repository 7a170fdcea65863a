package io.kamille.admin.view;

import org.jspecify.annotations.Nullable;

/**
 * One listener.
 *
 * @param address host and port it is bound to
 * @param connections open now
 * @param certificateExpires when the first of its certificates does (RFC 3339); null without TLS
 */
public record ListenerSnapshot(
    String address, long connections, @Nullable String certificateExpires) {}
