package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.TrailerParser;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Header sections of one connection from a client: for whom each is, and what becomes of a request
 * (RFC 9113 §5.1, §8.1). Confined to its loop.
 */
final class RequestIntake implements SectionIntake {

  /*
   * A section is always decoded, because the table of the connection changes with it (RFC 7541
   * §2.2); so it has to be known before whether anybody wants it.
   *
   * Requests are handed on at the end of a burst of reads. A stream that was opened and reset in
   * one burst, the way of rapid reset (CVE-2023-44487), never reaches anybody.
   */
  private enum Taker {
    REQUEST,
    TRAILERS,
    NOBODY
  }

  private final RequestOwner owner;
  private final OpenStreams streams;
  private final Faults faults;
  private final PriorityUpdates priorities;
  private final H2Settings settings;
  private final H2Stream.Carrier carrier;
  private final RequestSink sink;
  private final Decoder decoder;
  private final boolean secure;
  private final List<H2Stream> begun = new ArrayList<>(4);
  private @Nullable RequestHead head;
  private @Nullable Fields trailers;
  private Taker taker = Taker.NOBODY;

  RequestIntake(
      RequestOwner owner,
      OpenStreams streams,
      Faults faults,
      H2Settings settings,
      H2Stream.Carrier carrier,
      RequestSink sink,
      boolean secure) {
    this.owner = owner;
    this.streams = streams;
    this.faults = faults;
    this.priorities = new PriorityUpdates(streams);
    this.settings = settings;
    this.carrier = carrier;
    this.sink = sink;
    this.decoder = new Decoder(settings.head());
    this.secure = secure;
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
        taker = Taker.TRAILERS;
        trailers = new Fields();
      }
      return true;
    }
    if (id % 2 == 0) {
      faults.fail(ErrorCode.PROTOCOL_ERROR, "a stream that no client may open");
      return false;
    }
    if (id > streams.lastId()) {
      if (!streams.isTooLate(id)) {
        taker = Taker.REQUEST;
        emptyHead();
      }
      return true;
    }
    return admitLate(id);
  }

  private void emptyHead() {
    RequestHead next = head == null ? owner.newHead() : head;
    next.clear();
    head = next;
  }

  private boolean admitLate(int id) {
    switch (streams.endOf(id)) {
      case RESET_BY_US -> {
        return true;
      }
      case KNOWN -> faults.fail(ErrorCode.STREAM_CLOSED, "a header section on a closed stream");
      case UNKNOWN -> faults.fail(ErrorCode.PROTOCOL_ERROR, "a stream below one that was open");
    }
    return false;
  }

  @Override
  public void complete(int id, boolean isLast) {
    switch (taker) {
      case REQUEST -> request(id, isLast);
      case TRAILERS -> trailers(id, isLast);
      case NOBODY -> unwanted(id);
    }
  }

  private void unwanted(int id) {
    if (streams.find(id) != null) {
      faults.reset(id, ErrorCode.STREAM_CLOSED);
    }
  }

  private void request(int id, boolean isLast) {
    RequestHead request = head;
    if (request == null) {
      throw new IllegalStateException("request: no head was begun");
    }
    streams.used(id);
    RequestSink.Verdict verdict = sink.finish(secure);
    if (verdict.isMalformed() || (isLast && sink.contentLength() > 0)) {
      faults.reset(id, ErrorCode.PROTOCOL_ERROR);
      return;
    }
    if (streams.places() >= settings.streams()) {
      streams.reset(id, ErrorCode.REFUSED_STREAM);
      faults.spend(AttackBudget.CONTROL);
      return;
    }
    head = null;
    H2Stream stream = owner.opened(carrier, id, request, verdict, sink.contentLength(), isLast);
    stream.headReceived(isLast);
    Priority early = priorities.take(id);
    stream.priority(early == null ? sink.priority() : early);
    streams.add(stream);
    begun.add(stream);
  }

  /** RFC 9113 §8.1: trailers are the last of a message. */
  private void trailers(int id, boolean isLast) {
    H2Stream stream = streams.find(id);
    Fields came = trailers;
    trailers = null;
    if (stream == null || came == null) {
      return;
    }
    if (!isLast || sink.isTooLarge()) {
      faults.reset(id, ErrorCode.PROTOCOL_ERROR);
      return;
    }
    TrailerParser.removeForbidden(came);
    stream.receivedTrailers(came);
    if (!stream.isOver()) {
      stream.arrivedEnd();
    }
  }

  /** A section was malformed: its stream is reset, and counts as opened. */
  @Override
  public void malformed(int id, ErrorCode code) {
    if (taker == Taker.NOBODY) {
      unwanted(id);
    } else {
      streams.used(id);
      faults.reset(id, code);
    }
  }

  @Override
  public boolean priorityUpdate(ByteBuf payload) {
    return priorities.read(payload);
  }

  @Override
  public int costOfReset() {
    return AttackBudget.ABANDONED;
  }

  /** Hands on the requests that came. */
  @Override
  public void handOn() {
    for (int i = 0; i < begun.size(); i++) {
      H2Stream stream = begun.get(i);
      if (!stream.isOver()) {
        owner.begin(stream);
      }
    }
    begun.clear();
  }

  @Override
  public void release() {
    begun.clear();
  }

  /** Decodes into the sink of the loop. */
  private final class Decoder extends DefaultHttp2HeadersDecoder {

    private final HeadLimits limits;

    Decoder(HeadLimits limits) {
      // Twice the limit: the sink answers what is over it; only what is far over it resets.
      super(true, false, 2L * limits.headBytes());
      this.limits = limits;
    }

    @Override
    public Http2Headers decodeHeaders(int streamId, ByteBuf block) throws Http2Exception {
      RequestHead into = head;
      if (taker == Taker.REQUEST && into != null) {
        sink.beginHead(into, limits);
      } else if (taker == Taker.TRAILERS) {
        sink.beginTrailers(HeadLimits.TRAILERS, trailers);
      } else {
        sink.beginTrailers(limits, null);
      }
      return super.decodeHeaders(streamId, block);
    }

    @Override
    protected Http2Headers newHeaders() {
      return sink;
    }
  }
}
