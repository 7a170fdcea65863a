package io.kamille.core.log;

import static io.kamille.core.log.RecordLayout.ADDED;
import static io.kamille.core.log.RecordLayout.ADDED_LIMIT;
import static io.kamille.core.log.RecordLayout.ADDRESS_LENGTH;
import static io.kamille.core.log.RecordLayout.ADDRESS_LIMIT;
import static io.kamille.core.log.RecordLayout.CACHE_RESULT;
import static io.kamille.core.log.RecordLayout.CONTENT;
import static io.kamille.core.log.RecordLayout.CUT;
import static io.kamille.core.log.RecordLayout.DURATION;
import static io.kamille.core.log.RecordLayout.FAILURE;
import static io.kamille.core.log.RecordLayout.GRPC_STATUS;
import static io.kamille.core.log.RecordLayout.LONG;
import static io.kamille.core.log.RecordLayout.OCTETS;
import static io.kamille.core.log.RecordLayout.SECURE;
import static io.kamille.core.log.RecordLayout.SHORT;
import static io.kamille.core.log.RecordLayout.START;
import static io.kamille.core.log.RecordLayout.STATUS;
import static io.kamille.core.log.RecordLayout.VERSION;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Trace;
import io.kamille.core.gate.AddressMask;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.RecordLayout.Text;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Counter;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Copies exchanges into the ring of one loop. Confined to its loop. */
final class ExchangeRecorder implements ExchangeObserver {

  /*
   * Exchanges are timed by the monotonic clock, lines carry the time of day: the two clocks are
   * compared once a second, so that a clock that is set shows in the log within that time.
   */
  private static final long COMPARE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final byte[] COMMA = {',', ' '};

  private final RecordRing ring;
  private final Runnable wakeReader;
  private final Counter dropped;
  private final ClientAddresses addresses = new ClientAddresses();
  private final WallClock clock;
  private final List<LoggedField> added;
  private final AddressMask shown;
  private final boolean[] removed = new boolean[Text.COUNT];
  private final boolean hasClient;
  private final int greatestLength;
  private boolean isCompared;
  private long comparedNanos;
  private long comparedEpochMicros;
  private int record;
  private int cursor;

  ExchangeRecorder(
      RecordRing ring,
      Runnable wakeReader,
      Counter dropped,
      WallClock clock,
      AccessLogSettings settings) {
    this.ring = ring;
    this.wakeReader = wakeReader;
    this.dropped = dropped;
    this.clock = clock;
    added = settings.fields().add();
    shown = settings.client();
    List<String> names = settings.fields().remove();
    hasClient = !names.contains("client");
    for (Text text : Text.values()) {
      removed[text.number()] = names.contains(text.word());
    }
    greatestLength = RecordLayout.greatestLength(added.size());
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    if (exchange.notes().isUnlogged()) {
      return;
    }
    record = ring.reserve(greatestLength);
    if (record < 0) {
      dropped.increment();
      return;
    }
    cursor = record + OCTETS;
    putShort(STATUS, status);
    putLong(START, epochMicros(startNanos, endNanos));
    putLong(DURATION, endNanos - startNanos);
    putLong(CONTENT, contentBytes);
    putAddress(addresses.octetsOf(exchange.client()));
    putRequest(exchange.request());
    putNotes(exchange.notes());
    putByte(ADDED, added.size());
    for (int i = 0; i < added.size(); i++) {
      putAdded(added.get(i), exchange);
    }
    ring.commit(cursor - record);
    if (ring.isFilling()) {
      wakeReader.run();
    }
  }

  /** The time of day at {@code startNanos}, when it is {@code endNanos} now. */
  private long epochMicros(long startNanos, long endNanos) {
    if (endNanos - comparedNanos >= COMPARE_NANOS || !isCompared) {
      isCompared = true;
      comparedNanos = endNanos;
      comparedEpochMicros = clock.epochMillis() * 1000;
    }
    return comparedEpochMicros - (comparedNanos - startNanos) / 1000;
  }

  private void putRequest(RequestHead request) {
    byte[] octets = request.octets();
    putByte(VERSION, request.majorVersion() == 2 ? 20 : 10 + request.minorVersion());
    putByte(SECURE, request.isSecure() ? 1 : 0);
    putText(Text.METHOD, octets, request.methodStart(), request.methodEnd());
    putText(Text.TARGET, octets, request.targetStart(), request.targetEnd());
    putText(Text.AUTHORITY, octets, request.authorityStart(), request.authorityEnd());
    putField(Text.REFERER, request.fields(), FieldName.REFERER);
    putField(Text.USER_AGENT, request.fields(), FieldName.USER_AGENT);
  }

  @SuppressWarnings("EnumOrdinal") // numbers for a record in memory; never stored or sent
  private void putNotes(ExchangeNotes notes) {
    @Nullable Failure failure = notes.failure();
    putByte(CACHE_RESULT, notes.cache().ordinal());
    putByte(GRPC_STATUS, notes.grpcStatus() + 1);
    putByte(FAILURE, failure == null ? 0 : failure.kind().ordinal() + 1);
    putText(Text.ROUTE, notes.route());
    putText(Text.ORIGIN, notes.origin());
    putText(Text.REASON, failure == null ? "" : failure.reason());
  }

  private void putAddress(byte[] address) {
    int length = put(address, 0, hasClient ? address.length : 0, ADDRESS_LIMIT);
    putShort(ADDRESS_LENGTH, length);
    shown.hide(ring.octets(), cursor, length);
  }

  private void putField(Text text, Fields fields, FieldName name) {
    int line = fields.indexOf(name);
    if (line < 0) {
      putText(text, "");
    } else {
      putText(text, fields.octets(), fields.valueStart(line), fields.valueEnd(line));
    }
  }

  private void putText(Text text, byte[] octets, int start, int end) {
    int at = next();
    putShort(at, removed[text.number()] ? 0 : put(octets, start, end, text.limit()));
  }

  private void putText(Text text, String value) {
    int at = next();
    putShort(at, removed[text.number()] ? 0 : put(value, text.limit()));
  }

  private void putAdded(LoggedField field, Exchange exchange) {
    int at = next();
    ExchangeNotes notes = exchange.notes();
    Trace trace = notes.trace();
    putShort(
        at,
        switch (field.kind()) {
          case REQUEST_FIELD -> put(exchange.request().fields(), field.name());
          case RESPONSE_FIELD -> put(notes.responseFields(), field.name());
          case REQUEST_ID -> put(notes.requestId(), ADDED_LIMIT);
          case TRACE_ID -> put(trace == null ? "" : trace.ids().trace(), ADDED_LIMIT);
          case ORIGIN -> put(notes.origin(), ADDED_LIMIT);
          case ORIGIN_TIME -> put(notes.originNanos());
          case TLS_VERSION -> put(notes.tlsVersion(), ADDED_LIMIT);
        });
  }

  /** Where the length of the next value stands, which follows. */
  private int next() {
    cursor += Short.BYTES;
    return cursor - Short.BYTES - record;
  }

  // These answer the length of what they put, with CUT if that is not all

  private int put(byte[] octets, int start, int end, int limit) {
    int kept = Math.min(end - start, limit);
    System.arraycopy(octets, start, ring.octets(), cursor, kept);
    cursor += kept;
    return kept < end - start ? kept | CUT : kept;
  }

  /** Names from the configuration and reasons; what is not ASCII becomes a question mark. */
  private int put(String value, int limit) {
    int kept = Math.min(value.length(), limit);
    for (int i = 0; i < kept; i++) {
      char c = value.charAt(i);
      ring.octets()[cursor++] = (byte) (c < 0x80 ? c : '?');
    }
    return kept < value.length() ? kept | CUT : kept;
  }

  /** All lines of that name as one value. */
  private int put(@Nullable Fields fields, String name) {
    int start = cursor;
    int cut = 0;
    for (int line = 0; fields != null && line < fields.size(); line++) {
      if (fields.nameIs(line, name)) {
        int from = fields.valueStart(line);
        cut |= cursor > start ? put(COMMA, 0, COMMA.length, room(start)) : 0;
        cut |= put(fields.octets(), from, fields.valueEnd(line), room(start));
      }
    }
    return (cursor - start) | (cut & CUT);
  }

  private int room(int start) {
    return ADDED_LIMIT - (cursor - start);
  }

  private int put(long nanos) {
    if (nanos == 0) {
      return 0;
    }
    LONG.set(ring.octets(), cursor, nanos);
    cursor += Long.BYTES;
    return Long.BYTES;
  }

  private void putByte(int offset, int value) {
    ring.octets()[record + offset] = (byte) value;
  }

  private void putShort(int offset, int value) {
    SHORT.set(ring.octets(), record + offset, (short) value);
  }

  private void putLong(int offset, long value) {
    LONG.set(ring.octets(), record + offset, value);
  }
}
