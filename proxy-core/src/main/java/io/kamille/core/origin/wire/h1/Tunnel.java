package io.kamille.core.origin.wire.h1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.origin.wire.OriginOutput;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The way from the client to the origin after an upgrade (RFC 9110 §7.8): octets as they come.
 * Either side may fall silent before the other. Confined to its loop.
 */
final class Tunnel implements ContentSink {

  private final OriginOutput output;
  private final RequestContent client;
  private final Runnable over;
  private boolean clientEnded;
  private boolean isAllSent;
  private boolean originEnded;
  private boolean paused;

  /**
   * A tunnel still to be opened.
   *
   * @param over called once both sides have said all they had to say, or one of them is gone
   */
  Tunnel(OriginOutput output, RequestContent client, Runnable over) {
    this.output = output;
    this.client = client;
    this.over = over;
  }

  void open() {
    client.tunnel(this);
  }

  @Override
  public void write(ByteBuf chunk) {
    if (clientEnded) {
      chunk.release();
      return;
    }
    output.write(chunk);
    output.queued();
    if (!output.isWritable() && !paused) {
      paused = true;
      client.pause();
    }
  }

  /** The client has said all: the origin hears of it once the last octets are out. */
  @Override
  public void end(@Nullable Fields trailers) {
    if (clientEnded) {
      return;
    }
    clientEnded = true;
    output.end(this::allSent);
  }

  private void allSent() {
    isAllSent = true;
    if (originEnded) {
      over.run();
    }
  }

  @Override
  public void abort(Failure why) {
    if (!clientEnded) {
      clientEnded = true;
      over.run();
    }
  }

  /** The origin has said all. */
  void originEnded() {
    originEnded = true;
    if (isAllSent) {
      over.run();
    }
  }

  /** The origin takes more again. */
  void resume() {
    if (paused) {
      paused = false;
      client.resume();
    }
  }

  /** The origin is gone: the client need not talk on. */
  void stop(Failure why) {
    if (!clientEnded) {
      clientEnded = true;
      client.cancel(why);
    }
  }
}
