package io.kamille.cache.tiers;

import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.disk.Extent;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Takes into memory what the last process was asked for most, hottest first, on a thread of its own
 * beside requests. Any thread may end it.
 */
public final class Warming implements AutoCloseable {

  /*
   * Memory is not filled to the brim: nothing that this process was asked for makes room for what
   * the last one was.
   */
  private static final int FULL_TENTHS = 9;

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final long END_SECONDS = 60;

  private final TieredStore store;
  private final DiskCopies copies;
  private final DiskTier disk;
  private final long limitBytes;
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Asks the thread to end. */
  private volatile boolean isClosing;

  private Warming(TieredStore store, DiskCopies copies, DiskTier disk) {
    this.store = store;
    this.copies = copies;
    this.disk = disk;
    this.limitBytes = TieredStore.indexCapacityBytes(store.capacityBytes()) / 10 * FULL_TENTHS;
  }

  /** Begins; it ends by itself when nothing is left or memory is full. */
  public static Warming start(TieredStore store, DiskCopies copies, DiskTier disk) {
    Warming warming = new Warming(store, copies, disk);
    Thread.ofPlatform().name("kamille-disk-warm").daemon().start(warming::run);
    return warming;
  }

  private void run() {
    try {
      for (CacheKey key : disk.heat()) {
        awaitRecovery();
        if (isClosing || store.usedBytes() >= limitBytes) {
          return;
        }
        if (store.peek(key) == null) {
          take(key);
        }
      }
    } finally {
      ended.countDown();
    }
  }

  /** What is on the disk is found little by little. */
  private void awaitRecovery() {
    while (!isClosing && disk.isRunning() && !disk.isRecovered()) {
      LockSupport.parkNanos(this, LOOK_NANOS);
    }
  }

  private void take(CacheKey key) {
    long changes = store.changes(key);
    for (Extent extent : copies.find(key)) {
      Promotion promotion =
          new Promotion(
              store,
              key,
              changes,
              0,
              (head, length) -> store.usedBytes() + head.encoded().length() + length < limitBytes);
      try {
        StoredResponse taken = copies.read(key, extent, promotion) ? promotion.complete() : null;
        if (taken != null) {
          taken.release();
        }
      } finally {
        promotion.abandon();
      }
    }
  }

  /**
   * Waits until it has ended, which is soon.
   *
   * @throws IllegalStateException if the disk does not answer
   */
  @Override
  public void close() {
    isClosing = true;
    try {
      if (!ended.await(END_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("warming memory (expected: ended)");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
