package io.kamille.cache.decision;

import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.Storability;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What would become of a request, and why. Immutable.
 *
 * @param decision what is done
 * @param forward why it goes toward the origin, or null if it does not (RFC 9211 §2.2)
 * @param key what its response is found by, in the form that equivalent target URIs share (RFC 9111
 *     §2); null if no cache is asked
 * @param because the steps to it, in order
 * @param deciding the step that decides
 * @param status the status code if the answer is an error of our own; else 0
 * @param notStored why the last response for the key was not stored; null if it was, or nobody
 *     knows
 */
public record Explanation(
    Decision decision,
    @Nullable ForwardReason forward,
    @Nullable String key,
    List<Reason> because,
    Reason deciding,
    int status,
    @Nullable Storability notStored) {

  public Explanation {
    because = List.copyOf(because);
  }

  /** One that no stored response has a part in; its last step decides. */
  public static Explanation of(
      Decision decision, @Nullable String key, List<Reason> because, int status) {
    return new Explanation(decision, null, key, because, because.getLast(), status, null);
  }

  /** The same behind other steps. */
  public Explanation after(List<Reason> before) {
    List<Reason> all = Stream.concat(before.stream(), because.stream()).toList();
    return new Explanation(decision, forward, key, all, deciding, status, notStored);
  }
}
