package io.kamille.cache.tiers;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.kamille.cache.index.MemoryIndex;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Does to stored responses what the purges ask for that they fell under. Any thread. */
final class PurgeSettlement {

  /*
   * Purges by tag and prefix are notes in a table of their own. What is found is compared with
   * those that came since it was last looked at; what fell under one leaves the index, or is put
   * back as stale. A response that is committed late is older than they are, and meets the same
   * fate.
   */
  private final MemoryIndex index;
  private final PurgeTable purges;
  private final LongAdder removed = new LongAdder();
  private final LongAdder madeStale = new LongAdder();
  private final PurgedUrls urls = new PurgedUrls();

  PurgeSettlement(MemoryIndex index, PurgeTable purges) {
    this.index = index;
    this.purges = purges;
  }

  /** What was found under a key without what was purged since it was last looked at. */
  @Nullable Variants unpurged(CacheKey key, Variants under) {
    Variants found = under;
    while (found != null && !found.areUnpurgedUpTo(purges.last())) {
      settle(key, found, false);
      found = index.peek(key);
    }
    return found;
  }

  /** As {@link #settle}, for who goes through everything, not on a loop. */
  void sweep(CacheKey key, Variants variants) {
    if (settle(key, variants, true)) {
      index.keepUp();
    }
  }

  /** What the last purges removed, as far as the sweep found it. */
  PurgedUrls urls() {
    return urls;
  }

  /**
   * Compares what is under a key with the purges that came since it was last looked at.
   *
   * @param isSweep whether what is removed is remembered
   * @return whether any of it was removed or made stale
   */
  @CanIgnoreReturnValue
  private boolean settle(CacheKey key, Variants variants, boolean isSweep) {
    boolean isChanged = false;
    long upTo = purges.last();
    for (int i = 0; i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      long since = response.unpurgedUpTo();
      if (since < upTo && response.tryRetain()) {
        Purge purge = purgeOf(response, since);
        if (purge == null) {
          response.unpurged(since, upTo);
        } else if (replace(key, response, purge, upTo)) {
          purge.affected(1);
          if (isSweep) {
            urls.add(purge, response);
          }
          isChanged = true;
        }
        response.release();
      }
    }
    return isChanged;
  }

  /** The purge that a response, on which the caller holds a lease, fell under since then. */
  private @Nullable Purge purgeOf(StoredResponse response, long since) {
    return since < purges.last()
        ? purges.find(since, response.facts().tags(), () -> NormalUri.of(response.uri()))
        : null;
  }

  /** Does what a purge asks for with a response on which the caller holds a lease. */
  boolean replace(CacheKey key, StoredResponse response, Purge purge, long upTo) {
    boolean isReplaced =
        purge.isSoft()
            ? soften(key, response, purge, upTo)
            : index.replace(key.copy(), response, null);
    if (isReplaced) {
      (purge.isSoft() ? madeStale : removed).increment();
    }
    return isReplaced;
  }

  private boolean soften(CacheKey key, StoredResponse response, Purge purge, long upTo) {
    if (!response.facts().isFresh(purge.epochSeconds())) {
      response.unpurged(response.unpurgedUpTo(), upTo);
      return false;
    }
    response.retain();
    StoredResponse stale = response.staleSince(purge.epochSeconds());
    stale.unpurged(0, upTo);
    boolean isReplaced = index.replace(key.copy(), response, stale);
    if (!isReplaced) {
      stale.forget();
    }
    return isReplaced;
  }

  /** Whether a response was purged, hard or softly, since it was found or the origin was asked. */
  boolean fellUnderAPurge(StoredResponse asked, long sinceThen) {
    return purgeOf(asked, Math.min(sinceThen, asked.unpurgedUpTo())) != null;
  }

  /** Whether a response is not worth storing, because the next look would remove it. */
  boolean isPurged(StoredResponse response) {
    Purge purge = purgeOf(response, response.unpurgedUpTo());
    return purge != null && !purge.isSoft();
  }

  /** Whether a response that was found once fell under no purge since, on which a lease is held. */
  boolean isUnpurged(StoredResponse response) {
    return purgeOf(response, response.unpurgedUpTo()) == null;
  }

  /**
   * A response that is not in the index as the purges leave it: itself, stale if it was purged
   * softly, or null. Takes over one lease; the caller owns one on what is returned.
   */
  @Nullable StoredResponse settled(StoredResponse response) {
    long upTo = purges.last();
    Purge purge = purgeOf(response, response.unpurgedUpTo());
    if (purge == null || (purge.isSoft() && !response.facts().isFresh(purge.epochSeconds()))) {
      return response;
    }
    if (!purge.isSoft()) {
      response.release();
      return null;
    }
    StoredResponse stale = response.staleSince(purge.epochSeconds());
    stale.unpurged(0, upTo);
    return stale;
  }

  /** How many responses were removed by purges of tags, prefixes and hosts, and of all. */
  long removed() {
    return removed.sum();
  }

  /** How many responses were made stale by purges. */
  long madeStale() {
    return madeStale.sum();
  }
}
