package io.kamille.cache.fill;

import io.kamille.cache.serve.StoredPieces;
import io.kamille.cache.store.StoredOctets;
import io.kamille.core.content.Pieces;
import io.kamille.core.exchange.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The content of a response that is being stored, as one reader takes it: what is stored, and
 * behind that, if it can be stored no further, what comes by itself or from a window. Confined to
 * the reader's loop. Owns what waits until it is closed.
 */
final class FillPieces implements Pieces {

  private final Queue<SharedChunk> shared = new ArrayDeque<>(0);
  private Runnable more = () -> {};
  private @Nullable StoredPieces stored;
  private @Nullable ByteBuf passing;
  private @Nullable End end;
  private long occupiedBytes;

  /** Pieces taken while so much waited that others had to wait. */
  private long takenOfMuch;

  private long takenBefore;

  /** Takes over one lease on octets that are being filled, and reads them from there. */
  void read(StoredOctets octets, long from) {
    stored = StoredPieces.filling(octets, from);
  }

  /** Leaves out so many of the octets that are being filled. */
  void skip(long bytes) {
    if (stored != null) {
      stored.skip(bytes);
    }
  }

  /**
   * A chunk that is not stored. Takes ownership: one that is not taken at once is copied, since it
   * may be a small part of a large buffer.
   */
  void add(ByteBuf chunk) {
    if (isDrained() && end == null) {
      passing = chunk;
      more.run();
      if (passing == null) {
        return;
      }
      passing = null;
    }
    SharedChunk late = SharedChunk.unshared(chunk);
    add(late);
    late.release();
    more.run();
  }

  /**
   * A chunk of the window. Takes a hold of its own, unless no more is wanted; the caller runs the
   * pump.
   */
  void add(SharedChunk chunk) {
    if (end == null) {
      chunk.retain();
      shared.add(chunk);
      occupiedBytes += chunk.occupiedBytes();
    }
  }

  /** No more will come. */
  void end(End how) {
    end = how;
    more.run();
  }

  /** Whether its reader has all that is there. */
  boolean isDrained() {
    return (stored == null || stored.isDrained()) && passing == null && shared.isEmpty();
  }

  /**
   * Whether it is this reader that keeps the window from being emptied.
   *
   * @param onlyIfStalled whether a reader is spared that took something since the last call
   */
  boolean holdsUp(boolean onlyIfStalled) {
    boolean hasMoved = takenOfMuch != takenBefore;
    takenBefore = takenOfMuch;
    return isLong() && !(onlyIfStalled && hasMoved);
  }

  /** Whether so much of the window waits here that it cannot be half empty. */
  private boolean isLong() {
    return occupiedBytes > ContentWindow.HALF_BYTES;
  }

  @Override
  public void next(Queue<ReferenceCounted> window) {
    boolean isLong = isLong();
    if (stored != null && !stored.isDrained()) {
      stored.next(window);
    } else if (passing != null) {
      window.add(passing);
      passing = null;
    } else if (!shared.isEmpty()) {
      SharedChunk chunk = shared.remove();
      occupiedBytes -= chunk.occupiedBytes();
      window.add(chunk.content());
      chunk.release();
    }
    takenOfMuch += isLong ? window.size() : 0;
  }

  @Override
  public @Nullable End ending() {
    return end == null || end.why() != null || isDrained() ? end : null;
  }

  @Override
  public void whenMore(Runnable run) {
    more = run;
  }

  @Override
  public void close(@Nullable Failure why) {
    if (why != null) {
      end = End.broken(why);
    }
    if (stored != null) {
      stored.close(why);
    }
    ReferenceCountUtil.release(passing);
    passing = null;
    shared.forEach(SharedChunk::release);
    shared.clear();
    occupiedBytes = 0;
  }
}
