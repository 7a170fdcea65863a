package io.kamille.cache.fill;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StorableFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * The head of a response that is going to be stored, and all that is known from it.
 *
 * @param fields what is stored of the head (RFC 9111 §3.1)
 * @param encoded what the octets are
 * @param octets the head as it will lie in the store, on the heap
 * @param facts what decides about reuse
 * @param selecting the request fields that select the response
 * @param forms whether the response is to be given content codings
 */
record FillHead(
    ResponseHead fields,
    EncodedHead encoded,
    ByteBuf octets,
    StoredFacts facts,
    SelectingFields selecting,
    CodedForms forms) {

  private static final int USUAL_BYTES = 1024;

  /** The storable part of {@code head}, which it borrows. */
  static FillHead of(Fetch fetch, ResponseHead head, StoredFacts facts, CodedForms forms) {
    ResponseHead fields =
        ResponseHead.of(head.status(), StorableFields.of(head.fields(), facts.responseTime()));
    ByteBuf octets = Unpooled.buffer(USUAL_BYTES);
    EncodedHead encoded = ResponseCodec.encode(fetch.uri(), fields, octets);
    SelectingFields selecting = fetch.selecting(SelectingFields.of(head.fields(), fetch.request()));
    StoredFacts tagged = facts.tagged(Tags.of(fetch.request(), head.fields()));
    return new FillHead(fields, encoded, octets, tagged, selecting, forms);
  }

  /** What it takes in the store. */
  int length() {
    return encoded.length();
  }
}
