package io.kamille.admin;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes a connection that gets from one answer to the next too slowly: idle, sending drop by drop,
 * or not reading. Confined to its loop.
 */
final class AnswerDeadline extends ChannelOutboundHandlerAdapter {

  private final Duration limit;
  private @Nullable Future<?> closing;

  AnswerDeadline(Duration limit) {
    this.limit = limit;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    restart(context);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    if (closing != null) {
      closing.cancel(false);
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object answer, ChannelPromise promise) {
    context.write(answer, promise.unvoid()).addListener(_ -> restart(context));
  }

  private void restart(ChannelHandlerContext context) {
    if (closing != null) {
      closing.cancel(false);
    }
    closing =
        context.executor().schedule(() -> context.close(), limit.toMillis(), TimeUnit.MILLISECONDS);
  }
}
