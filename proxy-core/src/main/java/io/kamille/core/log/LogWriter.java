package io.kamille.core.log;

import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/** Turns the records of all rings into lines and writes them in batches. Confined to its thread. */
final class LogWriter {

  /*
   * Trouble is told once and counted always: the first failed write of a row, and dropped records
   * at most once a minute. When a write broke off within a line, the next one begins with a line
   * feed, so that at most one line is spoilt.
   */
  private static final int BATCH_BYTES = 64 << 10;
  private static final long REPORT_NANOS = Duration.ofMinutes(1).toNanos();

  private final List<RecordRing> rings;
  private final LineFormat format;
  private final LogDestination destination;
  private final LogWriterMetrics metrics;
  private final WallClock clock;
  private final System.Logger logger;
  private final LogRecord record = new LogRecord();
  private final LineBuffer lines = new LineBuffer(BATCH_BYTES + (16 << 10));
  private int linesInBatch;
  private boolean isFailing;
  private boolean isLineBroken;
  private long droppedReported;
  private long reportDueNanos;

  /**
   * What is counted about lines.
   *
   * @param dropped found no room, as the loops count it
   * @param lost were in a write that failed
   */
  record LogWriterMetrics(LongSupplier dropped, Counter written, Counter lost, Counter errors) {}

  /** A writer for these rings, of which there may become more. */
  LogWriter(
      List<RecordRing> rings,
      LineFormat format,
      LogDestination destination,
      LogWriterMetrics metrics,
      WallClock clock,
      System.Logger logger) {
    this.rings = rings;
    this.format = format;
    this.destination = destination;
    this.metrics = metrics;
    this.clock = clock;
    this.logger = logger;
    this.reportDueNanos = clock.nanos();
  }

  /** Writes a batch of every ring that has something; false if none had. */
  boolean drain() {
    boolean found = false;
    for (RecordRing ring : rings) {
      int offset = ring.peek();
      found |= offset >= 0;
      while (offset >= 0 && lines.length() < BATCH_BYTES) {
        append(ring, offset);
        offset = ring.peek();
      }
      write();
    }
    if (clock.nanos() - reportDueNanos >= 0) {
      reportDropped();
    }
    return found;
  }

  /** A record that makes no line is the loss of that one. */
  private void append(RecordRing ring, int offset) {
    int before = lines.length();
    boolean isWhole = false;
    try {
      format.append(record.at(ring.octets(), offset), lines);
      linesInBatch++;
      isWhole = true;
    } finally {
      ring.release();
      if (!isWhole) {
        lines.cut(before);
        metrics.lost().increment();
      }
    }
  }

  private void write() {
    if (linesInBatch == 0) {
      return;
    }
    ByteBuffer content = lines.content();
    try {
      if (isLineBroken) {
        destination.write(ByteBuffer.wrap(new byte[] {'\n'}));
        isLineBroken = false;
      }
      destination.write(content);
      metrics.written().add(linesInBatch);
      isFailing = false;
    } catch (IOException failure) {
      metrics.errors().increment();
      metrics.lost().add(linesInBatch);
      isLineBroken |= content.position() > 0 && content.get(content.position() - 1) != '\n';
      if (!isFailing) {
        isFailing = true;
        logger.log(System.Logger.Level.ERROR, "access log: lines are lost: " + why(failure));
      }
    } finally {
      lines.cut(0);
      linesInBatch = 0;
    }
  }

  private void reportDropped() {
    long now = metrics.dropped().getAsLong();
    if (now > droppedReported) {
      logger.log(
          System.Logger.Level.WARNING,
          "access log: "
              + (now - droppedReported)
              + " lines dropped: they came faster than they could be written");
      droppedReported = now;
      reportDueNanos = clock.nanos() + REPORT_NANOS;
    }
  }

  /** Begins a new file of the same name. */
  void reopen() {
    try {
      destination.reopen();
      isLineBroken = false;
    } catch (IOException failure) {
      logger.log(
          System.Logger.Level.ERROR,
          "access log: not reopened, the old file is used: " + why(failure));
    }
  }

  /** Writes everything that waits, tells what was dropped, and closes. */
  void close() {
    while (drain()) {}
    reportDropped();
    try {
      destination.close();
    } catch (IOException failure) {
      logger.log(System.Logger.Level.ERROR, "access log: not closed: " + why(failure));
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
