package io.kamille.cache.fill;

import io.kamille.cache.coding.Coder;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.serve.LoopStates;
import io.kamille.cache.tiers.DiskLookups;
import io.kamille.cache.tiers.Store;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What all routes that cache share. Any thread.
 *
 * @param lookups who reads the disk; null if there is none
 * @param invalidation told of the response to each unsafe request
 * @param currentness until when what is stored may be served
 * @param sendfileFromBytes content that long, or longer, may go to clients by sendfile
 */
public record CacheParts(
    Store store,
    @Nullable DiskLookups lookups,
    InFlightTable flights,
    Coder coder,
    LoopStates loops,
    BiFunction<RequestHead, ResponseHead, @Nullable CompletionStage<?>> invalidation,
    StoreCurrentness currentness,
    long sendfileFromBytes,
    WallClock clock) {

  /** The directives of a request, as they hold while this node is current, or is cut off. */
  public CacheControl demandsOf(RequestHead request) {
    CacheControl demands = CacheControl.ofRequest(request.fields());
    return currentness.hasEnded() ? demands.whileCutOff() : demands;
  }
}
