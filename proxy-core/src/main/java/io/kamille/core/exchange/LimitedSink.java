package io.kamille.core.exchange;

import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** Passes content on up to a limit. Confined to the exchange's loop. */
public final class LimitedSink implements ContentSink {

  private final ContentSink sink;
  private final Runnable exceeded;
  private long left;

  /**
   * Passes up to {@code limit} octets on to {@code sink}.
   *
   * @param exceeded called for each chunk beyond the limit, which is dropped; to end the exchange
   */
  public LimitedSink(ContentSink sink, long limit, Runnable exceeded) {
    this.sink = sink;
    this.left = limit;
    this.exceeded = exceeded;
  }

  @Override
  public void write(ByteBuf chunk) {
    left -= chunk.readableBytes();
    if (left < 0) {
      chunk.release();
      exceeded.run();
    } else {
      sink.write(chunk);
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (left >= 0) {
      sink.end(trailers);
    }
  }

  @Override
  public void abort(Failure why) {
    sink.abort(why);
  }
}
