package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Settings;
import org.jspecify.annotations.Nullable;

/**
 * Header sections of one connection to an origin: for whom each is, and whether it is a head or
 * trailers (RFC 9113 §8.1). Confined to its loop.
 */
final class ResponseIntake extends SectionIntake {

  private final H2Owner.Client owner;
  private final ResponseSink sink;
  private Fields fields = new Fields();

  ResponseIntake(
      H2Owner.Client owner,
      OpenStreams streams,
      Faults faults,
      HeadLimits limits,
      ResponseSink sink) {
    super(streams, faults, limits, sink);
    this.owner = owner;
    this.sink = sink;
  }

  @Override
  boolean begins(int id) {
    taker = Taker.NOBODY;
    H2Stream stream = streams.find(id);
    if (stream != null) {
      if (!stream.hasReceivedAll()) {
        taker = responses(stream).awaitsHead() ? Taker.HEAD : Taker.TRAILERS;
      }
      return true;
    }
    if (streams.isIdle(id)) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "a response on a stream that is not open");
    } else if (streams.endOf(id) == OpenStreams.End.RESET_BY_US) {
      return faults.spend(AttackBudget.CONTROL);
    } else {
      faults.fail(Http2Error.STREAM_CLOSED, "a header section on a closed stream");
    }
    return false;
  }

  @Override
  void decodes() {
    @Nullable Fields into = taker == Taker.NOBODY ? null : fields;
    if (into != null) {
      into.clear();
    }
    sink.begin(limits, into, taker == Taker.TRAILERS);
  }

  @Override
  void head(int id, boolean isLast) {
    H2Stream stream = streams.find(id);
    if (stream == null) {
      return;
    }
    ResponseTaker response = responses(stream);
    if (sink.isTooLarge()) {
      response.headIsTooLarge();
      return;
    }
    Fields stored = fields;
    ResponseHead head = sink.head(stored);
    if (head == null || (head.isInterim() && isLast)) {
      String reason = head == null ? "no valid :status" : "an interim response that ends";
      faults.reset(stream.id(), Http2Error.PROTOCOL_ERROR, reason);
      return;
    }
    fields = new Fields();
    response.responded(head, sink.contentLength(), isLast);
    if (isLast && !stream.isOver()) {
      stream.arrivedEnd();
    }
  }

  @Override
  void trailers(int id, boolean isLast) {
    H2Stream stream = streams.find(id);
    if (stream == null) {
      return;
    }
    if (!isLast) {
      faults.reset(stream.id(), Http2Error.PROTOCOL_ERROR, "trailers that do not end");
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
  void malformed(int id, Http2Error code, String reason) {
    if (streams.find(id) != null) {
      faults.reset(id, code, reason);
    }
  }

  /** RFC 9113 §6.5.2: no server takes pushes. */
  @Override
  boolean maySet(Http2Settings given) {
    return !Boolean.TRUE.equals(given.pushEnabled());
  }

  /** RFC 9218 §7.1: no server states any. */
  @Override
  boolean priorityUpdate(ByteBuf payload) {
    return false;
  }

  @Override
  void settings(Http2Settings given) {
    owner.settings(given);
  }

  @Override
  void goAway(int lastId) {
    owner.goAway(lastId);
  }
}
