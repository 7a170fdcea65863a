package io.kamille.core.auth;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Content without the trailer fields behind it, which some origins take for header fields (RFC 9110
 * §6.5.1). Confined to its loop.
 */
record UntrailedContent(RequestContent content) implements RequestContent {

  @Override
  public long length() {
    return content.length();
  }

  @Override
  public boolean isAskedFor() {
    return content.isAskedFor();
  }

  @Override
  public void start(ContentSink sink) {
    content.start(
        new ContentSink() {
          @Override
          public void write(ByteBuf chunk) {
            sink.write(chunk);
          }

          @Override
          public void end(@Nullable Fields trailers) {
            sink.end(null);
          }

          @Override
          public void abort(Failure why) {
            sink.abort(why);
          }
        });
  }

  @Override
  public void tunnel(ContentSink sink) {
    content.tunnel(sink);
  }

  @Override
  public void pause() {
    content.pause();
  }

  @Override
  public void resume() {
    content.resume();
  }

  @Override
  public void cancel(Failure why) {
    content.cancel(why);
  }
}
