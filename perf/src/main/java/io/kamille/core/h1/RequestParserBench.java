package io.kamille.core.h1;

import io.kamille.perf.MicroBench;
import io.kamille.perf.load.SampleRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.ReferenceCountUtil;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/** What it costs to parse a request head; Netty's decoder, in a channel of its own, for scale. */
public class RequestParserBench extends MicroBench {

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
