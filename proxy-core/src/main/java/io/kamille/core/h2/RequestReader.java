package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** Decodes the header sections of one connection into the sink of its loop. */
final class RequestReader extends DefaultHttp2HeadersDecoder {

  private final RequestSink sink;
  private final HeadLimits limits;
  private @Nullable RequestHead head;
  private @Nullable Fields trailers;

  RequestReader(RequestSink sink, HeadLimits limits) {
    // Twice the limit: the sink answers what is over it; only what is far over it resets.
    super(true, false, 2L * limits.headBytes());
    this.sink = sink;
    this.limits = limits;
  }

  /** The next section is looked at only. */
  void intoNothing() {
    head = null;
    trailers = null;
  }

  /** The next section is a head to be stored there. */
  void into(RequestHead head) {
    this.head = head;
  }

  /** The next section is trailers to be stored there. */
  void into(Fields trailers) {
    head = null;
    this.trailers = trailers;
  }

  @Override
  public Http2Headers decodeHeaders(int streamId, ByteBuf block) throws Http2Exception {
    RequestHead into = head;
    if (into == null) {
      sink.beginTrailers(trailers == null ? limits : HeadLimits.TRAILERS, trailers);
    } else {
      sink.beginHead(into, limits);
    }
    return super.decodeHeaders(streamId, block);
  }

  @Override
  protected Http2Headers newHeaders() {
    return sink;
  }
}
