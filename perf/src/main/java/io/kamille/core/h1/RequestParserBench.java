package io.kamille.core.h1;

import io.kamille.perf.load.SampleRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** What it costs to parse a request head; Netty's decoder, in a channel of its own, for scale. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
@State(Scope.Thread)
public class RequestParserBench {

  @Param SampleRequest request = SampleRequest.CURL;

  private final RequestParser parser = new RequestParser(HeadLimits.REQUEST);
  private final EmbeddedChannel decoder = new EmbeddedChannel(new HttpRequestDecoder());
  private ByteBuf octets = Unpooled.EMPTY_BUFFER;

  @Setup
  public void fill() {
    octets = Unpooled.directBuffer().writeBytes(request.octets());
  }

  @TearDown
  public void release() {
    octets.release();
    decoder.finishAndReleaseAll();
  }

  @Benchmark
  public RequestParser kamille() {
    parser.reset();
    octets.readerIndex(0);
    if (parser.parse(octets) != SectionParser.Outcome.COMPLETE) {
      throw new IllegalStateException("the head of " + request + " was not parsed");
    }
    return parser;
  }

  @Benchmark
  public void netty(Blackhole sink) {
    decoder.writeInbound(octets.retainedDuplicate().readerIndex(0));
    Object part = decoder.readInbound();
    while (part != null) {
      sink.consume(part);
      ReferenceCountUtil.release(part);
      part = decoder.readInbound();
    }
  }
}
