package io.kamille.cache.fill;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.tiers.Store;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way to the origin, whose response may be stored.
 *
 * @param exchange the client's, with the request as it came and a reply that changes hands
 * @param demands the directives of the request
 * @param key what the response will be found by; may be kept
 * @param forwarding what Cache-Status will say, filled in on the way
 * @param flight those who wait for the response, or null if nobody may
 * @param requestTime when it was forwarded, in epoch seconds (RFC 9111 §4.2.3)
 * @param forwardedNanos the same moment (monotonic)
 * @param before what the store said before it was forwarded
 * @param isInBackground whether nobody waits for the response but the store, and followers
 * @param asksForIdentity whether content without coding is asked for, whatever the client takes
 */
record Fetch(
    Exchange exchange,
    CacheControl demands,
    CacheKey key,
    Forwarding forwarding,
    @Nullable InFlight flight,
    long requestTime,
    long forwardedNanos,
    Store.Moment before,
    boolean isInBackground,
    boolean asksForIdentity) {

  /** As the client sent it; what is forwarded may be conditional. */
  RequestHead request() {
    return exchange.request();
  }

  /** The selecting fields that decided which response this is, of those that it names. */
  SelectingFields selecting(SelectingFields named) {
    return asksForIdentity ? named.without(FieldName.ACCEPT_ENCODING) : named;
  }

  /** The target URI (RFC 9110 §7.1). */
  String uri() {
    return (request().isSecure() ? "https://" : "http://")
        + request().authority()
        + request().pathAndQuery();
  }
}
