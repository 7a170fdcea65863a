package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.Storability;

/**
 * An answer that was not stored. Immutable.
 *
 * @param key of its target URI
 * @param status its status code
 * @param why with the token that Cache-Status told (RFC 9211 §2.8)
 * @param atNanos when its head came (monotonic)
 */
public record Refusal(CacheKey key, int status, Storability why, long atNanos)
    implements KeySlots.Entry {}
