package io.kamille.cache.store;

import io.kamille.core.http.RequestHead;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Two responses or more under one key, the most recent by {@code Date} first. */
final class SeveralVariants implements Variants {

  /*
   * A hostile or careless origin can name a field that differs in every request. The limit makes
   * that cost little memory and a short search; the oldest makes room. A limit that was lowered
   * holds from the next response on.
   *
   * Of several that a request selects, the most recent is used (§4), but for one case: some origins
   * forget Vary on the response for requests without preferences, which would then answer
   * everybody. So a response without Vary steps back behind a fresh one that has it (§4.1).
   */
  private final StoredResponse[] responses;

  private SeveralVariants(StoredResponse[] responses) {
    this.responses = responses;
  }

  private static Variants of(StoredResponse[] all, int count) {
    return count == 1 ? all[0] : new SeveralVariants(Arrays.copyOf(all, count));
  }

  /** What was there with {@code response}, in place of those selected by the same fields. */
  static Variants of(Variants before, StoredResponse response, int limit) {
    StoredResponse[] all = new StoredResponse[Math.min(before.size() + 1, limit)];
    int count = 0;
    boolean isPlaced = false;
    for (int i = 0; i < before.size(); i++) {
      StoredResponse other = before.at(i);
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
    return of(all, count);
  }

  @Override
  public @Nullable Variants replacing(StoredResponse one, @Nullable StoredResponse other) {
    StoredResponse[] all = new StoredResponse[responses.length];
    int count = 0;
    for (StoredResponse response : responses) {
      StoredResponse kept = response == one ? other : response;
      if (kept != null) {
        all[count++] = kept;
      }
    }
    return count == 0 ? null : of(all, count);
  }

  @Override
  public @Nullable StoredResponse select(RequestHead request, long nowEpochSeconds) {
    StoredResponse selected = null;
    for (StoredResponse response : responses) {
      if (response.answers(request)) {
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

  @Override
  public int size() {
    return responses.length;
  }

  @Override
  public StoredResponse at(int index) {
    return responses[index];
  }
}
