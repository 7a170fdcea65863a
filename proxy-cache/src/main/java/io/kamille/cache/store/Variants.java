package io.kamille.cache.store;

import io.kamille.core.http.RequestHead;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The stored responses under one cache key, told apart by the request fields that {@code Vary}
 * names (RFC 9111 §4.1); the most recent by {@code Date} first.
 *
 * <p>Immutable; any thread. Who keeps it holds one lease on each response in it and on each of
 * their coded forms.
 */
public final class Variants {

  /*
   * A hostile or careless origin can name a field that differs in every request. The limit makes
   * that cost little memory and a short search; the oldest makes room.
   *
   * Of several that a request selects, the most recent is used (§4), but for one case: some origins
   * forget Vary on the response for requests without preferences, which would then answer everybody.
   * So a response without Vary steps back behind a fresh one that has it (§4.1).
   */
  private static final int LIMIT = 16;

  private final StoredResponse[] responses;

  private Variants(StoredResponse[] responses) {
    this.responses = responses;
  }

  /** One response alone. */
  public static Variants of(StoredResponse response) {
    return new Variants(new StoredResponse[] {response});
  }

  /** These with {@code response}, in place of those selected by the same fields. */
  public Variants with(StoredResponse response) {
    StoredResponse[] all = new StoredResponse[Math.min(responses.length + 1, LIMIT)];
    int count = 0;
    boolean isPlaced = false;
    for (StoredResponse other : responses) {
      if (!isPlaced && other.facts().date() <= response.facts().date()) {
        all[count++] = response;
        isPlaced = true;
      }
      boolean isRoom = count < (isPlaced ? all.length : all.length - 1);
      if (isRoom && !other.selecting().equals(response.selecting())) {
        all[count++] = other;
      }
    }
    if (!isPlaced) {
      all[count++] = response;
    }
    return new Variants(Arrays.copyOf(all, count));
  }

  /** These with another in the place of one, or without that one; null if none is left. */
  public @Nullable Variants replacing(StoredResponse one, @Nullable StoredResponse other) {
    StoredResponse[] all = new StoredResponse[responses.length];
    int count = 0;
    for (StoredResponse response : responses) {
      StoredResponse kept = response == one ? other : response;
      if (kept != null) {
        all[count++] = kept;
      }
    }
    return count == 0 ? null : new Variants(Arrays.copyOf(all, count));
  }

  /** Whether none of them fell under a purge up to that number. */
  public boolean areUnpurgedUpTo(long purge) {
    for (StoredResponse response : responses) {
      if (response.unpurgedUpTo() < purge) {
        return false;
      }
    }
    return true;
  }

  /** The response to use for this request, or null. Takes no lease. */
  public @Nullable StoredResponse select(RequestHead request, long nowEpochSeconds) {
    StoredResponse selected = null;
    for (StoredResponse response : responses) {
      if (response.selecting().matches(request)) {
        if (selected == null) {
          selected = response;
          if (!selected.selecting().isEmpty()) {
            return selected;
          }
        } else if (!response.selecting().isEmpty() && response.facts().isFresh(nowEpochSeconds)) {
          return response;
        }
      }
    }
    return selected;
  }

  public int size() {
    return responses.length;
  }

  /** How many responses and coded forms there are. */
  public int formCount() {
    int count = responses.length;
    for (StoredResponse response : responses) {
      count += response.forms().all().size();
    }
    return count;
  }

  /** The response at {@code index}, 0 being the most recent. */
  public StoredResponse at(int index) {
    return responses[index];
  }

  public boolean contains(StoredResponse response) {
    for (StoredResponse own : responses) {
      if (own == response) {
        return true;
      }
    }
    return false;
  }

  /** How many tags they have together. */
  public int tags() {
    int sum = 0;
    for (StoredResponse response : responses) {
      sum += response.facts().tags().size();
    }
    return sum;
  }

  /** What their selecting fields take on the heap. */
  public long selectingBytes() {
    long sum = 0;
    for (StoredResponse response : responses) {
      sum += response.selecting().heapBytes();
    }
    return sum;
  }

  /** What all of them take in their tier. */
  public long occupiedBytes() {
    long sum = 0;
    for (StoredResponse response : responses) {
      sum += response.occupiedBytes();
    }
    return sum;
  }

  /** The response with the content of that one, whatever has become of its head; or null. */
  public @Nullable StoredResponse sameContent(StoredResponse as) {
    for (StoredResponse own : responses) {
      if (own.isSameContent(as)) {
        return own;
      }
    }
    return null;
  }

  /** Ends one lease on each response that is not in {@code kept}. */
  public void releaseExcept(@Nullable Variants kept) {
    for (StoredResponse response : responses) {
      if (kept == null || !kept.contains(response)) {
        response.forget();
      }
    }
  }
}
