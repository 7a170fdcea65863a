package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;

/**
 * An answer that was not stored. Immutable.
 *
 * @param key of its target URI
 * @param status its status code
 * @param detail the token that Cache-Status told (RFC 9211 §2.8)
 * @param explanation why, in one clause, with the section in parentheses where there is one
 * @param atNanos when its head came (monotonic)
 */
public record Refusal(CacheKey key, int status, String detail, String explanation, long atNanos)
    implements KeySlots.Entry {}
