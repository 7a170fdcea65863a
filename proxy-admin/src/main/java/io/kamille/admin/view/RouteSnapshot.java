package io.kamille.admin.view;

/**
 * One route, and what was asked of it since the start.
 *
 * @param name its host and path, as log and metrics have it
 * @param host such as {@code example.org}; {@code *} for any
 * @param isCached whether its responses may be stored
 * @param hits requests answered from the store
 * @param failures requests answered with 5xx
 * @param idleMillis since its last request ended; negative if there was none
 */
public record RouteSnapshot(
    String name,
    String host,
    String path,
    String upstream,
    boolean isCached,
    long requests,
    long hits,
    long failures,
    long idleMillis) {}
