package io.kamille.core.h2;

import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.TrailerParser;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Header sections of one connection from a client: for whom each is, and what becomes of a request
 * (RFC 9113 §5.1, §8.1). Confined to its loop.
 */
final class RequestIntake extends SectionIntake {

  /*
   * Requests are handed on at the end of a burst of reads. A stream that was opened and reset in
   * one burst, the way of rapid reset (CVE-2023-44487), never reaches anybody.
   *
   * Clients state priorities apart from their requests, too, and for streams that they have not
   * opened yet (RFC 9218 §7.1).
   */
  /** As many as there may be streams: more of them help nobody (RFC 9218 §7.1). */
  private static final int MOST_EARLY = 128;

  private static final int MOST_OCTETS = 64;

  private final H2Owner.Server owner;
  private final H2Settings settings;
  private final H2Stream.Carrier carrier;
  private final RequestSink sink;
  private final boolean secure;
  private final List<H2Stream> begun = new ArrayList<>(4);
  private @Nullable IntObjectMap<Priority> early;
  private @Nullable RequestHead head;
  private @Nullable Fields trailers;

  RequestIntake(
      H2Owner.Server owner,
      OpenStreams streams,
      Faults faults,
      H2Settings settings,
      H2Stream.Carrier carrier,
      RequestSink sink,
      boolean secure) {
    super(streams, faults, settings.head(), sink);
    this.owner = owner;
    this.settings = settings;
    this.carrier = carrier;
    this.sink = sink;
    this.secure = secure;
  }

  @Override
  boolean begins(int id) {
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
      faults.fail(Http2Error.PROTOCOL_ERROR, "a stream that no client may open");
      return false;
    }
    if (id > streams.lastId()) {
      if (!streams.isTooLate(id)) {
        taker = Taker.HEAD;
        emptyHead();
      }
      return true;
    }
    return admitLate(id);
  }

  @Override
  void decodes() {
    RequestHead into = head;
    if (taker == Taker.HEAD && into != null) {
      sink.beginHead(into, limits);
    } else if (taker == Taker.TRAILERS) {
      sink.beginTrailers(HeadLimits.TRAILERS, trailers);
    } else {
      sink.beginTrailers(limits, null);
    }
  }

  private void emptyHead() {
    RequestHead next = head == null ? owner.newHead() : head;
    next.clear();
    head = next;
  }

  private boolean admitLate(int id) {
    switch (streams.endOf(id)) {
      case RESET_BY_US -> {
        return faults.spend(AttackBudget.CONTROL);
      }
      case KNOWN -> faults.fail(Http2Error.STREAM_CLOSED, "a header section on a closed stream");
      case UNKNOWN -> faults.fail(Http2Error.PROTOCOL_ERROR, "a stream below one that was open");
    }
    return false;
  }

  @Override
  void head(int id, boolean isLast) {
    RequestHead request = head;
    if (request == null) {
      throw new IllegalStateException("request: no head was begun");
    }
    streams.used(id);
    RequestSink.Verdict verdict = sink.finish(secure, owner.believesScheme());
    if (verdict.isMalformed() || (isLast && sink.contentLength() > 0)) {
      faults.reset(id, Http2Error.PROTOCOL_ERROR, "a malformed request");
      return;
    }
    if (streams.places() >= settings.streams()) {
      streams.reset(id, Http2Error.REFUSED_STREAM);
      faults.spend(AttackBudget.CONTROL);
      return;
    }
    head = null;
    H2Stream stream = owner.opened(carrier, id, request, verdict, sink.contentLength(), isLast);
    stream.headReceived(isLast);
    Priority stated = take(id);
    stream.priority(stated == null ? sink.priority() : stated);
    streams.add(stream);
    begun.add(stream);
  }

  @Override
  void trailers(int id, boolean isLast) {
    H2Stream stream = streams.find(id);
    Fields came = trailers;
    trailers = null;
    if (stream == null || came == null) {
      return;
    }
    if (!isLast || sink.isTooLarge()) {
      faults.reset(id, Http2Error.PROTOCOL_ERROR, "trailers over their limit, or without an end");
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
  void malformed(int id, Http2Error code, String reason) {
    if (taker == Taker.NOBODY) {
      unwanted(id);
    } else {
      streams.used(id);
      faults.reset(id, code, reason);
    }
  }

  @Override
  boolean priorityUpdate(ByteBuf payload) {
    int id = payload.readInt() & Integer.MAX_VALUE;
    if (id % 2 == 0) {
      return false;
    }
    byte[] value = new byte[Math.min(payload.readableBytes(), MOST_OCTETS)];
    payload.readBytes(value);
    Priority priority = Priority.parse(value, 0, value.length);
    H2Stream stream = streams.find(id);
    if (stream != null) {
      stream.priority(priority);
    } else if (id > streams.lastId()) {
      keep(id, priority);
    }
    return true;
  }

  private void keep(int id, Priority priority) {
    IntObjectMap<Priority> kept = early;
    if (kept == null) {
      kept = new IntObjectHashMap<>(8);
      early = kept;
    }
    if (kept.size() < MOST_EARLY) {
      kept.put(id, priority);
    }
  }

  /** What was said of a stream before it was opened; null if nothing was. */
  @Nullable Priority take(int id) {
    return early == null ? null : early.remove(id);
  }

  /** Hands on the requests that came. */
  @Override
  void handOn() {
    for (int i = 0; i < begun.size(); i++) {
      H2Stream stream = begun.get(i);
      if (!stream.isOver()) {
        owner.begin(stream);
      }
    }
    begun.clear();
  }

  @Override
  void release() {
    begun.clear();
  }
}
