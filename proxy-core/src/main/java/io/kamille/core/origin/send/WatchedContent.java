package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/** The content of a request, which says when it has come to its end. Confined to its loop. */
final class WatchedContent implements RequestContent {

  private final RequestContent content;
  private final Runnable atEnd;

  /**
   * Passes on {@code content}.
   *
   * @param atEnd told after the sink that the content is complete, or has broken off
   */
  WatchedContent(RequestContent content, Runnable atEnd) {
    this.content = content;
    this.atEnd = atEnd;
  }

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
    content.start(new Watching(sink));
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

  private final class Watching implements ContentSink {

    private final ContentSink sink;

    Watching(ContentSink sink) {
      this.sink = sink;
    }

    @Override
    public void write(ByteBuf chunk) {
      sink.write(chunk);
    }

    @Override
    public void end(@Nullable Fields trailers) {
      sink.end(trailers);
      atEnd.run();
    }

    @Override
    public void abort(Failure why) {
      sink.abort(why);
      atEnd.run();
    }
  }
}
