package io.kamille.cache.serve;

import io.kamille.cache.store.StoredOctets;
import io.kamille.core.exchange.ContentSink;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Feeds stored octets to a client, in windows, no faster than it takes them and no further than
 * they are there.
 *
 * <p>Confined to the client's loop. Owns one lease from construction until {@link #close}.
 */
public final class ContentFeed {

  /*
   * A window bounds what one write adds to the client's queue, so that the pause that follows comes
   * in time. The sink may call pause, resume and cancel from inside a write: the flag keeps the
   * loop below the only one, and the lease until it has ended.
   *
   * A window of regions adds next to nothing to the queue; it bounds for how long one system call
   * may keep the loop when the client takes everything at once. What lies in a file on a disk is
   * read into the kernel's memory window by window, by another thread, each before it is sent.
   */
  public static final int WINDOW_BYTES = 256 << 10;

  private static final int REGION_WINDOW_BYTES = 2 << 20;

  private final ContentSink sink;
  private final StoredOctets octets;
  private final long offset;
  private final boolean byRegion;

  /** Runs tasks on the client's loop; null if what is fed lies in memory. */
  private final @Nullable Executor loop;

  private final Runnable onward;
  private long position;
  private boolean isPaused;
  private boolean isWriting;
  private boolean isClosed;

  /** How far a file is in the kernel's memory. */
  private long thereUpTo;

  private boolean isFetching;

  /**
   * Feeds what lies in {@code octets} behind {@code offset}. Takes over one lease.
   *
   * @param position how many of those octets the sink has already
   */
  public ContentFeed(ContentSink sink, StoredOctets octets, long offset, long position) {
    this(sink, octets, offset, position, false, null, () -> {});
  }

  private ContentFeed(
      ContentSink sink,
      StoredOctets octets,
      long offset,
      long position,
      boolean byRegion,
      @Nullable Executor loop,
      Runnable onward) {
    this.sink = sink;
    this.octets = octets;
    this.offset = offset;
    this.position = position;
    this.byRegion = byRegion;
    this.loop = loop;
    this.onward = onward;
  }

  /**
   * Feeds a sink with what lies behind {@code offset}, perhaps in a file on a disk. Takes over one
   * lease.
   *
   * @param byRegion whether the sink takes regions
   * @param loop runs tasks on the client's loop
   * @param onward run there when {@link #advance} can go on by itself
   */
  static ContentFeed of(
      ContentSink sink,
      StoredOctets octets,
      long offset,
      boolean byRegion,
      Executor loop,
      Runnable onward) {
    Executor reads = octets.isInFile() ? loop : null;
    return new ContentFeed(sink, octets, offset, 0, byRegion, reads, onward);
  }

  public boolean isPaused() {
    return isPaused;
  }

  /** Holds back what {@link #advance} would give. */
  public void pause() {
    isPaused = true;
  }

  /** Lets go again; the caller advances. */
  public void resume() {
    isPaused = false;
  }

  /**
   * Gives the sink what is readable below {@code limit}, counted like {@link #position}.
   *
   * @return whether all of that has been given, now or before; false during a pause, during a call
   *     of this method, while a disk is read, and after {@link #close}
   */
  public boolean advance(long limit) {
    if (isWriting || isClosed) {
      return false;
    }
    isWriting = true;
    try {
      writeUpTo(limit);
    } finally {
      isWriting = false;
      if (isClosed) {
        octets.release();
      }
    }
    return !isClosed && position >= limit;
  }

  private void writeUpTo(long limit) {
    while (!isPaused && !isClosed && position < limit) {
      long window = Math.min(limit - position, byRegion ? REGION_WINDOW_BYTES : WINDOW_BYTES);
      long from = offset + position;
      if (loop != null && !isThere(from, window, loop)) {
        return;
      }
      position += window;
      if (byRegion) {
        octets.send(from, window, sink);
      } else {
        octets.forEachSlice(from, window, sink::write);
      }
    }
  }

  /** Whether those octets of a file can be sent now; if not, sees to it. Asked in order. */
  private boolean isThere(long from, long length, Executor loop) {
    long end = from + length;
    if (thereUpTo < end && !isFetching) {
      isFetching = true;
      if (octets.fetch(from, length, () -> comeBack(end, loop))) {
        isFetching = false;
        thereUpTo = end;
      }
    }
    return thereUpTo >= end;
  }

  /** On the thread that has read. */
  private void comeBack(long end, Executor loop) {
    try {
      loop.execute(() -> arrived(end));
    } catch (RejectedExecutionException atItsEnd) {
      // the loop closes its connections, and with them whoever waits
    }
  }

  private void arrived(long end) {
    isFetching = false;
    thereUpTo = end;
    onward.run();
  }

  /** Gives nothing more, and ends the lease. Idempotent. */
  public void close() {
    if (!isClosed) {
      isClosed = true;
      if (!isWriting) {
        octets.release();
      }
    }
  }
}
