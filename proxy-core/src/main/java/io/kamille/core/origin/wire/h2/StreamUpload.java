package io.kamille.core.origin.wire.h2;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.origin.wire.RemovedFields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** The content of one request on its way to an origin in HTTP/2. Confined to its loop. */
final class StreamUpload implements ContentSink {

  /** The stream that it goes on. */
  interface Carriage {

    /** Queues content. Takes ownership. */
    void send(ByteBuf chunk);

    /** Nothing follows but these trailer fields, which are copied. */
    void sendEnd(@Nullable Fields trailers);

    void sendReady();

    /** The client did not send all the content it had announced. */
    void uploadBroke(Failure why);
  }

  private final Carriage stream;
  private final RequestContent content;
  private final RemovedFields removed;
  private long left;
  private boolean started;
  private boolean over;

  /**
   * Content still to be asked for.
   *
   * @param removed what trailers may not carry
   */
  StreamUpload(Carriage stream, RequestContent content, RemovedFields removed) {
    this.stream = stream;
    this.content = content;
    this.removed = removed;
    this.left = content.length();
  }

  /** Asks the client for its content, once; some may come before this returns. */
  void start() {
    if (!started && !over) {
      started = true;
      content.start(this);
    }
  }

  boolean isStarted() {
    return started;
  }

  /** Whether nothing more will be sent, be it that all was. */
  boolean isOver() {
    return over;
  }

  @Override
  public void write(ByteBuf chunk) {
    if (over) {
      chunk.release();
      return;
    }
    left -= chunk.readableBytes();
    stream.send(chunk);
    stream.sendReady();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (over) {
      return;
    }
    over = true;
    if (content.length() >= 0 && left != 0) {
      stream.uploadBroke(
          Failure.of(Kind.PROXY_INTERNAL_ERROR, "content of another length than announced"));
      return;
    }
    if (trailers != null) {
      removed.removeFrom(trailers);
    }
    stream.sendEnd(trailers);
    stream.sendReady();
  }

  @Override
  public void abort(Failure why) {
    if (!over) {
      over = true;
      stream.uploadBroke(why);
    }
  }

  void pause() {
    if (!over) {
      content.pause();
    }
  }

  void resume() {
    if (!over) {
      content.resume();
    }
  }

  /** Sends no more, and says so to whom the content comes from. */
  void stop(Failure why) {
    if (started && !over) {
      over = true;
      content.cancel(why);
    }
    over = true;
  }
}
