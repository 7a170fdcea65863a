package io.kamille.core.auth;

/**
 * What a check says of a request that is explained.
 *
 * @param isRefused whether it goes no further
 * @param found what was looked at, without anything secret
 * @param so what follows
 */
public record AuthExplanation(boolean isRefused, String found, String so) {}
