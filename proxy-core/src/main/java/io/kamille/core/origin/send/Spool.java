package io.kamille.core.origin.send;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Room for content that waits, which all {@link SpooledContent} shares. Any thread. */
public final class Spool implements AutoCloseable {

  /*
   * A disk that is full, or broken, is left alone for a while after each error: requests go on as
   * if the room was used up.
   */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  public static final MetricDescriptor HELD =
      MetricDescriptor.gauge(
          "kamille_upload_buffer_bytes",
          Unit.BYTES,
          "Memory taken by content that waits for an origin, or for a slow client.");

  public static final MetricDescriptor FULL =
      MetricDescriptor.counter(
          "kamille_upload_buffer_full_total",
          Unit.COUNT,
          "Requests that took a connection before their content was there, because it outgrew its"
              + " room.");

  public static final MetricDescriptor IN_FILES =
      MetricDescriptor.gauge(
          "kamille_spool_file_bytes",
          Unit.BYTES,
          "Room in temporary files taken by content that waits.");

  /**
   * Where content goes that memory has no room for.
   *
   * @param directory made when it is needed
   * @param mostBytes room of all files
   * @param fileBytes room of one
   * @param threads that wait for the disk
   */
  public record Disk(Path directory, long mostBytes, long fileBytes, Executor threads) {}

  private static final FileAttribute<?> FOR_US_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private static final System.Logger LOG = System.getLogger("kamille.spool");

  private final long memoryBytes;
  private final @Nullable Disk disk;
  private final MetricGroup metrics;
  private final AtomicLong heldBytes = new AtomicLong();
  private final AtomicLong fileBytes = new AtomicLong();
  private final AtomicLong full = new AtomicLong();
  private final AtomicLong failedNanos = new AtomicLong(System.nanoTime() - PAUSE_NANOS);

  /** Room for so many octets in memory. */
  public Spool(long memoryBytes, MetricRegistry registry) {
    this(memoryBytes, null, registry);
  }

  /** Room in memory, and in files if there is a disk for them. */
  public Spool(long memoryBytes, @Nullable Disk disk, MetricRegistry registry) {
    this.memoryBytes = memoryBytes;
    this.disk = disk;
    this.metrics = new MetricGroup(registry);
    metrics.gauge(HELD, heldBytes::get);
    metrics.counting(FULL, full::get);
    metrics.gauge(IN_FILES, fileBytes::get);
  }

  /** Counts memory that is taken, be there room for it or not. */
  void take(int bytes) {
    heldBytes.addAndGet(bytes);
  }

  /** Whether there is room; if not, no more should be taken. */
  boolean hasMemory() {
    return heldBytes.get() < memoryBytes;
  }

  void giveBack(int bytes) {
    heldBytes.addAndGet(-bytes);
  }

  /** A request goes on without the rest of its content. */
  void wasFull() {
    full.incrementAndGet();
  }

  long heldBytes() {
    return heldBytes.get();
  }

  // Files

  /** How long one file may become; 0 if there are none. */
  long fileBytes() {
    return disk == null ? 0 : disk.fileBytes();
  }

  /** Takes room in files. Returns whether there was any. */
  boolean takeFile(long bytes) {
    if (disk == null || System.nanoTime() - failedNanos.get() < PAUSE_NANOS) {
      return false;
    }
    if (fileBytes.addAndGet(bytes) > disk.mostBytes()) {
      fileBytes.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  void giveBackFile(long bytes) {
    fileBytes.addAndGet(-bytes);
  }

  long bytesInFiles() {
    return fileBytes.get();
  }

  /** Does it on a thread that may wait for the disk; the other, here, if these threads have ended. */
  void onDisk(Runnable work, Runnable otherwise) {
    try {
      disk().threads().execute(work);
    } catch (RejectedExecutionException ended) {
      otherwise.run();
    }
  }

  /** A file without a name: it goes with the process, however that ends. Blocks. */
  FileChannel open() throws IOException {
    Path directory = disk().directory();
    Files.createDirectories(directory, FOR_US_ALONE);
    Path file = Files.createTempFile(directory, "spool-", null);
    return FileChannel.open(
        file,
        StandardOpenOption.READ,
        StandardOpenOption.WRITE,
        StandardOpenOption.DELETE_ON_CLOSE);
  }

  private Disk disk() {
    if (disk == null) {
      throw new IllegalStateException("disk: none (expected: one, as there is room in files)");
    }
    return disk;
  }

  /** A file failed. The next ones are not tried for a while. */
  void failed(Throwable why) {
    long now = System.nanoTime();
    long last = failedNanos.get();
    if (now - last >= PAUSE_NANOS && failedNanos.compareAndSet(last, now)) {
      LOG.log(
          Level.WARNING,
          "no file for content that waits, in {0}: {1}; none is tried for the next 10 s",
          disk().directory(),
          why.toString());
    }
  }

  @Override
  public void close() {
    metrics.close();
  }
}
