package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.spec.SecretKeySpec;

/** The access log with a ring for each loop and one thread that writes. Any thread. */
public final class AccessLog implements AutoCloseable {

  /*
   *   loop ──► ring ─┐
   *   loop ──► ring ─┼─► writer ──► file
   *   loop ──► ring ─┘
   *
   * A loop makes its lines itself; the writer only moves octets. It looks at the rings ten times a
   * second; a loop wakes it only when its ring is half full, because a wake-up costs more than many
   * lines. Lines of one loop are in order, lines of different loops may be exchanged within that
   * time.
   */
  private static final System.Logger LOGGER = System.getLogger("kamille.log");

  /** For lines of one loop that wait to be written. */
  private static final int BUFFER_BYTES = 1 << 20;

  private static final long LOOK_NANOS = Duration.ofMillis(100).toNanos();
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final AccessLogSettings settings;
  private final WallClock clock;
  private final LogWriter writer;
  private final SecretKeySpec digestKey = FieldDigest.newKey();
  private final Thread thread;
  // Volatile: set by whoever asks, read by the writer at each look.
  private volatile boolean isReopenAsked;
  private volatile boolean isClosing;

  private AccessLog(AccessLogSettings settings, LogWriter writer, WallClock clock) {
    this.settings = settings;
    this.writer = writer;
    this.clock = clock;
    this.thread = Thread.ofPlatform().name("kamille-access-log").daemon().unstarted(this::run);
  }

  /**
   * Opens the file or standard output and starts the writer.
   *
   * @throws IOException if the file cannot be appended to
   */
  public static AccessLog open(AccessLogSettings settings, MetricRegistry registry, WallClock clock)
      throws IOException {
    WritableByteChannel channel = LogWriter.open(settings.output());
    return start(settings, channel, BUFFER_BYTES, registry, clock);
  }

  /** What failed, for people: the file, and what is missing. */
  public static String why(IOException failed) {
    return LogWriter.why(failed);
  }

  static AccessLog start(
      AccessLogSettings settings,
      WritableByteChannel channel,
      int bufferBytes,
      MetricRegistry registry,
      WallClock clock) {
    LogWriter writer =
        new LogWriter(settings.output(), channel, bufferBytes, registry, clock, LOGGER);
    AccessLog log = new AccessLog(settings, writer, clock);
    log.thread.start();
    return log;
  }

  /**
   * The entrance for one loop more, confined to it. It never blocks and never allocates: a line
   * that finds no room is dropped and counted.
   */
  public ExchangeObserver forLoop() {
    LineRing ring = writer.newRing();
    LineFormat format = format(settings, new FieldDigest(digestKey));
    return new ExchangeRecorder(ring, this::wake, clock, format);
  }

  static LineFormat format(AccessLogSettings settings, FieldDigest digest) {
    return switch (settings.format()) {
      case COMBINED -> new CombinedFormat(settings, digest);
      case JSON -> new JsonFormat(settings, digest);
    };
  }

  /**
   * The station before {@code next} that notes what lines have of responses; {@code next} itself if
   * they have nothing.
   */
  public ExchangeHandler before(ExchangeHandler next) {
    return settings.fields().hasOfResponses() ? new ResponseFields(next) : next;
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
