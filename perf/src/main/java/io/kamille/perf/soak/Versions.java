package io.kamille.perf.soak;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which version of everything the origin has, and which one a cache may still show. Any thread.
 *
 * <p>Who changes a subject by an unsafe request, or purges it after a change, forbids what was
 * before as soon as the answer is complete; a request that begins then must not get it.
 */
final class Versions {

  private final Map<Subject, Long> current = new ConcurrentHashMap<>();
  private final Map<Subject, Long> least = new ConcurrentHashMap<>();

  /** What the origin has now. */
  long current(Subject subject) {
    return current.getOrDefault(subject, 0L);
  }

  /** Makes a new version at the origin, and returns it. */
  long change(Subject subject) {
    return current.merge(subject, 1L, Long::sum);
  }

  /** The oldest version that a request beginning now may get. */
  long least(Subject subject) {
    return least.getOrDefault(subject, 0L);
  }

  /** From now on no request may get what is older. */
  void forbidBefore(Subject subject, long version) {
    least.merge(subject, version, Math::max);
  }
}
