package io.kamille.cache.rules;

/**
 * One step of an explanation. Immutable.
 *
 * @param rule a token for programs
 * @param section where the rule stands, such as {@code RFC 9111 §4.2.4}
 * @param found the values that were seen
 * @param so what follows, in one clause
 */
public record Reason(String rule, String section, String found, String so) {}
