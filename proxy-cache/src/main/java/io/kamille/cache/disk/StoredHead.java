package io.kamille.cache.disk;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;

/**
 * What a record tells of a response before its octets.
 *
 * @param encoded what a stored response needs to know of its encoded head
 * @param facts what reuse is decided by
 * @param selecting the request fields it was selected by
 * @param isCodable whether it is to be given content codings
 */
public record StoredHead(
    EncodedHead encoded, StoredFacts facts, SelectingFields selecting, boolean isCodable) {

  /** That of a response, on which the caller holds a lease. */
  public static StoredHead of(StoredResponse response) {
    EncodedHead encoded =
        new EncodedHead(
            response.status(),
            response.uri().length(),
            response.headLength(),
            response.upstreamCacheStatus());
    return new StoredHead(
        encoded, response.facts(), response.selecting(), response.forms().isCodable());
  }

  /** The response whose encoded head and content lie in those octets. Takes over one lease. */
  public StoredResponse with(StoredOctets octets) {
    return StoredResponse.of(encoded, octets, facts, selecting)
        .with(isCodable ? CodedForms.NOT_YET : CodedForms.NEVER);
  }
}
