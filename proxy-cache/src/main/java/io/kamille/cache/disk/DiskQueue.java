package io.kamille.cache.disk;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** What waits to be written to a disk, in order. Any thread. */
final class DiskQueue {

  /*
   * Responses that wait hold leases on the memory tier, so their octets are bounded, and what finds
   * no room is not written. Removals are never left out. Should so many wait that the disk will not
   * catch up, the tier steps aside.
   */
  private static final int REMOVALS_LIMIT = 1 << 20;
  private static final long RECORD_BYTES = 1024;

  /** What is appended to a file. */
  @FunctionalInterface
  interface Writing {
    void run() throws IOException;
  }

  private final DiskWorker worker;
  private final SegmentLog log;
  private final long limitBytes;
  private final AtomicLong waitingBytes = new AtomicLong();
  private final AtomicInteger waitingWrites = new AtomicInteger();
  private final AtomicInteger waitingRemovals = new AtomicInteger();

  /**
   * A queue that is empty.
   *
   * @param limitBytes how many octets of responses may wait
   */
  DiskQueue(DiskWorker worker, SegmentLog log, long limitBytes) {
    this.worker = worker;
    this.log = log;
    this.limitBytes = limitBytes;
  }

  /** Whether a response waits. */
  boolean hasWrites() {
    return waitingWrites.get() > 0;
  }

  /**
   * Has a response written, if there is room: then takes over one lease on it. Borrows the key.
   *
   * @return whether there was
   */
  boolean offer(CacheKey key, StoredResponse response, long sequence, BooleanSupplier isCurrent) {
    long bytes = response.contentLength() + response.headLength() + RECORD_BYTES;
    boolean isRoom = takeRoom(bytes);
    if (isRoom) {
      waitingWrites.incrementAndGet();
      worker.give(new Write(response, key.high(), key.low(), sequence, isCurrent, bytes));
    }
    return isRoom;
  }

  /** However large a response is, it may wait alone. */
  private boolean takeRoom(long bytes) {
    long before = waitingBytes.getAndAdd(bytes);
    boolean isRoom = before == 0 || before + bytes <= limitBytes;
    if (!isRoom) {
      waitingBytes.addAndGet(-bytes);
    }
    return isRoom;
  }

  /** Has a removal written, or the note of a purge. */
  void remove(Writing writing) {
    if (waitingRemovals.incrementAndGet() > REMOVALS_LIMIT) {
      worker.stepAside(new IOException("it does not keep up with removals"));
    }
    worker.give(new Removal(writing));
  }

  /** Runs {@code action} when what was given before is in the files, or the tier steps aside. */
  void barrier(Runnable action) {
    worker.give(new Barrier(action));
  }

  /** A response that waits to be written. */
  private final class Write implements DiskWorker.Task {

    private final StoredResponse response;
    private final long keyHigh;
    private final long keyLow;
    private final long sequence;
    private final BooleanSupplier isCurrent;
    private final long bytes;

    Write(
        StoredResponse response,
        long keyHigh,
        long keyLow,
        long sequence,
        BooleanSupplier isCurrent,
        long bytes) {
      this.response = response;
      this.keyHigh = keyHigh;
      this.keyLow = keyLow;
      this.sequence = sequence;
      this.isCurrent = isCurrent;
      this.bytes = bytes;
    }

    @Override
    public void run() throws IOException {
      try {
        log.write(response, keyHigh, keyLow, sequence, isCurrent);
      } finally {
        drop();
      }
    }

    @Override
    public void drop() {
      response.release();
      waitingBytes.addAndGet(-bytes);
      waitingWrites.decrementAndGet();
    }
  }

  /** A removal that waits to be written. */
  private final class Removal implements DiskWorker.Task {

    private final Writing writing;

    Removal(Writing writing) {
      this.writing = writing;
    }

    @Override
    public void run() throws IOException {
      drop();
      writing.run();
    }

    @Override
    public void drop() {
      waitingRemovals.decrementAndGet();
    }
  }

  /** Waits for what was given before. */
  private final class Barrier implements DiskWorker.Task {

    private final Runnable action;

    Barrier(Runnable action) {
      this.action = action;
    }

    @Override
    public void run() throws IOException {
      try {
        while (log.flush()) {
          // a flush may append what was refused
        }
      } finally {
        action.run();
      }
    }

    @Override
    public void drop() {
      action.run();
    }
  }
}
