package io.kamille.admin.view;

/**
 * One loop.
 *
 * @param name of its thread
 * @param requests since the start
 * @param connections of clients, open now
 * @param cpuSeconds its thread has used
 */
public record LoopSnapshot(String name, long requests, long connections, double cpuSeconds) {}
