package io.kamille.cache.index;

import java.util.function.LongUnaryOperator;

/**
 * Requests for numbered objects, made up from a seed: always the same. Confined to one thread.
 *
 * @param object what the request of that number asks for
 */
public record Trace(String name, LongUnaryOperator object, LongUnaryOperator bytes) {}
