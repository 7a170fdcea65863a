package io.kamille.admin.view;

import org.jspecify.annotations.Nullable;

/**
 * One route, and what was asked of it since the start.
 *
 * @param name its host and path, as log and metrics have it
 * @param host such as {@code example.org}; {@code *} for any
 * @param cached whether its responses may be stored
 * @param hits requests answered from the store
 * @param failures requests answered with 5xx
 * @param lastRequest when its last request ended, as RFC 3339 says it; null if there was none
 */
public record RouteSnapshot(
    String name,
    String host,
    String path,
    String upstream,
    boolean cached,
    long requests,
    long hits,
    long failures,
    @Nullable String lastRequest) {}
