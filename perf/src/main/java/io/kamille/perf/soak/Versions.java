package io.kamille.perf.soak;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which version of everything the origin has, and which one a cache may still show. Any thread.
 *
 * <p>Who changes a subject by an unsafe request, or purges it after a change, forbids what was
 * before as soon as the answer is complete; a request that begins then must not get it.
 */
final class Versions {

  private final Map<Family, AtomicLongArray> current = new EnumMap<>(Family.class);
  private final Map<Family, AtomicLongArray> least = new EnumMap<>(Family.class);

  Versions() {
    for (Family family : Family.values()) {
      current.put(family, new AtomicLongArray(family.count()));
      least.put(family, new AtomicLongArray(family.count()));
    }
  }

  /** What the origin has now. */
  long current(Subject subject) {
    return of(current, subject).get(subject.number());
  }

  /** Makes a new version at the origin, and returns it. */
  long change(Subject subject) {
    return of(current, subject).incrementAndGet(subject.number());
  }

  /** The oldest version that a request beginning now may get. */
  long least(Subject subject) {
    return of(least, subject).get(subject.number());
  }

  /** From now on no request may get what is older. */
  void forbidBefore(Subject subject, long version) {
    of(least, subject).accumulateAndGet(subject.number(), version, Math::max);
  }

  private static AtomicLongArray of(Map<Family, AtomicLongArray> of, Subject subject) {
    AtomicLongArray array = of.get(subject.family());
    if (array == null) {
      throw new IllegalStateException("no versions of " + subject.family());
    }
    return array;
  }
}
