package io.kamille.cache.disk;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;

/**
 * What a record tells of a response before its octets.
 *
 * @param encoded what a stored response needs to know of its encoded head
 * @param facts what reuse is decided by
 * @param selecting the request fields it was selected by
 * @param isCodable whether it is to be given content codings
 */
public record StoredHead(
    EncodedHead encoded, StoredFacts facts, SelectingFields selecting, boolean isCodable) {}
