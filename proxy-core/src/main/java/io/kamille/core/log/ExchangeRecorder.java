package io.kamille.core.log;

import static io.kamille.core.log.RecordLayout.ADDRESS_LENGTH;
import static io.kamille.core.log.RecordLayout.CACHE_RESULT;
import static io.kamille.core.log.RecordLayout.CONTENT;
import static io.kamille.core.log.RecordLayout.CUT;
import static io.kamille.core.log.RecordLayout.DURATION;
import static io.kamille.core.log.RecordLayout.EXTRAS;
import static io.kamille.core.log.RecordLayout.EXTRA_LIMIT;
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
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.RecordLayout.Text;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.Counter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Copies exchanges into the ring of one loop. Confined to its loop. */
final class ExchangeRecorder implements ExchangeObserver {

  /*
   * Exchanges are timed by the monotonic clock, lines carry the time of day: the two clocks are
   * compared once a second, so that a clock that is set shows in the log within that time.
   */
  private static final long COMPARE_NANOS = Duration.ofSeconds(1).toNanos();

  private final RecordRing ring;
  private final Runnable wakeReader;
  private final Counter dropped;
  private final ClientAddresses addresses = new ClientAddresses();
  private final WallClock clock;
  private final LineFilter filter;
  private final List<LoggedField> added;
  private final boolean isMasked;
  private final boolean[] removed = new boolean[Text.COUNT];
  private final boolean hasClient;
  private final int greatestLength;
  private boolean isCompared;
  private long comparedNanos;
  private long comparedEpochMicros;
  private int record;
  private int cursor;

  ExchangeRecorder(RecordRing ring, Runnable wakeReader, Counter dropped, WallClock clock) {
    this(ring, wakeReader, dropped, clock, AccessLogSettings.SECTION.defaults());
  }

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
    filter = new LineFilter(settings, clock.epochMillis() + System.identityHashCode(ring));
    added = settings.fields().add();
    isMasked = settings.client() == AccessLogSettings.Client.MASKED;
    hasClient = !settings.fields().remove().contains(AccessLogSettings.Removable.CLIENT);
    for (Text text : Text.values()) {
      removed[text.number()] = settings.fields().removes(text);
    }
    greatestLength = RecordLayout.greatestLength(added.size());
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    if (!filter.takes(exchange.notes(), status, endNanos - startNanos)) {
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
    putByte(EXTRAS, added.size());
    for (int i = 0, response = 0; i < added.size(); i++) {
      LoggedField field = added.get(i);
      int place = field.kind() == LoggedField.Kind.RESPONSE_FIELD ? response++ : -1;
      putExtra(field, exchange, place);
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
    int length = hasClient ? address.length : 0;
    putShort(ADDRESS_LENGTH, length);
    copy(address, 0, length);
    if (isMasked && length > 0) {
      int kept = length == 4 ? 3 : 6;
      Arrays.fill(ring.octets(), cursor - length + kept, cursor, (byte) 0);
    }
  }

  // Values that are added

  /**
   * Puts one.
   *
   * @param place among the fields of the response
   */
  private void putExtra(LoggedField field, Exchange exchange, int place) {
    int length = cursor;
    cursor += Short.BYTES;
    ExchangeNotes notes = exchange.notes();
    boolean isCut =
        switch (field.kind()) {
          case REQUEST_FIELD -> putFields(exchange.request().fields(), field.name());
          case RESPONSE_FIELD -> putNoted(notes.responseFields(), place);
          case REQUEST_ID -> putAscii(notes.requestId());
          case TRACE_ID -> putAscii(notes.trace() == null ? "" : notes.trace().ids().trace());
          case TLS_VERSION -> putAscii(notes.tlsVersion());
          case ORIGIN_TIME -> putNumber(notes.originNanos());
          case ROUTE, ORIGIN -> false;
        };
    int kept = cursor - length - Short.BYTES;
    SHORT.set(ring.octets(), length, (short) (isCut ? kept | CUT : kept));
  }

  /** All lines of that name as one value; whether that was cut. */
  private boolean putFields(Fields fields, String name) {
    int start = cursor;
    boolean isCut = false;
    for (int line = 0; line < fields.size(); line++) {
      if (fields.nameIs(line, name)) {
        if (cursor > start && room(start) >= 2) {
          ring.octets()[cursor++] = ',';
          ring.octets()[cursor++] = ' ';
        }
        int length = fields.valueEnd(line) - fields.valueStart(line);
        isCut |= length > room(start);
        copy(fields.octets(), fields.valueStart(line), Math.min(length, room(start)));
      }
    }
    return isCut;
  }

  private int room(int start) {
    return EXTRA_LIMIT - (cursor - start);
  }

  private boolean putNoted(byte @Nullable [][] values, int place) {
    byte[] value = values == null ? null : values[place];
    if (value == null) {
      return false;
    }
    copy(value, 0, Math.min(value.length, EXTRA_LIMIT));
    return value.length > EXTRA_LIMIT;
  }

  private boolean putAscii(String value) {
    for (int i = 0; i < Math.min(value.length(), EXTRA_LIMIT); i++) {
      char c = value.charAt(i);
      ring.octets()[cursor++] = (byte) (c < 0x80 ? c : '?');
    }
    return value.length() > EXTRA_LIMIT;
  }

  private boolean putNumber(long value) {
    if (value > 0) {
      LONG.set(ring.octets(), cursor, value);
      cursor += Long.BYTES;
    }
    return false;
  }

  private void putField(Text text, Fields fields, FieldName name) {
    int line = fields.indexOf(name);
    if (line < 0) {
      putShort(text.lengthOffset(), 0);
    } else {
      putText(text, fields.octets(), fields.valueStart(line), fields.valueEnd(line));
    }
  }

  private void putText(Text text, byte[] octets, int start, int end) {
    int length = removed[text.number()] ? 0 : end - start;
    int kept = Math.min(length, text.limit());
    putShort(text.lengthOffset(), kept < length ? kept | CUT : kept);
    copy(octets, start, kept);
  }

  /** Names from the configuration and reasons; what is not ASCII becomes a question mark. */
  private void putText(Text text, String value) {
    int length = removed[text.number()] ? 0 : value.length();
    int kept = Math.min(length, text.limit());
    putShort(text.lengthOffset(), kept < length ? kept | CUT : kept);
    byte[] octets = ring.octets();
    for (int i = 0; i < kept; i++) {
      char c = value.charAt(i);
      octets[cursor++] = (byte) (c < 0x80 ? c : '?');
    }
  }

  private void copy(byte[] octets, int start, int length) {
    System.arraycopy(octets, start, ring.octets(), cursor, length);
    cursor += length;
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
