package io.kamille.core.content;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCounted;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Gives content to a sink, no faster than it takes it: the only loop that does. Confined to its
 * loop. Owns the pieces that it has pulled, until the sink gets them.
 */
public final class Pump implements ContentSource {

  /*
   * A sink may call pause, resume and cancel from inside a write; it may fail there, and another one
   * take its place. Pieces may come meanwhile. So only one call of run is in the loop, and each turn
   * looks at everything anew.
   *
   * The end of complete content waits for a pause, too: a region has left only when the sink goes
   * on. A message that breaks off is cut in any case, so that nobody waits for its rest.
   */
  private final Pieces pieces;
  private final ArrayDeque<ReferenceCounted> window = new ArrayDeque<>(1);
  private @Nullable ContentSink sink;
  private boolean isPaused;
  private boolean isRunning;
  private boolean isOver;

  /** Nobody takes the content yet. */
  public Pump(Pieces pieces) {
    this.pieces = pieces;
  }

  /** Gives the content to that sink, from now on. */
  public void start(ContentSink taker) {
    sink = taker;
    pieces.whenMore(this::run);
    run();
  }

  /** Whether the sink wants no more for now. */
  public boolean isPaused() {
    return isPaused;
  }

  /** Whether the sink has got the end, or wants nothing more. */
  public boolean isOver() {
    return isOver;
  }

  /** Gives what is at hand while the sink takes it. */
  public void run() {
    if (isRunning) {
      return;
    }
    isRunning = true;
    try {
      while (sink != null && !isOver && hasWindow()) {
        give(sink, window.remove());
      }
    } finally {
      isRunning = false;
    }
    tellEnd();
  }

  /** Whether there is something to give; a window goes as a whole. */
  private boolean hasWindow() {
    if (window.isEmpty() && !isPaused) {
      pieces.next(window);
    }
    return !window.isEmpty();
  }

  private static void give(ContentSink taker, ReferenceCounted piece) {
    if (piece instanceof FileRegion region) {
      taker.write(region);
    } else {
      taker.write((ByteBuf) piece);
    }
  }

  private void tellEnd() {
    ContentSink taker = sink;
    if (taker == null || isOver) {
      return;
    }
    Pieces.End end = pieces.ending();
    if (end == null) {
      return;
    }
    Failure why = end.why();
    if (why != null) {
      stop(null);
      taker.abort(why);
    } else if (!isPaused) {
      stop(null);
      taker.end(end.trailers());
    }
  }

  private void stop(@Nullable Failure why) {
    isOver = true;
    drop();
    pieces.close(why);
  }

  private void drop() {
    window.forEach(ReferenceCounted::release);
    window.clear();
  }

  /** Begins anew, without a sink: the pieces do, too. */
  public void rewind() {
    drop();
    sink = null;
    isPaused = false;
    isOver = false;
  }

  @Override
  public void pause() {
    isPaused = true;
  }

  @Override
  public void resume() {
    isPaused = false;
    run();
  }

  @Override
  public void cancel(Failure why) {
    if (!isOver) {
      stop(why);
    }
  }
}
