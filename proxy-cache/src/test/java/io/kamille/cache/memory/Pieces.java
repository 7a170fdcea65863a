package io.kamille.cache.memory;

import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Failure;
import io.kamille.core.http.Fields;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A sink that takes regions, and passes everything on. */
final class Pieces implements ContentSink {

  private final Consumer<Object> consumer;

  Pieces(Consumer<Object> consumer) {
    this.consumer = consumer;
  }

  /** What all of {@code stored} is sent in; the caller releases them. */
  static List<Object> of(StoredBytes stored) {
    return of(stored, 0, stored.length());
  }

  static List<Object> of(StoredBytes stored, long offset, long length) {
    List<Object> pieces = new ArrayList<>();
    stored.send(offset, length, new Pieces(pieces::add));
    return pieces;
  }

  /** Sends everything once, by regions where possible, and drops it. */
  static void drop(StoredBytes stored) {
    of(stored).forEach(ReferenceCountUtil::release);
  }

  static List<FileRegion> regions(List<Object> pieces) {
    return pieces.stream()
        .filter(FileRegion.class::isInstance)
        .map(FileRegion.class::cast)
        .toList();
  }

  @Override
  public boolean takesRegions() {
    return true;
  }

  @Override
  public void write(ByteBuf chunk) {
    consumer.accept(chunk);
  }

  @Override
  public void write(FileRegion region) {
    consumer.accept(region);
  }

  @Override
  public void end(@Nullable Fields trailers) {}

  @Override
  public void abort(Failure why) {}
}
