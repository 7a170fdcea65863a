package io.kamille.core.auth;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What credentials are checked against, and may change at any time. Any thread. */
abstract class AuthSource<T> {

  static final int LIMIT_BYTES = 1 << 20;

  private static final System.Logger LOG = System.getLogger("kamille.auth");
  private static final AtomicLong NUMBERS = new AtomicLong();

  /** Makes a value of what was read. */
  @FunctionalInterface
  interface Parser<T> {
    T parse(byte[] content) throws IOException;
  }

  /**
   * What was read.
   *
   * @param number another one for each reading
   */
  record Known<T>(long number, T value) {}

  private final String name;
  private final Parser<T> parser;
  // Volatile: replaced by whoever looks, read on the loops.
  private volatile @Nullable Known<T> known;

  @GuardedBy("this")
  private String lastProblem = "";

  AuthSource(String name, Parser<T> parser) {
    this.name = name;
    this.parser = parser;
  }

  /** What it had when it was right last; null if it never was. */
  final @Nullable Known<T> known() {
    return known;
  }

  /** Looks whether it has changed. Blocks for a file. One thread at a time. */
  abstract void look();

  /** It is no longer right for what clients send: a look soon is welcome. */
  void doubt() {}

  final synchronized void take(byte[] content) throws IOException {
    known = new Known<>(NUMBERS.incrementAndGet(), parser.parse(content));
    if (!lastProblem.isEmpty()) {
      LOG.log(Level.INFO, "{0} is right again", name);
      lastProblem = "";
    }
  }

  /** What it has is not right: what it had last goes on, and the log says so once. */
  final synchronized void keep(String problem) {
    if (!problem.equals(lastProblem)) {
      lastProblem = problem;
      LOG.log(Level.ERROR, "{0}: {1}; what it had last goes on", name, problem);
    }
  }
}
