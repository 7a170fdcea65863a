package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.kamille.core.exchange.ConnectionExchange;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A hit makes next to no garbage: the slice that is sent, and nothing else. */
class HitAllocationTest {

  private static final int HITS = 20_000;
  private static final long BYTES_PER_HIT_LIMIT = 100;

  @Test
  void aHitAllocatesItsSlice() {
    try (CacheFixture fixture = new CacheFixture()) {
      hits(fixture, "Accept", "text/html");
    }
  }

  @Test
  void normalFormsAllocateNothing() {
    try (CacheFixture fixture =
        NormalFormFlowTest.varyingBy("cookie:currency", "language:de,en", "images", "device")) {
      hits(
          fixture,
          "Cookie",
          "a=1; currency=EUR",
          "Accept-Language",
          "fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5",
          "Accept",
          "image/avif,image/webp,*/*;q=0.8",
          "User-Agent",
          "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0");
    }
  }

  private static void hits(CacheFixture fixture, String... fields) {
    fixture.fill(
        fields,
        200,
        "x".repeat(1024),
        "Cache-Control",
        "max-age=60",
        "ETag",
        "\"v1\"",
        "Vary",
        "Accept-Encoding");
    Counting counting = new Counting();
    RequestHead request = RequestHead.of("GET", CacheFixture.URI, fields);
    ConnectionExchange exchange = CacheFixture.exchange(fixture.loop(), request, counting);
    for (int i = 0; i < 5; i++) {
      hit(fixture, exchange, request, counting);
    }
    long perHit = Long.MAX_VALUE;
    for (int i = 0; i < 10; i++) {
      long before = allocated();
      hit(fixture, exchange, request, counting);
      perHit = Math.min(perHit, (allocated() - before) / HITS);
    }
    assertThat(counting.replies).isEqualTo(15L * HITS);
    assertThat(perHit).isLessThanOrEqualTo(BYTES_PER_HIT_LIMIT);
  }

  private static void hit(
      CacheFixture fixture, ConnectionExchange exchange, RequestHead request, Reply reply) {
    for (int i = 0; i < HITS; i++) {
      exchange.reuse(exchange.client(), exchange.local(), request, RequestContent.NONE, reply);
      fixture.handler.handle(exchange);
    }
  }

  private static long allocated() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getCurrentThreadAllocatedBytes();
  }

  /** Takes stored responses and keeps nothing of them. */
  private static final class Counting implements Reply {

    private long replies;

    @Override
    public void stored(
        int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
      linesAndContent.release();
      replies++;
    }

    @Override
    public void open(ContentSource source) {}

    @Override
    public void interim(ResponseHead head) {}

    @Override
    public void head(ResponseHead head, long contentLength) {}

    @Override
    public void storedHead(
        int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
      lines.release();
    }

    @Override
    public void write(ByteBuf chunk) {
      chunk.release();
    }

    @Override
    public void end(@Nullable Fields trailers) {}

    @Override
    public void abort(Failure why) {}

    @Override
    public void fail(Failure failure) {}

    @Override
    public boolean isBegun() {
      return false;
    }

    @Override
    public boolean isEnded() {
      return false;
    }
  }
}
