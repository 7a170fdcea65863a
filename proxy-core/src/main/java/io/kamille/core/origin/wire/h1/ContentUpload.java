package io.kamille.core.origin.wire.h1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.ChunkedEncoder;
import io.kamille.core.http.Fields;
import io.kamille.core.origin.wire.OriginOutput;
import io.kamille.core.origin.wire.RemovedFields;
import io.netty.buffer.ByteBuf;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The content of one request on its way to the origin. Confined to its loop. */
final class ContentUpload implements ContentSink {

  private final OriginOutput output;
  private final RequestContent content;
  private final RemovedFields removed;
  private final Consumer<Failure> broken;
  private long left;
  private boolean started;
  private boolean over;
  private boolean paused;

  /**
   * Content still to be asked for.
   *
   * @param removed what trailers may not carry
   * @param broken told if the client did not send all it had announced: the origin must not believe
   *     it did
   */
  ContentUpload(
      OriginOutput output,
      RequestContent content,
      RemovedFields removed,
      Consumer<Failure> broken) {
    this.output = output;
    this.content = content;
    this.removed = removed;
    this.broken = broken;
    this.left = content.length();
  }

  /** Asks the client for its content; some may come before this returns. */
  void start() {
    started = true;
    content.start(this);
  }

  boolean isStarted() {
    return started;
  }

  /** Whether nothing more will be sent, be it that all was. */
  boolean isOver() {
    return over;
  }

  private boolean isChunked() {
    return content.length() == RequestContent.UNKNOWN_LENGTH;
  }

  @Override
  public void write(ByteBuf chunk) {
    if (over) {
      chunk.release();
      return;
    }
    if (isChunked()) {
      ChunkedEncoder.write(output.channel(), chunk);
    } else {
      left -= chunk.readableBytes();
      output.write(chunk);
    }
    output.queued();
    if (!output.isWritable() && !over && !paused) {
      paused = true;
      content.pause();
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (over) {
      return;
    }
    over = true;
    if (isChunked()) {
      if (trailers != null) {
        removed.removeFrom(trailers);
      }
      ChunkedEncoder.end(output.channel(), trailers);
    } else if (left != 0) {
      broken.accept(
          Failure.of(Kind.PROXY_INTERNAL_ERROR, "content of another length than announced"));
      return;
    }
    output.queued();
  }

  @Override
  public void abort(Failure why) {
    if (!over) {
      over = true;
      broken.accept(why);
    }
  }

  /** The origin takes more again. */
  void resume() {
    if (paused) {
      paused = false;
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
