package io.kamille.cache.disk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The arm of a hard disk: one server with a queue, first come, first served. No clock; any thread.
 */
final class Spindle {

  /*
   * A read costs a seek, of half to one and a half times the mean, and the transfer; one that goes
   * on where the last read ended costs the transfer alone. Writes reach a disk through the page
   * cache of the kernel, which collects them: they cost the transfer, and a seek for each MiB.
   *
   * The server is one number, the instant it is free at, so the end of an access is known at once.
   */
  private static final int BYTES_PER_WRITING_SEEK = 1 << 20;
  private static final double NANOS_PER_SECOND = 1e9;

  private final long seekNanos;
  private final double nanosPerByte;

  @GuardedBy("this")
  private final SplittableRandom random;

  @GuardedBy("this")
  private long freeNanos = Long.MIN_VALUE;

  @GuardedBy("this")
  private @Nullable Object lastFile;

  @GuardedBy("this")
  private long lastEnd;

  /**
   * An arm at rest.
   *
   * @param seekNanos what it takes to get anywhere, on average
   */
  Spindle(long seekNanos, long bytesPerSecond, long seed) {
    this.seekNanos = seekNanos;
    this.nanosPerByte = NANOS_PER_SECOND / bytesPerSecond;
    this.random = new SplittableRandom(seed);
  }

  /** Queues a read at that time; returns when it will be over. */
  synchronized long read(Object file, long position, int bytes, long nanos) {
    boolean goesOn = file.equals(lastFile) && position == lastEnd;
    double seek = goesOn ? 0 : seekNanos * (0.5 + random.nextDouble());
    lastFile = file;
    lastEnd = position + bytes;
    return serve(seek + bytes * nanosPerByte, nanos);
  }

  /** Queues a write at that time; returns when it will be over. */
  synchronized long write(int bytes, long nanos) {
    double seek = (double) seekNanos * bytes / BYTES_PER_WRITING_SEEK;
    return serve(seek + bytes * nanosPerByte, nanos);
  }

  @GuardedBy("this")
  private long serve(double serviceNanos, long nanos) {
    freeNanos = Math.max(freeNanos, nanos) + Math.round(serviceNanos);
    return freeNanos;
  }
}
