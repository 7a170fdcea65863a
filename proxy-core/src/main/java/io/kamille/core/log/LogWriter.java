package io.kamille.core.log;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Writes the lines of all rings to a file that is only ever appended to, or to standard output.
 * Confined to its thread.
 */
final class LogWriter {

  /*
   * Trouble is told once and counted always: the first failed write of a row, and dropped lines at
   * most once a minute. When a write broke off within a line, the next one begins with a line feed,
   * so that at most one line is spoilt.
   */
  static final MetricDescriptor LINES =
      MetricDescriptor.counter(
          "kamille_access_log_lines_total", "Lines written to the access log.");
  static final MetricDescriptor DROPPED =
      MetricDescriptor.counter(
          "kamille_access_log_dropped_lines_total",
          "Lines missing from the access log: buffer-full, they came faster than they could be"
              + " written; write-error, the write failed.",
          "reason");
  static final MetricDescriptor WRITE_ERRORS =
      MetricDescriptor.counter(
          "kamille_access_log_write_errors_total", "Writes to the access log that failed.");

  private static final long REPORT_NANOS = Duration.ofMinutes(1).toNanos();

  private final Optional<Path> file;
  private final MetricRegistry registry;
  private final WallClock clock;
  private final System.Logger logger;
  private final List<LineRing> rings = new CopyOnWriteArrayList<>();
  private final ByteBuffer batch;
  private final Counter written;
  private final Counter lost;
  private final Counter errors;
  private WritableByteChannel channel;
  private boolean isFailing;
  private boolean isLineBroken;
  private long droppedReported;
  private long reportDueNanos;

  /**
   * A writer without rings.
   *
   * @param file empty for standard output, which stays open
   * @param channel to that file
   * @param ringBytes the capacity of each ring, a power of two
   */
  LogWriter(
      Optional<Path> file,
      WritableByteChannel channel,
      int ringBytes,
      MetricRegistry registry,
      WallClock clock,
      System.Logger logger) {
    this.file = file;
    this.channel = channel;
    this.batch = ByteBuffer.allocateDirect(ringBytes);
    this.registry = registry;
    this.clock = clock;
    this.logger = logger;
    this.written = registry.counter(LINES);
    this.lost = registry.counter(DROPPED, "write-error");
    this.errors = registry.counter(WRITE_ERRORS);
    this.reportDueNanos = clock.nanos();
  }

  /** Opens the file or creates it; standard output if there is none. */
  static WritableByteChannel open(Optional<Path> file) throws IOException {
    return file.isPresent()
        ? FileChannel.open(file.get(), CREATE, APPEND)
        : new FileOutputStream(FileDescriptor.out).getChannel();
  }

  /** A ring for one loop more. Any thread. */
  LineRing newRing() {
    Counter dropped = registry.counter(DROPPED, "buffer-full");
    LineRing ring = new LineRing(batch.capacity(), dropped);
    rings.add(ring);
    return ring;
  }

  /** Writes what waits in every ring; false if nothing did. */
  boolean drain() {
    boolean found = false;
    for (LineRing ring : rings) {
      ring.drainTo(batch.clear());
      if (batch.flip().hasRemaining()) {
        found = true;
        write();
      }
    }
    if (clock.nanos() - reportDueNanos >= 0) {
      reportDropped();
    }
    return found;
  }

  private void write() {
    try {
      if (isLineBroken) {
        channel.write(ByteBuffer.wrap(new byte[] {'\n'}));
        isLineBroken = false;
      }
      while (batch.hasRemaining()) {
        channel.write(batch);
      }
      isFailing = false;
    } catch (IOException failure) {
      errors.increment();
      isLineBroken |= batch.position() > 0 && batch.get(batch.position() - 1) != '\n';
      if (!isFailing) {
        isFailing = true;
        logger.log(Level.ERROR, "access log: lines are lost: " + why(failure));
      }
    } finally {
      written.add(lines(0, batch.position()));
      lost.add(lines(batch.position(), batch.limit()));
    }
  }

  private int lines(int start, int end) {
    int lines = 0;
    for (int i = start; i < end; i++) {
      lines += batch.get(i) == '\n' ? 1 : 0;
    }
    return lines;
  }

  private void reportDropped() {
    long now = rings.stream().mapToLong(LineRing::dropped).sum();
    if (now > droppedReported) {
      logger.log(
          Level.WARNING,
          "access log: "
              + (now - droppedReported)
              + " lines dropped: they came faster than they could be written");
      droppedReported = now;
      reportDueNanos = clock.nanos() + REPORT_NANOS;
    }
  }

  /** Begins a new file of the same name. On failure the old one stays. */
  void reopen() {
    try {
      if (file.isPresent()) {
        WritableByteChannel old = channel;
        channel = open(file);
        old.close();
      }
      isLineBroken = false;
    } catch (IOException failure) {
      logger.log(Level.ERROR, "access log: not reopened, the old file is used: " + why(failure));
    }
  }

  /** Writes everything that waits, tells what was dropped, and closes. */
  void close() {
    while (drain()) {}
    reportDropped();
    try {
      if (file.isPresent()) {
        channel.close();
      }
    } catch (IOException failure) {
      logger.log(Level.ERROR, "access log: not closed: " + why(failure));
    }
  }

  static String why(IOException failed) {
    String file = String.valueOf(failed.getMessage());
    return switch (failed) {
      case NoSuchFileException _ -> file + ": its directory does not exist";
      case AccessDeniedException _ -> file + ": no permission";
      default -> file;
    };
  }
}
