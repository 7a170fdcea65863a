package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/**
 * Header sections of one connection to an origin: for whom each is, and whether it is a head or
 * trailers (RFC 9113 §8.1). Confined to its loop.
 */
final class ResponseIntake implements SectionIntake {

  private enum Taker {
    HEAD,
    TRAILERS,
    NOBODY
  }

  private final PeerOwner owner;
  private final OpenStreams streams;
  private final Faults faults;
  private final HeadLimits limits;
  private final ResponseSink sink;
  private final Decoder decoder;
  private Fields fields = new Fields();
  private Taker taker = Taker.NOBODY;

  ResponseIntake(
      PeerOwner owner, OpenStreams streams, Faults faults, HeadLimits limits, ResponseSink sink) {
    this.owner = owner;
    this.streams = streams;
    this.faults = faults;
    this.limits = limits;
    this.sink = sink;
    this.decoder = new Decoder(limits);
  }

  @Override
  public Http2HeadersDecoder decoder() {
    return decoder;
  }

  @Override
  public boolean begins(int id) {
    taker = Taker.NOBODY;
    H2Stream stream = streams.find(id);
    if (stream != null) {
      if (!stream.hasReceivedAll()) {
        taker = responses(stream).awaitsHead() ? Taker.HEAD : Taker.TRAILERS;
      }
      return true;
    }
    if (streams.isIdle(id)) {
      faults.fail(ErrorCode.PROTOCOL_ERROR, "a response on a stream that is not open");
    } else if (streams.endOf(id) == ClosedStreams.End.RESET_BY_US) {
      return true;
    } else {
      faults.fail(ErrorCode.STREAM_CLOSED, "a header section on a closed stream");
    }
    return false;
  }

  @Override
  public void complete(int id, boolean isLast) {
    H2Stream stream = streams.find(id);
    if (stream == null) {
      return;
    }
    switch (taker) {
      case HEAD -> head(stream, isLast);
      case TRAILERS -> trailers(stream, isLast);
      case NOBODY -> faults.reset(id, ErrorCode.STREAM_CLOSED);
    }
  }

  private void head(H2Stream stream, boolean isLast) {
    ResponseTaker response = responses(stream);
    if (sink.isTooLarge()) {
      response.headIsTooLarge();
      return;
    }
    Fields stored = fields;
    ResponseHead head = sink.head(stored);
    if (head == null || (head.isInterim() && isLast)) {
      faults.reset(stream.id(), ErrorCode.PROTOCOL_ERROR);
      return;
    }
    fields = new Fields();
    response.responded(head, sink.contentLength(), isLast);
    if (isLast && !stream.isOver()) {
      stream.arrivedEnd();
    }
  }

  private void trailers(H2Stream stream, boolean isLast) {
    if (!isLast) {
      faults.reset(stream.id(), ErrorCode.PROTOCOL_ERROR);
      return;
    }
    if (sink.isTooLarge()) {
      responses(stream).headIsTooLarge();
      return;
    }
    responses(stream).trailers(fields);
    fields = new Fields();
    stream.arrivedEnd();
  }

  private static ResponseTaker responses(H2Stream stream) {
    return (ResponseTaker) stream;
  }

  @Override
  public void malformed(int id, ErrorCode code) {
    if (streams.find(id) != null) {
      faults.reset(id, code);
    }
  }

  /** We open the streams: nobody can flood us by ending them. */
  @Override
  public int costOfReset() {
    return AttackBudget.CONTROL;
  }

  /** RFC 9113 §6.5.2: no server takes pushes. */
  @Override
  public boolean maySet(Http2Settings given) {
    return !Boolean.TRUE.equals(given.pushEnabled());
  }

  /** RFC 9218 §7.1: no server states any. */
  @Override
  public boolean priorityUpdate(ByteBuf payload) {
    return false;
  }

  @Override
  public void settings(Http2Settings given) {
    owner.settings(given);
  }

  @Override
  public void goAway(int lastId) {
    owner.goAway(lastId);
  }

  /** Decodes into the sink of the loop. */
  private final class Decoder extends DefaultHttp2HeadersDecoder {

    Decoder(HeadLimits limits) {
      // Twice the limit: the sink tells what is over it; only what is far over it resets.
      super(true, false, 2L * limits.headBytes());
    }

    @Override
    public Http2Headers decodeHeaders(int streamId, ByteBuf block) throws Http2Exception {
      @Nullable Fields into = taker == Taker.NOBODY ? null : fields;
      if (into != null) {
        into.clear();
      }
      sink.begin(limits, into, taker == Taker.TRAILERS);
      return super.decodeHeaders(streamId, block);
    }

    @Override
    protected Http2Headers newHeaders() {
      return sink;
    }
  }
}
