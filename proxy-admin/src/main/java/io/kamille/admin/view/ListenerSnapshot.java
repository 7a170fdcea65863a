package io.kamille.admin.view;

/**
 * One listener.
 *
 * @param address host and port it is bound to
 * @param connections open now
 */
public record ListenerSnapshot(String address, long connections) {}
