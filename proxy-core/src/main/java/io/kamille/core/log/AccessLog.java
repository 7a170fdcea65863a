package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.log.LogWriter.LogWriterMetrics;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/** The access log with a ring for each loop and one thread that writes. Any thread. */
public final class AccessLog implements AutoCloseable {

  /*
   *   loop ──► ring ─┐
   *   loop ──► ring ─┼─► writer ──► file
   *   loop ──► ring ─┘
   *
   * The writer looks at the rings ten times a second; a loop wakes it only when its ring is half
   * full, because a wake-up costs more than many records. Lines of one loop are in order, lines of
   * different loops may be exchanged within that time.
   */
  static final MetricDescriptor LINES =
      MetricDescriptor.counter(
          "kamille_access_log_lines_total", Unit.COUNT, "Lines written to the access log.");
  static final MetricDescriptor DROPPED =
      MetricDescriptor.counter(
          "kamille_access_log_dropped_lines_total",
          Unit.COUNT,
          "Lines missing from the access log: buffer-full, they came faster than they could be"
              + " written; write-error, the write failed.",
          "reason");
  static final MetricDescriptor WRITE_ERRORS =
      MetricDescriptor.counter(
          "kamille_access_log_write_errors_total",
          Unit.COUNT,
          "Writes to the access log that failed.");

  private static final System.Logger LOGGER = System.getLogger("kamille.log");

  /** For records of one loop that wait to be written. */
  private static final int BUFFER_BYTES = 1 << 20;

  private static final long LOOK_NANOS = Duration.ofMillis(100).toNanos();
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final AccessLogSettings settings;
  private final int bufferBytes;
  private final MetricRegistry registry;
  private final WallClock clock;
  private final List<RecordRing> rings = new CopyOnWriteArrayList<>();
  private final List<Counter> dropped = new CopyOnWriteArrayList<>();
  private final LogWriter writer;
  private final Thread thread;
  // Volatile: set by whoever asks, read by the writer at each look.
  private volatile boolean isReopenAsked;
  private volatile boolean isClosing;

  private AccessLog(
      AccessLogSettings settings,
      LogDestination destination,
      int bufferBytes,
      MetricRegistry registry,
      WallClock clock) {
    this.settings = settings;
    this.bufferBytes = bufferBytes;
    this.registry = registry;
    this.clock = clock;
    LogWriterMetrics metrics =
        new LogWriterMetrics(
            this::dropped,
            registry.counter(LINES),
            registry.counter(DROPPED, "write-error"),
            registry.counter(WRITE_ERRORS));
    this.writer = new LogWriter(rings, format(settings), destination, metrics, clock, LOGGER);
    this.thread = Thread.ofPlatform().name("kamille-access-log").daemon().unstarted(this::run);
  }

  /**
   * Opens the file or standard output and starts the writer.
   *
   * @throws IOException if the file cannot be appended to
   */
  public static AccessLog open(AccessLogSettings settings, MetricRegistry registry, WallClock clock)
      throws IOException {
    return start(settings, LogFile.open(settings.output()), BUFFER_BYTES, registry, clock);
  }

  /** What failed, for people: the file, and what is missing. */
  public static String why(IOException failed) {
    return LogWriter.why(failed);
  }

  static AccessLog start(
      AccessLogSettings settings,
      LogDestination destination,
      int bufferBytes,
      MetricRegistry registry,
      WallClock clock) {
    AccessLog log = new AccessLog(settings, destination, bufferBytes, registry, clock);
    log.thread.start();
    return log;
  }

  /**
   * The entrance for one loop more, confined to it. It never blocks and never allocates: an
   * exchange that finds no room is dropped and counted.
   */
  public ExchangeObserver forLoop() {
    RecordRing ring = new RecordRing(bufferBytes);
    Counter counter = registry.counter(DROPPED, "buffer-full");
    dropped.add(counter);
    rings.add(ring);
    return new ExchangeRecorder(ring, this::wake, counter, clock, settings);
  }

  /**
   * The station before {@code next} that notes what lines have of responses; {@code next} itself if
   * they have nothing.
   */
  public ExchangeHandler before(ExchangeHandler next) {
    return settings.fields().hasOfResponses() ? new ResponseFields(next) : next;
  }

  static LineFormat format(AccessLogSettings settings) {
    List<LoggedField> added = settings.fields().add();
    return switch (settings.format()) {
      case COMBINED -> new CombinedFormat(added);
      case JSON -> new JsonFormat(added);
    };
  }

  private long dropped() {
    return dropped.stream().mapToLong(Counter::value).sum();
  }

  private void wake() {
    LockSupport.unpark(thread);
  }

  private void run() {
    new SteadyTask(LOGGER, "access log: lines are lost", this::takeTurn)
        .repeatUntil(() -> isClosing);
    writer.close();
  }

  private void takeTurn() {
    if (isReopenAsked) {
      isReopenAsked = false;
      writer.reopen();
    }
    if (!writer.drain()) {
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
  }

  /** Asks the writer to open the file anew, after it was renamed. Returns at once. */
  public void reopen() {
    isReopenAsked = true;
    wake();
  }

  /**
   * Writes what waits, for a few seconds at most, and closes the file. The loops must have stopped:
   * what they note afterwards is lost.
   */
  @Override
  public void close() {
    isClosing = true;
    wake();
    try {
      if (!thread.join(CLOSE_LIMIT)) {
        LOGGER.log(
            System.Logger.Level.ERROR, "access log: lines are lost: not written in " + CLOSE_LIMIT);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
