package io.kamille.core.client.h1;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A sink that joins what it is given and runs something at the end. */
final class TestSink implements ContentSink {

  private static final int KEEP = 100_000;

  final AtomicLong bytes = new AtomicLong();
  final List<Failure> aborts = new CopyOnWriteArrayList<>();
  final List<String> trailers = new CopyOnWriteArrayList<>();
  volatile boolean ended;
  private final StringBuilder text = new StringBuilder();
  private volatile Runnable atEnd = () -> {};

  /** What to do once all came. */
  void atEnd(Runnable task) {
    atEnd = task;
  }

  @Override
  public void write(ByteBuf chunk) {
    if (ended || !aborts.isEmpty()) {
      chunk.release();
      throw new AssertionError("a chunk behind the end");
    }
    if (bytes.get() < KEEP) {
      text.append(chunk.toString(StandardCharsets.ISO_8859_1));
    }
    bytes.addAndGet(chunk.readableBytes());
    chunk.release();
  }

  /** What came, as far as somebody waited for {@link #bytes} or {@link #ended}. */
  String text() {
    return text.toString();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (ended || !aborts.isEmpty()) {
      throw new AssertionError("ended twice");
    }
    if (trailers != null) {
      this.trailers.add(trailers.toString());
    }
    ended = true;
    atEnd.run();
  }

  @Override
  public void abort(Failure why) {
    if (ended || !aborts.isEmpty()) {
      throw new AssertionError("ended twice");
    }
    aborts.add(why);
  }
}
