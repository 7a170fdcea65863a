package io.kamille.cache.store;

import io.kamille.cache.rules.SelectingFields;
import io.kamille.core.http.RequestHead;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stored responses under one cache key, told apart by the request fields that {@code Vary}
 * names (RFC 9111 §4.1); the most recent by {@code Date} first. One response alone is its own.
 *
 * <p>Immutable; any thread. Who keeps it holds one lease on each response in it and on each of
 * their coded forms.
 */
@SuppressWarnings("ReferenceEquality") // a response is itself
public sealed interface Variants permits StoredResponse, SeveralVariants {

  /** How many there may be at the most. */
  int LIMIT = 255;

  /** How many responses there are. */
  int size();

  /** The response at {@code index}, 0 being the most recent. */
  StoredResponse at(int index);

  /** The response to use for this request, or null. Takes no lease. */
  @Nullable StoredResponse select(RequestHead request, long nowEpochSeconds);

  /** These with another in the place of one, or without that one; null if none is left. */
  @Nullable Variants replacing(StoredResponse one, @Nullable StoredResponse other);

  /**
   * These with {@code response}, in place of those selected by the same fields.
   *
   * @param limit how many are kept, the most recent ones
   */
  default Variants with(StoredResponse response, int limit) {
    return SeveralVariants.of(this, response, limit);
  }

  /** Whether none of them fell under a purge up to that number. */
  default boolean areUnpurgedUpTo(long purge) {
    for (int i = 0; i < size(); i++) {
      if (at(i).unpurgedUpTo() < purge) {
        return false;
      }
    }
    return true;
  }

  /** Does that with each that is still there; it borrows a lease. */
  default void forEach(Consumer<StoredResponse> action) {
    for (int i = 0; i < size(); i++) {
      StoredResponse response = at(i);
      if (response.tryRetain()) {
        try {
          action.accept(response);
        } finally {
          response.release();
        }
      }
    }
  }

  /** Whether that very response is among them. */
  default boolean contains(StoredResponse response) {
    for (int i = 0; i < size(); i++) {
      if (at(i) == response) {
        return true;
      }
    }
    return false;
  }

  /** What they take on the heap, nearly. */
  default long heapBytes() {
    long sum = 0;
    for (int i = 0; i < size(); i++) {
      sum += at(i).responseHeapBytes();
    }
    return sum;
  }

  /** What all of them take in their tier. */
  default long allOccupiedBytes() {
    long sum = 0;
    for (int i = 0; i < size(); i++) {
      sum += at(i).occupiedBytes();
    }
    return sum;
  }

  /** The response with the content of that one, whatever has become of its head; or null. */
  default @Nullable StoredResponse sameContent(StoredResponse as) {
    for (int i = 0; i < size(); i++) {
      if (at(i).isSameContent(as)) {
        return at(i);
      }
    }
    return null;
  }

  /** The response that those fields select; or null. */
  default @Nullable StoredResponse selectedBy(SelectingFields fields) {
    for (int i = 0; i < size(); i++) {
      if (at(i).selecting().equals(fields)) {
        return at(i);
      }
    }
    return null;
  }

  /** Ends one lease on each response that is not in {@code kept}. */
  default void releaseExcept(@Nullable Variants kept) {
    for (int i = 0; i < size(); i++) {
      if (kept == null || !kept.contains(at(i))) {
        at(i).forget();
      }
    }
  }
}
