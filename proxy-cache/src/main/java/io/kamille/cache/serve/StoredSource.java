package io.kamille.cache.serve;

import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import java.util.concurrent.Executor;

/**
 * The content of a stored response, or a part of it, on its way to a client that may be slow.
 * Confined to the client's loop.
 */
final class StoredSource implements ContentSource {

  /*
   * Regions may be all of the content and wait in no buffer of ours, so the reply ends only when
   * the client has taken them: until then the sink pauses us.
   */
  private final Reply reply;
  private final ContentFeed feed;
  private final long length;
  private final boolean byRegion;
  private boolean isStarted;

  /**
   * Takes over one lease on the response, and gives it back when the last slice is written.
   *
   * @param loop runs tasks on the client's loop
   */
  StoredSource(
      Reply reply,
      StoredResponse stored,
      long offset,
      long length,
      boolean byRegion,
      Executor loop) {
    this.reply = reply;
    this.length = length;
    this.byRegion = byRegion;
    long from = stored.contentOffset() + offset;
    this.feed = ContentFeed.of(reply, stored.content(), from, byRegion, loop, this::advance);
    stored.content().retain();
    stored.release();
  }

  /** Begins, after the head was written. */
  void start() {
    isStarted = true;
    advance();
  }

  private void advance() {
    if (isStarted && feed.advance(length) && !(byRegion && feed.isPaused())) {
      feed.close();
      reply.end(null);
    }
  }

  @Override
  public void pause() {
    feed.pause();
  }

  @Override
  public void resume() {
    feed.resume();
    advance();
  }

  @Override
  public void cancel(Failure why) {
    feed.close();
  }
}
