package io.kamille.core.auth;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SmallFile;
import io.kamille.core.setting.WatchedFiles;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What credentials are checked against, and may change at any time. Any thread. */
class AuthSource<T> {

  static final int LIMIT_BYTES = 1 << 20;

  private static final System.Logger LOG = System.getLogger("kamille.auth");
  private static final AtomicLong NUMBERS = new AtomicLong();

  /** Makes a value of what was read. */
  @FunctionalInterface
  interface Parser<T> {
    T parse(byte[] content) throws IOException;
  }

  /** Where it is read; null if that has not changed. */
  @FunctionalInterface
  interface Place {
    byte @Nullable [] poll() throws IOException;
  }

  /**
   * What was read.
   *
   * @param number another one for each reading
   */
  record Known<T>(long number, T value) {}

  private final String name;
  private final Place place;
  private final Parser<T> parser;
  // Volatile: replaced by whoever looks, read on the loops.
  private volatile @Nullable Known<T> known;

  // What it was made of: a file that was merely touched ends no verdict.
  @GuardedBy("this")
  private byte[] last = {};

  @GuardedBy("this")
  private String lastProblem = "";

  /** A file, which is not read before it is looked at. */
  AuthSource(Path file, Parser<T> parser) {
    var watched = new WatchedFiles(List.of(file));
    this(
        file.toAbsolutePath().toString(),
        () -> watched.poll(() -> SmallFile.read(file, LIMIT_BYTES)),
        parser);
  }

  AuthSource(String name, Place place, Parser<T> parser) {
    this.name = name;
    this.place = place;
    this.parser = parser;
  }

  /**
   * Reads such a file once.
   *
   * @throws IOException if it is not right
   */
  static <T> T read(Path file, Parser<T> parser) throws IOException {
    return parser.parse(SmallFile.read(file, LIMIT_BYTES));
  }

  /** What it had when it was right last; null if it never was. */
  final @Nullable Known<T> known() {
    return known;
  }

  /** The same, where it was right once. */
  final T value() {
    return Objects.requireNonNull(known).value();
  }

  /** Looks whether it has changed. Blocks for a file. One thread at a time. */
  void poll() {
    try {
      byte[] content = place.poll();
      if (content != null) {
        take(content);
      }
    } catch (IOException wrong) {
      keep(Problems.reason(wrong));
    }
  }

  /** It is no longer right for what clients send: a look soon is welcome. */
  void doubt() {}

  final synchronized void take(byte[] content) throws IOException {
    if (known == null || !Arrays.equals(content, last)) {
      known = new Known<>(NUMBERS.incrementAndGet(), parser.parse(content));
      last = content;
    }
    if (!lastProblem.isEmpty()) {
      LOG.log(Level.INFO, "{0} is right again", name);
      lastProblem = "";
    }
  }

  /** What it has is not right: what it had last stays in force, and the log says so once. */
  final synchronized void keep(String problem) {
    if (!problem.equals(lastProblem)) {
      lastProblem = problem;
      String now =
          known == null ? "requests get 503 until it is right" : "the last one stays in force";
      LOG.log(Level.ERROR, "{0}: {1}; {2}", name, problem, now);
    }
  }
}
