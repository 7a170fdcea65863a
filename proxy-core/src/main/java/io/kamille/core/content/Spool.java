package io.kamille.core.content;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import java.io.EOFException;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Room for content that waits, which all {@link QueuePieces} shares. Any thread. */
public final class Spool implements AutoCloseable {

  /*
   * One file has places of one length for all: a file for each content would take a descriptor
   * each, which clients lack then. It is opened when the first place is written to, has no name any
   * more then, and keeps its greatest length until the process ends. A place is given to others
   * only when nothing is written to it or read from it any more.
   *
   * A disk that is full, or broken, is left alone for a while after each error: requests go on as
   * if the room was used up.
   */
  static final int BLOCK_BYTES = 16 << 10;
  public static final long LEAST_FILE_BYTES = 64 << 10;
  static final long NOWHERE = -1;
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

  public static final MetricDescriptor HELD =
      MetricDescriptor.gauge(
          "kamille_upload_buffer_bytes",
          "Memory taken by content that waits for an origin, or for a slow client.");

  public static final MetricDescriptor FULL =
      MetricDescriptor.counter(
          "kamille_upload_buffer_full_total",
          "Requests that took a connection before their content was there, because it outgrew its"
              + " room.");

  public static final MetricDescriptor IN_FILE =
      MetricDescriptor.gauge(
          "kamille_spool_file_bytes", "Room in the temporary file taken by content that waits.");

  /**
   * Where content goes that memory has no room for.
   *
   * @param directory made when it is needed
   * @param mostBytes room for all content; 0 for none
   * @param contentBytes room for that of one message
   * @param threads that wait for the disk
   */
  public record Disk(Path directory, long mostBytes, long contentBytes, Executor threads) {

    /** Content waits in memory alone. */
    public static final Disk NONE = new Disk(Path.of(""), 0, 0, Runnable::run);
  }

  /** What is done with octets and a place in a file: some of it, and says how much. */
  interface Transfer {
    int move(FileChannel file, ByteBuffer octets, long at) throws IOException;
  }

  private static final System.Logger LOG = System.getLogger("kamille.spool");

  private final long memoryBytes;
  private final Disk disk;
  private final MetricGroup metrics;
  private final AtomicLong heldBytes = new AtomicLong();
  private final AtomicLong placedBytes = new AtomicLong();
  private final AtomicLong endAt = new AtomicLong();
  private final Queue<Long> unused = new ConcurrentLinkedQueue<>();
  private final AtomicLong full = new AtomicLong();
  private final AtomicLong failedNanos = new AtomicLong(System.nanoTime() - PAUSE_NANOS);

  @GuardedBy("this")
  private @Nullable FileChannel channel;

  /** Room for so many octets in memory. */
  public Spool(long memoryBytes, MetricRegistry registry) {
    this(memoryBytes, Disk.NONE, registry);
  }

  /** Room in memory and on a disk. */
  public Spool(long memoryBytes, Disk disk, MetricRegistry registry) {
    this.memoryBytes = memoryBytes;
    this.disk = disk;
    this.metrics = new MetricGroup(registry);
    metrics.gauge(HELD, heldBytes::get);
    metrics.counting(FULL, full::get);
    metrics.gauge(IN_FILE, placedBytes::get);
  }

  /** Counts memory that is taken, be there room for it or not. */
  public void take(int bytes) {
    heldBytes.addAndGet(bytes);
  }

  /** Whether there is room; if not, no more should be taken. */
  boolean hasMemory() {
    return heldBytes.get() < memoryBytes;
  }

  /** Whether less than half of the room is taken. */
  public boolean hasMuchMemory() {
    return heldBytes.get() < memoryBytes / 2;
  }

  /** What was taken is free again. */
  public void giveBack(int bytes) {
    heldBytes.addAndGet(-bytes);
  }

  /** Memory taken at present, in octets. */
  public long heldBytes() {
    return heldBytes.get();
  }

  /** A request goes on without the rest of its content. */
  public void wasFull() {
    full.incrementAndGet();
  }

  // The file

  /** How much of one message may be in the file. */
  public long contentBytes() {
    return disk.contentBytes();
  }

  /** A place for a block, to {@link #leave}; {@link #NOWHERE} if there is no room. */
  long place() {
    if (placedBytes.addAndGet(BLOCK_BYTES) > disk.mostBytes()
        || System.nanoTime() - failedNanos.get() < PAUSE_NANOS) {
      placedBytes.addAndGet(-BLOCK_BYTES);
      return NOWHERE;
    }
    Long again = unused.poll();
    return again == null ? endAt.getAndAdd(BLOCK_BYTES) : again;
  }

  void leave(long place) {
    unused.add(place);
    placedBytes.addAndGet(-BLOCK_BYTES);
  }

  /** Room of the file taken at present, in octets. */
  public long bytesInFile() {
    return placedBytes.get();
  }

  /**
   * Does it on a thread that may wait for the disk; the other, here, if these threads have ended.
   */
  void onDisk(Runnable work, Runnable otherwise) {
    try {
      disk.threads().execute(work);
    } catch (RejectedExecutionException ended) {
      otherwise.run();
    }
  }

  /** Moves all these octets to or from a place; whether that was possible. Blocks. */
  boolean move(ByteBuffer octets, long place, Transfer transfer) {
    try {
      FileChannel file = opened();
      for (long at = place; octets.hasRemaining(); ) {
        int moved = transfer.move(file, octets, at);
        if (moved < 0) {
          throw new EOFException("the file is shorter than what was written");
        }
        at += moved;
      }
      return true;
    } catch (IOException | RuntimeException failed) {
      failed(failed);
      return false;
    }
  }

  /** A file without a name goes with the process, however that ends. */
  private synchronized FileChannel opened() throws IOException {
    FileChannel file = channel;
    if (file == null) {
      Files.createDirectories(disk.directory(), access("rwx------"));
      file =
          FileChannel.open(
              disk.directory().resolve("spool-" + UUID.randomUUID()),
              Set.of(
                  StandardOpenOption.CREATE_NEW,
                  StandardOpenOption.READ,
                  StandardOpenOption.WRITE,
                  StandardOpenOption.DELETE_ON_CLOSE),
              access("rw-------"));
      channel = file;
    }
    return file;
  }

  private static FileAttribute<?> access(String permissions) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
  }

  /** No more is tried for a while. */
  private void failed(Exception why) {
    long now = System.nanoTime();
    if (now - failedNanos.getAndSet(now) >= PAUSE_NANOS) {
      LOG.log(
          Level.WARNING,
          "no room for content that waits, in {0}: {1}; none is tried for the next 10 s",
          disk.directory(),
          why.toString());
    }
  }

  @Override
  public void close() {
    metrics.close();
  }
}
