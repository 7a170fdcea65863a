package io.kamille.cache.fill;

import io.kamille.core.content.Pieces;
import io.kamille.core.content.Pump;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * What the client of a fill gets of the content: what the store has of it, at the client's own
 * pace, so that it holds up neither the fill nor those who follow. Confined to the client's loop.
 */
final class LeaderOutput {

  /*
   * While the response is stored, the client reads behind the fill, as followers do. Without a fill
   * the chunks pass as they come, and the origin is paused while the client has not got all. If
   * followers have begun to read a fill that is given up, the rest comes from a window, which pauses
   * the origin for all of them.
   */
  private static final Failure CLOSED =
      Failure.of(ErrorType.CLIENT_GONE, "the client gets nothing more");

  private final FillPieces pieces = new FillPieces();
  private final Pump pump = new Pump(pieces);
  private ContentSource origin = ContentSource.NONE;
  private boolean isStoring;

  LeaderOutput(Reply client) {
    pump.start(client);
  }

  /** Who is paused when the client is slow and nothing is stored. */
  void origin(ContentSource source) {
    origin = source;
    if (pump.isPaused()) {
      source.pause();
    }
  }

  /** From now on all chunks are in the store before they come here. */
  void fill(Fill fill) {
    isStoring = true;
    if (!pump.isOver()) {
      fill.octets().retain();
      pieces.read(fill.octets(), fill.contentOffset());
    }
    origin.resume();
  }

  /** The client has got so much of what is stored in another way. */
  void hasGiven(long bytes) {
    pieces.skip(bytes);
  }

  /** From now on chunks are not stored; what is stored can still be read. */
  void unstored() {
    isStoring = false;
    pauseOrigin();
  }

  /** From now on chunks come from a window; what is stored can still be read. */
  void windowed() {
    isStoring = false;
    origin = ContentSource.NONE;
  }

  /** Takes one chunk of the window. Takes over one hold. */
  void write(SharedChunk chunk) {
    try {
      pieces.add(chunk);
    } finally {
      chunk.release();
    }
    pump.run();
  }

  /** Whether the client has so much to take from the window that others have to wait. */
  boolean isSlow(boolean onlyIfStalled) {
    return pieces.holdsUp(onlyIfStalled);
  }

  /** Takes one chunk. Takes ownership. */
  void write(ByteBuf chunk) {
    if (isStoring || pump.isOver()) {
      chunk.release();
      pump.run();
    } else {
      pieces.add(chunk);
      pauseOrigin();
    }
  }

  /** The content is complete; the client learns of it when it has got it all. */
  void end(@Nullable Fields trailers) {
    origin = ContentSource.NONE;
    pieces.end(Pieces.End.of(trailers));
  }

  /** Breaks off, at once. */
  void abort(Failure why) {
    pieces.end(Pieces.End.broken(why));
  }

  /** The client gets nothing more. Idempotent. */
  void close() {
    pump.cancel(CLOSED);
    origin.resume();
  }

  /** The client is slow. */
  void pause() {
    pump.pause();
    pauseOrigin();
  }

  /** The client takes content again. */
  void resume() {
    pump.resume();
    if (!isBehind()) {
      origin.resume();
    }
  }

  private void pauseOrigin() {
    if (!isStoring && isBehind()) {
      origin.pause();
    }
  }

  /** Whether the client has not got all, or wants no more for now. */
  private boolean isBehind() {
    return !pump.isOver() && (pump.isPaused() || !pieces.isDrained());
  }
}
