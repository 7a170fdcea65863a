package io.kamille.cache.serve;

import io.kamille.cache.store.StoredOctets;
import io.kamille.core.content.Pieces;
import io.kamille.core.exchange.Failure;
import io.netty.util.ReferenceCounted;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Stored octets, window by window, also while more of them still come. Confined to the client's
 * loop. Owns one lease until it is closed.
 */
public final class StoredPieces implements Pieces {

  /*
   * A window bounds what one write adds to the client's queue, so that the pause that follows comes
   * in time.
   *
   * A window of regions adds next to nothing to the queue; it bounds for how long one system call
   * may keep the loop when the client takes everything at once. What lies in a file on a disk is
   * read into the kernel's memory window by window, by another thread, each before it is sent.
   */
  static final int WINDOW_BYTES = 256 << 10;

  private static final int REGION_WINDOW_BYTES = 2 << 20;

  private final boolean byRegion;

  /** Runs tasks on the client's loop; null if what is sent lies in memory. */
  private final @Nullable Executor loop;

  private Runnable more = () -> {};
  private @Nullable StoredOctets octets;
  private long position;

  /** Where it ends; negative while that is where the octets end at present. */
  private long end;

  /** How far a file is asked for, and how far it is in the kernel's memory. */
  private long askedUpTo;

  private long thereUpTo;

  private StoredPieces(
      StoredOctets octets, long from, long end, boolean byRegion, @Nullable Executor loop) {
    this.octets = octets;
    this.position = from;
    this.end = end;
    this.byRegion = byRegion;
    this.loop = loop;
  }

  /**
   * A part of what is stored, perhaps in a file on a disk. Takes over one lease.
   *
   * @param byRegion whether the sink takes regions
   * @param loop runs tasks on the client's loop
   */
  static StoredPieces of(
      StoredOctets octets, long from, long length, boolean byRegion, Executor loop) {
    return new StoredPieces(octets, from, from + length, byRegion, octets.isInFile() ? loop : null);
  }

  /** All behind {@code from}, while it is being filled. Takes over one lease. */
  public static StoredPieces filling(StoredOctets octets, long from) {
    return new StoredPieces(octets, from, -1, false, null);
  }

  /** Leaves out so many octets. */
  public void skip(long bytes) {
    position += bytes;
  }

  /** Whether all that is there was taken. */
  public boolean isDrained() {
    return octets == null || position >= end(octets);
  }

  private long end(StoredOctets source) {
    return end < 0 ? source.length() : end;
  }

  @Override
  public void next(Queue<ReferenceCounted> window) {
    StoredOctets source = octets;
    if (source == null || isDrained()) {
      return;
    }
    long most = byRegion ? REGION_WINDOW_BYTES : WINDOW_BYTES;
    long length = Math.min(end(source) - position, most);
    if (loop != null && !isThere(source, length, loop)) {
      return;
    }
    if (byRegion) {
      source.send(position, length, window::add);
    } else {
      source.forEachSlice(position, length, window::add);
    }
    position += length;
  }

  /** Whether the next octets of a file can be sent now; if not, sees to it. */
  private boolean isThere(StoredOctets file, long length, Executor loop) {
    long upTo = position + length;
    if (askedUpTo < upTo) {
      askedUpTo = upTo;
      if (file.fetch(position, length, () -> comeBack(upTo, loop))) {
        thereUpTo = upTo;
      }
    }
    return thereUpTo >= upTo;
  }

  /** On the thread that has read. */
  private void comeBack(long upTo, Executor loop) {
    try {
      loop.execute(() -> arrived(upTo));
    } catch (RejectedExecutionException atItsEnd) {
      // The loop closes its connections, and with them whoever waits.
    }
  }

  private void arrived(long upTo) {
    thereUpTo = upTo;
    more.run();
  }

  @Override
  public @Nullable End ending() {
    return end >= 0 && isDrained() ? End.COMPLETE : null;
  }

  @Override
  public void whenMore(Runnable run) {
    more = run;
  }

  @Override
  public void close(@Nullable Failure why) {
    if (octets != null) {
      octets.release();
      octets = null;
    }
  }
}
