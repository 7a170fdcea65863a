package io.kamille.cache.decision;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import java.util.List;
import java.util.Locale;
import java.util.Set;
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
 * @param status the status code if the answer is an error of our own; else 0
 */
public record Explanation(
    Decision decision,
    @Nullable ForwardReason forward,
    @Nullable String key,
    List<Reason> because,
    int status) {

  static final String LAST_NOT_STORED = "the last response was not stored: ";

  /** Rules of steps behind the one that decides. They tell what else is done. */
  private static final Set<String> DESCRIBING =
      Set.of(
          "coding",
          "fill-around",
          "invalidation",
          "owner",
          "rate-limit",
          "headers",
          "mirror",
          "upload-buffer",
          "head-timeout",
          "content-timeout",
          "response-buffer");

  public Explanation {
    because = List.copyOf(because);
  }

  /** One whose answer is no error of our own. */
  public Explanation(
      Decision decision,
      @Nullable ForwardReason forward,
      @Nullable String key,
      List<Reason> because) {
    this(decision, forward, key, because, 0);
  }

  /** The same behind other reasons. */
  public Explanation after(List<Reason> before) {
    return new Explanation(
        decision, forward, key, Stream.concat(before.stream(), because.stream()).toList(), status);
  }

  /** The same with one more step. */
  public Explanation and(Reason step) {
    return new Explanation(
        decision, forward, key, Stream.concat(because.stream(), Stream.of(step)).toList(), status);
  }

  /** The step that decides. */
  public Reason deciding() {
    return because.reversed().stream()
        .filter(step -> !DESCRIBING.contains(step.rule()) && !isOfLastResponse(step))
        .findFirst()
        .orElseGet(because::getLast);
  }

  /** Why the last response for the key was not stored; null if it was, or nobody knows. */
  public @Nullable String whyNotStored() {
    return because.stream()
        .filter(Explanation::isOfLastResponse)
        .map(step -> step.so().substring(LAST_NOT_STORED.length()))
        .findFirst()
        .orElse(null);
  }

  private static boolean isOfLastResponse(Reason step) {
    return step.so().startsWith(LAST_NOT_STORED);
  }

  /** What is done with a request. */
  public enum Decision {
    /** A stored response is the answer. */
    SERVE,
    /** A stored response is the answer, and the origin is asked about it meanwhile. */
    SERVE_STALE,
    /** The origin is asked whether a stored response is still good. */
    VALIDATE,
    /** The origin is asked for the response, which may be stored. */
    FORWARD,
    /** The origin is asked for the response, which will not be stored. */
    PASS,
    /** The answer is our own, by the settings of the route. */
    ANSWER,
    /** What is stored under the key is removed, if the client may ask for it. */
    PURGE,
    /** The answer is an error of our own. */
    REFUSE;

    /** A token for programs. */
    public String token() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }
}
