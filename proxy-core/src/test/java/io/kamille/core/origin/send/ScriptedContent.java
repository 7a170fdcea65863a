package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Request content that a test feeds by hand. Fed from one thread. */
final class ScriptedContent implements RequestContent {

  private final EventLoop loop;
  private final long length;
  private final CompletableFuture<ContentSink> started = new CompletableFuture<>();
  private final CompletableFuture<ContentSink> tunnelled = new CompletableFuture<>();
  private final CompletableFuture<Failure> cancelled = new CompletableFuture<>();
  private CompletableFuture<ContentSink> line =
      CompletableFuture.anyOf(started, tunnelled).thenApply(ContentSink.class::cast);
  private volatile boolean paused;
  private volatile boolean stopped;

  ScriptedContent(EventLoop loop, long length) {
    this.loop = loop;
    this.length = length;
  }

  CompletableFuture<ContentSink> started() {
    return started;
  }

  CompletableFuture<ContentSink> tunnelled() {
    return tunnelled;
  }

  CompletableFuture<Failure> cancelled() {
    return cancelled;
  }

  /** Completes once all that was sent before has been delivered. */
  CompletableFuture<?> fed() {
    return line;
  }

  boolean isPaused() {
    return paused;
  }

  /** Sends a chunk once somebody has started the content or the tunnel. */
  void write(String text) {
    ByteBuf chunk = chunk(text);
    run(sink -> sink.write(chunk));
  }

  private static ByteBuf chunk(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
  }

  /** Sends the last chunk and the end in one step, as one read does: no answer comes between. */
  void finish(String text) {
    ByteBuf last = chunk(text);
    run(
        sink -> {
          sink.write(last);
          sink.end(null);
        });
  }

  void end(@Nullable Fields trailers) {
    run(sink -> sink.end(trailers));
  }

  void abort(Failure why) {
    run(sink -> sink.abort(why));
  }

  private void run(Consumer<ContentSink> action) {
    // One behind the other: actions that wait for the same future would run last first.
    line =
        line.thenApplyAsync(
            sink -> {
              if (!stopped) {
                action.accept(sink);
              }
              return sink;
            },
            loop);
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public void start(ContentSink sink) {
    started.complete(sink);
  }

  @Override
  public void tunnel(ContentSink sink) {
    tunnelled.complete(sink);
  }

  @Override
  public void pause() {
    paused = true;
  }

  @Override
  public void resume() {
    paused = false;
  }

  @Override
  public void cancel(Failure why) {
    stopped = true;
    cancelled.complete(why);
  }
}
