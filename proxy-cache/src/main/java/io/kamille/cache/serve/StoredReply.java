package io.kamille.cache.serve;

import io.kamille.cache.rules.Preconditions;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.store.StoredOctets;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.content.Pump;
import io.kamille.core.exchange.Reply;
import io.kamille.core.h1.HeadWriter;
import io.kamille.core.http.ByteRange;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Answers requests with stored responses, whole or in part. Immutable; any thread. */
public final class StoredReply {

  /*
   * Most hits are small and in one piece: one call, one slice, one gathering write. What is longer
   * than a window goes in windows, so that a slow client holds a lease and not a queue. Large
   * content that is asked for often goes as regions of a file where the connection takes them, and
   * the kernel copies nothing (ADR 12). So does what lies in a file on a disk, in any case (ADR
   * 20); whoever brings such a response has looked whether the connection takes regions.
   *
   * A coded form is sent whole, never in part: it may be made again with other octets, and its tag
   * is weak. Who asks for a part gets one of the uncoded content, whose tag is the origin's.
   */
  /** Says to another node that a response is stale here, so that it does not take it for fresh. */
  public static final String STALE = "Kamille-Stale";

  private static final byte[] AGE = Fields.octetsOf("Age: ");
  private static final byte[] CONTENT_LENGTH = Fields.octetsOf("Content-Length: ");
  private static final byte[] STALE_LINE = Fields.octetsOf(STALE + ": 1\r\n");
  private static final byte[] ANY_TAG = Fields.octetsOf("Cache-Tag: " + Tags.ANY + "\r\n");

  private final CacheStatus cacheStatus;
  private final long sendfileFromBytes;

  /**
   * Answers that name themselves so.
   *
   * @param sendfileFromBytes content that long, or longer, may go as regions
   */
  public StoredReply(CacheStatus cacheStatus, long sendfileFromBytes) {
    this.cacheStatus = cacheStatus;
    this.sendfileFromBytes = sendfileFromBytes;
  }

  /**
   * Answers a GET or HEAD. Takes over one lease.
   *
   * @param loop that of the caller
   * @param forwarding what became of the request before it came to this; null for a hit
   */
  public void send(
      LoopState loop,
      RequestHead request,
      Reply reply,
      StoredResponse stored,
      long nowEpochSeconds,
      @Nullable Forwarding forwarding) {
    boolean allowsRange = allowsRange(request, stored);
    StoredResponse form = allowsRange ? stored : stored.codedFormFor(request);
    if (form != stored && form.tryRetain()) {
      stored.release();
      sendForm(loop, request, reply, form, false, nowEpochSeconds, forwarding);
    } else {
      sendForm(loop, request, reply, stored, allowsRange, nowEpochSeconds, forwarding);
    }
  }

  /** What a request is answered with: the response or one of its coded forms. Takes no lease. */
  public static StoredResponse form(RequestHead request, StoredResponse stored) {
    return allowsRange(request, stored) ? stored : stored.codedFormFor(request);
  }

  /** Whether a part is asked for and may be sent, which is always one of the uncoded content. */
  private static boolean allowsRange(RequestHead request, StoredResponse stored) {
    return request.fields().has(FieldName.RANGE)
        && Preconditions.allowsRange(request, stored.facts(), stored.forms().isCodable());
  }

  private void sendForm(
      LoopState loop,
      RequestHead request,
      Reply reply,
      StoredResponse stored,
      boolean allowsRange,
      long nowEpochSeconds,
      @Nullable Forwarding forwarding) {
    // A node would take a 304 for the word of the origin.
    boolean isToldStale = isToldStale(request, stored, nowEpochSeconds, forwarding);
    if (!isToldStale && Preconditions.isNotModified(request, stored.facts())) {
      sendNotModified(request, reply, stored, nowEpochSeconds, forwarding);
      return;
    }
    ByteRange range = null;
    if (allowsRange) {
      List<ByteRange> ranges = ByteRange.severalOf(request.fields(), stored.contentLength());
      if (ranges.size() > 1) {
        sendParts(loop, request, reply, ranges, stored, nowEpochSeconds, forwarding);
        return;
      }
      range =
          ranges.isEmpty()
              ? ByteRange.of(request.fields(), stored.contentLength())
              : ranges.getFirst();
      if (range.kind() == ByteRange.Outcome.UNSATISFIABLE) {
        sendUnsatisfiable(request, reply, range, stored, nowEpochSeconds, forwarding);
        return;
      }
    }
    HeadWriter lines = loop.lines();
    line(lines, AGE, stored.facts().ageSeconds(nowEpochSeconds));
    cacheStatus.add(lines, stored, nowEpochSeconds, forwarding);
    if (stored.facts().tags().areToldTo(request)) {
      lines.octets(ANY_TAG);
    }
    if (isToldStale) {
      lines.octets(STALE_LINE);
    }
    if (range != null && range.kind() == ByteRange.Outcome.PART) {
      sendPart(loop, reply, range, stored, lines);
    } else {
      sendWhole(loop, request, reply, stored, lines);
    }
  }

  /** Whether another node asks, and what it gets is stale and was not validated for it. */
  private static boolean isToldStale(
      RequestHead request, StoredResponse stored, long now, @Nullable Forwarding forwarding) {
    return request.sender() != Sender.CLIENT
        && !stored.facts().isFresh(now)
        && (forwarding == null || !forwarding.isValidated());
  }

  private void sendNotModified(
      RequestHead request,
      Reply reply,
      StoredResponse stored,
      long now,
      @Nullable Forwarding forwarding) {
    ResponseHead head = OwnHeads.notModified(stored.head(), request);
    if (stored.facts().tags().areToldTo(request)) {
      head.fields().add(FieldName.CACHE_TAG, Tags.ANY);
    }
    head.fields().add(FieldName.AGE, Integer.toString(stored.facts().ageSeconds(now)));
    cacheStatus.add(head.fields(), stored, now, forwarding);
    stored.release();
    reply.head(head, Reply.UNKNOWN_LENGTH);
    reply.end(null);
  }

  private void sendUnsatisfiable(
      RequestHead request,
      Reply reply,
      ByteRange range,
      StoredResponse stored,
      long now,
      @Nullable Forwarding forwarding) {
    ResponseHead head = OwnHeads.unsatisfiable(stored.head(), request, range);
    cacheStatus.add(head.fields(), stored, now, forwarding);
    stored.release();
    reply.head(head, 0);
    reply.end(null);
  }

  private void sendPart(
      LoopState loop, Reply reply, ByteRange range, StoredResponse stored, HeadWriter lines) {
    long length = range.length();
    boolean byRegion = goesByRegion(reply, stored, length);
    lines.line(FieldName.CONTENT_RANGE, range.contentRange());
    line(lines, CONTENT_LENGTH, length);
    sendInWindows(
        loop, reply, StatusCode.PARTIAL_CONTENT, stored, lines, range.offset(), length, byRegion);
  }

  /** Several parts in one multipart/byteranges (RFC 9110 §15.3.7.2). */
  private void sendParts(
      LoopState loop,
      RequestHead request,
      Reply reply,
      List<ByteRange> ranges,
      StoredResponse stored,
      long now,
      @Nullable Forwarding forwarding) {
    Fields fields = stored.head().fields();
    fields.add(FieldName.AGE, Integer.toString(stored.facts().ageSeconds(now)));
    fields.remove(FieldName.CACHE_STATUS);
    OwnHeads.ofParts(fields);
    cacheStatus.add(fields, stored, now, forwarding);
    if (isToldStale(request, stored, now, forwarding)) {
      fields.add(STALE, "1");
    }
    String contentType = fields.first(FieldName.CONTENT_TYPE);
    PartPieces content = new PartPieces(stored, ranges, contentType, loop.executor());
    fields.set(FieldName.CONTENT_TYPE, content.contentType());
    fields.set(FieldName.CONTENT_LENGTH, Long.toString(content.length()));
    Pump pump = new Pump(content);
    reply.open(pump);
    reply.head(ResponseHead.of(StatusCode.PARTIAL_CONTENT, fields), content.length());
    pump.start(reply);
  }

  private void sendWhole(
      LoopState loop, RequestHead request, Reply reply, StoredResponse stored, HeadWriter lines) {
    int status = stored.status();
    long length = stored.contentLength();
    if (!StatusCode.hasNoContent(status)) {
      line(lines, CONTENT_LENGTH, length);
    }
    if (request.method() == Method.HEAD) {
      reply.stored(status, lines.octets(), lines.length(), stored.lines(), 0);
      stored.release();
      return;
    }
    boolean byRegion = goesByRegion(reply, stored, length);
    if (!byRegion && length <= StoredPieces.WINDOW_BYTES && stored.isOnePiece()) {
      reply.stored(status, lines.octets(), lines.length(), stored.linesAndContent(), length);
      stored.release();
    } else {
      sendInWindows(loop, reply, status, stored, lines, 0, length, byRegion);
    }
  }

  private static void line(HeadWriter lines, byte[] name, long number) {
    lines.octets(name);
    lines.decimal(number);
    lines.newLine();
  }

  private boolean goesByRegion(Reply reply, StoredResponse stored, long length) {
    return stored.content().isInFile()
        || (length >= sendfileFromBytes && reply.takesRegions() && stored.content().countSending());
  }

  private static void sendInWindows(
      LoopState loop,
      Reply reply,
      int status,
      StoredResponse stored,
      HeadWriter own,
      long offset,
      long length,
      boolean byRegion) {
    ByteBuf lines = stored.lines();
    ByteBuf head = status == StatusCode.PARTIAL_CONTENT ? OwnHeads.ofPart(lines) : lines;
    StoredOctets content = stored.content();
    long from = stored.contentOffset() + offset;
    content.retain();
    stored.release();
    Pump pump = new Pump(StoredPieces.of(content, from, length, byRegion, loop.executor()));
    reply.open(pump);
    reply.storedHead(status, own.octets(), own.length(), head, length);
    pump.start(reply);
  }
}
