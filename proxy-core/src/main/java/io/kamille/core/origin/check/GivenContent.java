package io.kamille.core.origin.check;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.netty.buffer.ByteBuf;

/** Content of a request of ours, given in one piece. Confined to its loop. */
public final class GivenContent implements RequestContent {

  private final ByteBuf content;

  /** Takes ownership of {@code content}, which may be garbage collected. */
  public GivenContent(ByteBuf content) {
    this.content = content;
  }

  /** As a stream: it is not taken in before it is sent. */
  @Override
  public long length() {
    return UNKNOWN_LENGTH;
  }

  @Override
  public void start(ContentSink sink) {
    sink.write(content);
    sink.end(null);
  }

  @Override
  public void tunnel(ContentSink sink) {
    sink.end(null);
  }

  @Override
  public void pause() {}

  @Override
  public void resume() {}

  @Override
  public void cancel(Failure why) {}
}
