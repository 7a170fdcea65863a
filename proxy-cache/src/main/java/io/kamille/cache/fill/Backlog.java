package io.kamille.cache.fill;

import io.kamille.core.exchange.ContentSink;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The chunks of a window that one reader has still to take. Confined to the reader's loop. Holds
 * them until they are taken or {@link #close} is called.
 */
public final class Backlog {

  /*
   * The sink may call pause, resume and close from inside a write: the flag keeps the loop below
   * the only one, so that the order stays.
   */
  private final ContentSink sink;
  private final Queue<SharedChunk> chunks = new ArrayDeque<>();
  private long occupiedBytes;
  private boolean isPaused;
  private boolean isWriting;
  private boolean isClosed;
  private boolean hasMoved;

  public Backlog(ContentSink sink, boolean isPaused) {
    this.sink = sink;
    this.isPaused = isPaused;
  }

  /** Takes a hold of its own on a chunk that the caller holds, unless this is closed. */
  public void add(SharedChunk chunk) {
    if (!isClosed) {
      chunks.add(chunk);
      chunk.retain();
      occupiedBytes += chunk.occupiedBytes();
    }
  }

  /**
   * Whether it is this reader that keeps the window from being emptied.
   *
   * @param onlyIfStalled whether a reader is spared that took something since the last call
   */
  public boolean isLong(boolean onlyIfStalled) {
    boolean isStalled = isPaused && !hasMoved;
    hasMoved = false;
    return occupiedBytes > ContentWindow.HALF_BYTES && (isStalled || !onlyIfStalled);
  }

  /** Holds back what {@link #advance} would give. */
  public void pause() {
    isPaused = true;
  }

  /** Lets go again; the caller advances. */
  public void resume() {
    isPaused = false;
    hasMoved = true;
  }

  /**
   * Gives the sink what there is.
   *
   * @return whether it has all; false during a call of this method and after {@link #close}
   */
  public boolean advance() {
    if (isWriting || isClosed) {
      return false;
    }
    isWriting = true;
    try {
      while (!isPaused && !chunks.isEmpty()) {
        writeNext();
      }
    } finally {
      isWriting = false;
    }
    return !isClosed && chunks.isEmpty();
  }

  private void writeNext() {
    SharedChunk next = chunks.remove();
    occupiedBytes -= next.occupiedBytes();
    try {
      sink.write(next.content());
    } finally {
      next.release();
    }
  }

  /** Gives nothing more. Idempotent. */
  public void close() {
    isClosed = true;
    chunks.forEach(SharedChunk::release);
    chunks.clear();
    occupiedBytes = 0;
  }
}
