package io.kamille.cache.fill;

import io.kamille.cache.serve.ContentFeed;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * What the client of a fill gets of the content: each chunk as it comes, and, while the client is
 * slow, what the store has of it, so that it holds up neither the fill nor those who follow.
 *
 * <p>Confined to the client's loop.
 */
final class LeaderOutput {

  /*
   * Three ways, and the moves between them:
   *
   *   direct ── the client pauses, and the chunks are in the store ──► behind (a feed reads on)
   *   behind ── the feed has caught up ──► direct
   *   behind ── the fill is given up: the origin is paused, late chunks wait ──► caught up, direct
   *
   * Without a fill a pause is simply the origin's. If followers have begun to read a fill that is
   * given up, the rest comes from a window, which pauses the origin for all of them; what the
   * client has not taken of it waits in the backlog.
   */
  private final Reply client;
  private final Queue<ByteBuf> waiting = new ArrayDeque<>(0);
  private ContentSource origin = ContentSource.NONE;
  private @Nullable Fill fill;
  private @Nullable ContentFeed feed;
  private @Nullable Backlog backlog;
  private @Nullable Fields trailers;
  private long passedBytes;
  private long storedBytes;
  private boolean isPaused;
  private boolean isComplete;
  private boolean isClosed;

  LeaderOutput(Reply client) {
    this.client = client;
  }

  /** Who is paused when the client is slow and nothing is stored. */
  void origin(ContentSource source) {
    origin = source;
    if (isPaused) {
      source.pause();
    }
  }

  /** From now on all chunks are in the store before they come here. */
  void fill(Fill fill) {
    this.fill = fill;
    if (isPaused) {
      feed = feedBehind(fill);
      origin.resume();
    }
  }

  /** From now on chunks are not stored; what is stored can still be read. */
  void unstored() {
    fill = null;
    if (feed != null) {
      origin.pause();
    }
  }

  /** From now on chunks come from a window; what is stored can still be read. */
  void windowed() {
    fill = null;
    origin = ContentSource.NONE;
    backlog = new Backlog(client, isPaused);
    if (isClosed) {
      backlog.close();
    }
  }

  /** Takes one chunk of the window. Takes over one hold. */
  void write(SharedChunk chunk) {
    try {
      Objects.requireNonNull(backlog).add(chunk);
    } finally {
      chunk.release();
    }
    readOn();
  }

  /** Whether the client has so much to take from the window that others have to wait. */
  boolean isSlow(boolean onlyIfStalled) {
    return backlog != null && backlog.isLong(onlyIfStalled);
  }

  /** Takes one chunk. Takes ownership. */
  void write(ByteBuf chunk) {
    if (isClosed) {
      chunk.release();
    } else if (feed == null) {
      passedBytes += chunk.readableBytes();
      storedBytes = passedBytes;
      client.write(chunk);
    } else if (fill == null) {
      waiting.add(chunk);
    } else {
      storedBytes += chunk.readableBytes();
      chunk.release();
      advance();
    }
  }

  /** The content is complete; the client learns of it when it has got it all. */
  void end(@Nullable Fields trailers) {
    isComplete = true;
    fill = null;
    if (isClosed) {
      return;
    }
    if (feed == null && backlog == null) {
      client.end(trailers);
    } else {
      this.trailers = trailers == null ? null : trailers.copy();
      readOn();
    }
  }

  /** Breaks off, at once. */
  void abort(Failure why) {
    if (!isClosed) {
      close();
      client.abort(why);
    }
  }

  /** The client gets nothing more. Idempotent. */
  void close() {
    isClosed = true;
    fill = null;
    if (feed != null) {
      feed.close();
      feed = null;
    }
    if (backlog != null) {
      backlog.close();
    }
    waiting.forEach(ByteBuf::release);
    waiting.clear();
    resumeOrigin();
  }

  /** The client is slow. */
  void pause() {
    isPaused = true;
    if (backlog != null) {
      backlog.pause();
    }
    if (feed != null) {
      feed.pause();
    } else if (fill != null) {
      feed = feedBehind(fill);
    } else if (!isComplete) {
      origin.pause();
    }
  }

  /** The client takes content again. */
  void resume() {
    isPaused = false;
    if (backlog != null) {
      backlog.resume();
    }
    if (feed != null) {
      feed.resume();
      advance();
    } else if (backlog != null) {
      readOn();
    } else {
      resumeOrigin();
    }
  }

  private ContentFeed feedBehind(Fill source) {
    source.octets().retain();
    ContentFeed behind =
        new ContentFeed(client, source.octets(), source.contentOffset(), passedBytes);
    behind.pause();
    return behind;
  }

  private void advance() {
    ContentFeed current = feed;
    if (current == null || !current.advance(storedBytes)) {
      return;
    }
    passedBytes = storedBytes;
    feed = null;
    current.close();
    if (backlog != null) {
      readOn();
      return;
    }
    while (!waiting.isEmpty()) {
      client.write(waiting.remove());
    }
    if (isComplete && !isClosed) {
      client.end(trailers);
    } else if (fill == null && !isPaused) {
      resumeOrigin();
    }
  }

  /** Takes what the window has, behind what is stored. */
  private void readOn() {
    Backlog rest = backlog;
    if (rest == null || feed != null) {
      return;
    }
    if (!isPaused) {
      rest.resume();
    }
    if (rest.advance() && isComplete && !isClosed) {
      isClosed = true;
      client.end(trailers);
    }
  }

  private void resumeOrigin() {
    if (!isComplete) {
      origin.resume();
    }
  }
}
