package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;

/**
 * Header sections of one connection: for whom each is, and what becomes of it. Also what else
 * differs between the sides of a connection. Confined to its loop.
 */
abstract class SectionIntake {

  /*
   * A section is always decoded, because the table of the connection changes with it (RFC 7541
   * §2.2); so it has to be known before whether anybody wants it.
   */
  enum Taker {
    HEAD,
    TRAILERS,
    NOBODY
  }

  final OpenStreams streams;
  final Faults faults;
  final HeadLimits limits;
  Taker taker = Taker.NOBODY;
  private final SectionSink sink;
  private final Http2HeadersDecoder decoder;

  SectionIntake(OpenStreams streams, Faults faults, HeadLimits limits, SectionSink sink) {
    this.streams = streams;
    this.faults = faults;
    this.limits = limits;
    this.sink = sink;
    this.decoder = new Decoder();
  }

  /** Decodes sections for the reader of frames. */
  final Http2HeadersDecoder decoder() {
    return decoder;
  }

  /** A section begins. Returns false if none may come on this stream: the connection has failed. */
  abstract boolean begins(int id);

  /** The section that has begun is about to be decoded: tells the sink where it goes. */
  abstract void decodes();

  /** A section is complete. */
  final void complete(int id, boolean isLast) {
    switch (taker) {
      case HEAD -> head(id, isLast);
      case TRAILERS -> trailers(id, isLast);
      case NOBODY -> unwanted(id);
    }
  }

  abstract void head(int id, boolean isLast);

  /** RFC 9113 §8.1: trailers are the last of a message. */
  abstract void trailers(int id, boolean isLast);

  final void unwanted(int id) {
    if (streams.find(id) != null) {
      faults.reset(id, Http2Error.STREAM_CLOSED, "a header section behind the end");
    }
  }

  /** A section was malformed. */
  abstract void malformed(int id, Http2Error code, String reason);

  /** A burst of reads is over. */
  void handOn() {}

  /** The connection is gone. */
  void release() {}

  /** Whether the other side may set these. */
  boolean maySet(Http2Settings given) {
    return true;
  }

  /**
   * The other side states a priority in these octets, which are at least a stream's id. Returns
   * false if it may not.
   */
  abstract boolean priorityUpdate(ByteBuf payload);

  /** The other side has set its settings. */
  void settings(Http2Settings given) {}

  /** The other side takes no streams above this one. */
  void goAway(int lastId) {}

  /** Decodes into the sink of the loop. */
  private final class Decoder extends DefaultHttp2HeadersDecoder {

    Decoder() {
      // Twice the limit: the sink tells what is over it; only what is far over it resets.
      super(true, false, 2L * limits.headBytes());
    }

    @Override
    public Http2Headers decodeHeaders(int streamId, ByteBuf block) throws Http2Exception {
      decodes();
      return super.decodeHeaders(streamId, block);
    }

    @Override
    protected Http2Headers newHeaders() {
      return sink;
    }
  }
}
