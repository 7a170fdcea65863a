package io.kamille.cluster;

import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether a history has an order that explains it, in which each operation takes effect between its
 * call and its return (Herlihy and Wing, Linearizability, 1990).
 */
final class Linearizability {

  /*
   * The search of Wing and Gong, Testing and Verifying Concurrent Objects, 1993: first comes some
   * operation that was called before any of the others returned. What was seen before is not
   * searched again. An operation that never returned may take effect at any time, or never.
   */
  static final long NEVER = Long.MAX_VALUE;

  /** What an operation makes of a state; null if it could not have had its result then. */
  @FunctionalInterface
  interface Effect<S> {
    @Nullable S on(S state);
  }

  /**
   * An operation.
   *
   * @param returned {@link #NEVER} if its result is unknown
   */
  record Operation<S>(long called, long returned, Effect<S> effect) {}

  private record Seen(BitSet done, Object state) {}

  private Linearizability() {}

  static <S> boolean holds(List<Operation<S>> history, S first) {
    List<Operation<S>> inOrder =
        history.stream().sorted(Comparator.comparingLong(Operation::called)).toList();
    return holds(inOrder, new BitSet(), first, new HashSet<>());
  }

  private static <S> boolean holds(
      List<Operation<S>> history, BitSet done, S state, Set<Seen> seen) {
    long earliest = NEVER;
    for (int i = done.nextClearBit(0); i < history.size(); i = done.nextClearBit(i + 1)) {
      earliest = Math.min(earliest, history.get(i).returned());
    }
    if (earliest == NEVER) {
      return true;
    }
    if (!seen.add(new Seen((BitSet) done.clone(), state))) {
      return false;
    }
    for (int i = done.nextClearBit(0); i < history.size(); i = done.nextClearBit(i + 1)) {
      Operation<S> next = history.get(i);
      if (next.called() > earliest) {
        return false;
      }
      S after = next.effect().on(state);
      if (after != null) {
        done.set(i);
        if (holds(history, done, after, seen)) {
          return true;
        }
        done.clear(i);
      }
    }
    return false;
  }
}
