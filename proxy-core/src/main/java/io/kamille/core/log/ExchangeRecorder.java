package io.kamille.core.log;

import static io.kamille.core.log.RecordLayout.ADDRESS_LENGTH;
import static io.kamille.core.log.RecordLayout.CACHE_RESULT;
import static io.kamille.core.log.RecordLayout.CONTENT;
import static io.kamille.core.log.RecordLayout.CUT;
import static io.kamille.core.log.RecordLayout.DURATION;
import static io.kamille.core.log.RecordLayout.FAILURE;
import static io.kamille.core.log.RecordLayout.GREATEST_LENGTH;
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
  private boolean isCompared;
  private long comparedNanos;
  private long comparedEpochMicros;
  private int record;
  private int cursor;

  ExchangeRecorder(RecordRing ring, Runnable wakeReader, Counter dropped, WallClock clock) {
    this.ring = ring;
    this.wakeReader = wakeReader;
    this.dropped = dropped;
    this.clock = clock;
  }

  @Override
  public void ended(
      Exchange exchange, int status, long contentBytes, long startNanos, long endNanos) {
    record = ring.reserve(GREATEST_LENGTH);
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
    putShort(ADDRESS_LENGTH, address.length);
    copy(address, 0, address.length);
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
    int length = end - start;
    int kept = Math.min(length, text.limit());
    putShort(text.lengthOffset(), kept < length ? kept | CUT : kept);
    copy(octets, start, kept);
  }

  /** Names from the configuration and reasons; what is not ASCII becomes a question mark. */
  private void putText(Text text, String value) {
    int kept = Math.min(value.length(), text.limit());
    putShort(text.lengthOffset(), kept < value.length() ? kept | CUT : kept);
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
