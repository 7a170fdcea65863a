package io.kamille.cache;

import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.TagFields;
import io.kamille.cache.rules.VaryBy;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.settings.MemorySettings;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cache.tiers.WorkerThreads;
import io.kamille.core.exchange.ConnectionExchange;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.perf.MicroBench;
import io.kamille.perf.load.FixedContent;
import io.kamille.perf.load.LoopThreads;
import io.kamille.perf.load.SampleRequest;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What a hit costs between the parsed request and the reply: key, lookup, plan, field lines,
 * slices.
 */
@Fork(
    value = 2,
    jvmArgsAppend = {LoopThreads.OPTION, LoopThreads.CLASS_OPTION})
public class CacheHandlerBench extends MicroBench {

  private static final long CAPACITY_BYTES = 16 << 20;
  private static final InetSocketAddress CLIENT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
  private static final InetSocketAddress LOCAL =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 8080);

  @Param({"1024", "16384", "1048576"})
  int size;

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final Cache cache =
      Cache.open(
          new MemorySettings(CAPACITY_BYTES, false, Long.MAX_VALUE),
          WorkerThreads.compressing(),
          new MetricRegistry(),
          WallClock.system());
  private final CacheHandler handler =
      cache.handler(
          this::answer,
          new CacheSettings(
              CachePolicy.DEFAULT,
              CompressionRules.OFF,
              CAPACITY_BYTES / 2,
              false,
              NamePatterns.NONE,
              VaryBy.NONE,
              QueryRules.NONE,
              TagFields.USUAL),
          RouteGate.OPEN);
  private final RequestHead request = SampleRequest.BROWSER.head();
  private final NullReply reply = new NullReply();
  private final ConnectionExchange exchange =
      new ConnectionExchange(
          channel.eventLoop(), CLIENT, LOCAL, request, RequestContent.NONE, reply);
  private int forwarded;

  private void answer(Exchange forwardedExchange) {
    forwarded++;
    var to = forwardedExchange.reply();
    to.head(ResponseHead.of(200, "Cache-Control", "max-age=3600"), size);
    to.write(Unpooled.wrappedBuffer(FixedContent.octets(size)));
    to.end(null);
  }

  @Setup
  public void store() {
    hit();
    channel.runPendingTasks();
  }

  @TearDown
  public void close() {
    channel.runPendingTasks();
    cache.close();
    channel.finishAndReleaseAll();
    if (forwarded != 1) {
      throw new IllegalStateException("forwarded: " + forwarded + " (expected: 1, then hits)");
    }
  }

  @Benchmark
  public long hit() {
    reply.clear();
    exchange.reuse(CLIENT, LOCAL, request, RequestContent.NONE, reply);
    handler.handle(exchange);
    return reply.octets();
  }
}
