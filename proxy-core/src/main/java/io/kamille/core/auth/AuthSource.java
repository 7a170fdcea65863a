package io.kamille.core.auth;

import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/** What checks go by, and may change at any time. Any thread. */
abstract class AuthSource<T> {

  private static final System.Logger LOG = System.getLogger("kamille.auth");

  private final String name;
  // Volatile: replaced by whoever looks, read on the loops.
  private volatile @Nullable T value;

  // Confined to whoever looks, one at a time.
  private String lastProblem = "";

  AuthSource(String name) {
    this.name = name;
  }

  /** What it had when it was right last; null if it never was. */
  final @Nullable T value() {
    return value;
  }

  /** Looks whether it has changed. Blocks for a file. One thread at a time. */
  abstract void look(long nowNanos);

  /** It is no longer right for what clients send: a look soon is welcome. */
  void doubt() {}

  final void replace(T next) {
    value = next;
    if (!lastProblem.isEmpty()) {
      LOG.log(Level.INFO, "{0} is right again", name);
      lastProblem = "";
    }
  }

  /** What it has is not right: what it had last goes on, and the log says so once. */
  final void keep(String problem) {
    if (!problem.equals(lastProblem)) {
      lastProblem = problem;
      LOG.log(Level.ERROR, "{0}; what {1} had last goes on", problem, name);
    }
  }
}
