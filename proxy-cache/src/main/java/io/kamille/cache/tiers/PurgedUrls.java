package io.kamille.cache.tiers;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.purge.Purge;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.StoredResponse;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SequencedMap;

/**
 * What the last purges of operators have removed or made stale, the hottest of it, so that it can
 * be fetched again. Any thread but the loops: it locks.
 */
public final class PurgedUrls {

  /*
   * A loop that meets a purged response asks the origin for it at once, so only what the sweep finds
   * is worth remembering.
   */
  static final int PURGES = 10;
  static final int MOST = 1000;
  private static final int LENGTH_LIMIT = 2048;
  private static final Comparator<PurgedUrl> BY_HITS = Comparator.comparingInt(PurgedUrl::hits);

  /**
   * A response that was purged.
   *
   * @param hits answers that were made of it
   * @param selecting the request fields that it was selected by
   */
  public record PurgedUrl(String uri, int hits, SelectingFields selecting) {}

  @GuardedBy("this")
  private final SequencedMap<Purge, PriorityQueue<PurgedUrl>> coldestFirst = new LinkedHashMap<>();

  /** Remembers a response, on which the caller holds a lease. */
  synchronized void add(Purge purge, StoredResponse response) {
    if (purge.shown().kind() == Scope.GROUP) {
      return;
    }
    PriorityQueue<PurgedUrl> urls =
        coldestFirst.computeIfAbsent(purge, _ -> new PriorityQueue<>(BY_HITS));
    if (coldestFirst.size() > PURGES) {
      coldestFirst.pollFirstEntry();
    }
    PurgedUrl coldest = urls.size() < MOST ? null : urls.peek();
    String uri = coldest == null || coldest.hits() < response.hits() ? response.uri() : "";
    if (!uri.isEmpty() && uri.length() <= LENGTH_LIMIT) {
      if (coldest != null) {
        urls.remove();
      }
      urls.add(new PurgedUrl(uri, response.hits(), response.selecting()));
    }
  }

  /** What that purge did, the hottest first; empty if it is not remembered. */
  public synchronized List<PurgedUrl> of(Purge purge) {
    PriorityQueue<PurgedUrl> urls = coldestFirst.get(purge);
    return urls == null ? List.of() : urls.stream().sorted(BY_HITS.reversed()).toList();
  }
}
