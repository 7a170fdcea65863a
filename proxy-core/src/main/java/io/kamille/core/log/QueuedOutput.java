package io.kamille.core.log;

import io.kamille.core.loop.SteadyTask;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A stream that nobody waits for once it has {@link #begin begun}. Any thread. */
final class QueuedOutput extends OutputStream {

  /*
   * Before it begins, whoever writes waits for the reader: a command line shows all it has to say.
   * Afterwards a thread writes what waits. Who reads a pipe may stop, and a disk may hang; what
   * then finds no room is dropped and counted, and a line says so when the queue is empty again.
   */
  static final int LIMIT_BYTES = 256 << 10;

  /** What a small message takes besides its octets. */
  private static final int OVERHEAD_BYTES = 64;

  private static final long LOOK_NANOS = Duration.ofMillis(1).toNanos();

  private final OutputStream out;
  private final LongFunction<String> dropLine;
  private final SteadyTask task;
  private final Queue<byte[]> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  // Volatile: set once, under the lock of the stream.
  private volatile @Nullable Thread writer;
  // Volatile: written by the thread, read by whoever waits for the end.
  private volatile long droppedSaid;

  /**
   * A stream that has not begun.
   *
   * @param dropLine says that so many messages were dropped
   * @param log for faults of the thread
   */
  QueuedOutput(OutputStream out, LongFunction<String> dropLine, System.Logger log) {
    this.out = out;
    this.dropLine = dropLine;
    this.task = new SteadyTask(log, "a message was not written", this::writeAll);
  }

  /** From now on nobody waits. */
  void begin() {
    synchronized (out) {
      if (writer == null) {
        writer =
            Thread.ofPlatform()
                .daemon()
                .name("kamille-log")
                .start(() -> task.repeatUntil(() -> false));
      }
    }
  }

  @Override
  public void write(int octet) throws IOException {
    write(new byte[] {(byte) octet});
  }

  @Override
  public void write(byte[] octets, int offset, int length) throws IOException {
    if (writer == null) {
      synchronized (out) {
        if (writer == null) {
          out.write(octets, offset, length);
          return;
        }
      }
    }
    long bytes = (long) length + OVERHEAD_BYTES;
    if (waitingBytes.addAndGet(bytes) > LIMIT_BYTES) {
      waitingBytes.addAndGet(-bytes);
      dropped.incrementAndGet();
      return;
    }
    byte[] message = new byte[length];
    System.arraycopy(octets, offset, message, 0, length);
    waiting.add(message);
    LockSupport.unpark(writer);
  }

  /** Messages that were dropped. */
  long dropped() {
    return dropped.get();
  }

  private void writeAll() {
    for (byte[] next = waiting.poll(); next != null; next = waiting.poll()) {
      try {
        out.write(next);
      } catch (IOException nobodyReads) {
        // There is no other place to say so.
        dropped.incrementAndGet();
      } finally {
        waitingBytes.addAndGet(-next.length - OVERHEAD_BYTES);
      }
    }
    long now = dropped.get();
    if (now > droppedSaid) {
      try {
        out.write(dropLine.apply(now - droppedSaid).getBytes(StandardCharsets.UTF_8));
      } catch (IOException nobodyReads) {
        // The metric has the number.
      }
      droppedSaid = now;
    }
    LockSupport.park(this);
  }

  /** Waits until all is written, for so long at most. */
  void finish(Duration atMost) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (writer != null
        && (waitingBytes.get() > 0 || dropped.get() > droppedSaid)
        && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
  }
}
