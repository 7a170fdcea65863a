package io.kamille.core.log;

import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.log.RecordLayout.Text;

/** A window on one record in a ring, moved from record to record. Confined to the writer. */
final class LogRecord {

  private static final CacheResult[] CACHE_RESULTS = CacheResult.values();
  private static final Failure.Kind[] FAILURES = Failure.Kind.values();

  private final int[] starts = new int[Text.COUNT + LoggedField.MOST];
  private final int[] ends = new int[Text.COUNT + LoggedField.MOST];
  private final boolean[] cuts = new boolean[LoggedField.MOST];
  private byte[] octets = {};
  private int record;

  /** Looks at the record that begins at {@code offset}. */
  LogRecord at(byte[] octets, int offset) {
    this.octets = octets;
    this.record = offset;
    int start = addressStart() + addressLength();
    for (int i = 0; i < Text.COUNT; i++) {
      starts[i] = start;
      start += shortAt(RecordLayout.TEXT_LENGTHS + i * Short.BYTES) & ~RecordLayout.CUT;
      ends[i] = start;
    }
    for (int i = 0; i < octets[offset + RecordLayout.EXTRAS]; i++) {
      int length = (short) RecordLayout.SHORT.get(octets, start) & 0xffff;
      cuts[i] = (length & RecordLayout.CUT) != 0;
      start += Short.BYTES;
      starts[Text.COUNT + i] = start;
      start += length & ~RecordLayout.CUT;
      ends[Text.COUNT + i] = start;
    }
    return this;
  }

  byte[] octets() {
    return octets;
  }

  int status() {
    return shortAt(RecordLayout.STATUS);
  }

  /** Ten times the major version of HTTP, and the minor one. */
  int version() {
    return octets[record + RecordLayout.VERSION];
  }

  boolean isSecure() {
    return octets[record + RecordLayout.SECURE] != 0;
  }

  long startEpochMicros() {
    return longAt(RecordLayout.START);
  }

  long durationNanos() {
    return longAt(RecordLayout.DURATION);
  }

  long contentBytes() {
    return longAt(RecordLayout.CONTENT);
  }

  /** Empty if the route has no cache. */
  String cacheResult() {
    CacheResult result = CACHE_RESULTS[octets[record + RecordLayout.CACHE_RESULT]];
    return result == CacheResult.NONE ? "" : result.token();
  }

  /** Empty if there was none. */
  String failure() {
    int code = octets[record + RecordLayout.FAILURE];
    return code == 0 ? "" : FAILURES[code - 1].token();
  }

  /** Negative if there was none. */
  int grpcStatus() {
    return (octets[record + RecordLayout.GRPC_STATUS] & 0xff) - 1;
  }

  int addressStart() {
    return record + RecordLayout.OCTETS;
  }

  int addressLength() {
    return shortAt(RecordLayout.ADDRESS_LENGTH);
  }

  int start(Text text) {
    return starts[text.number()];
  }

  int end(Text text) {
    return ends[text.number()];
  }

  boolean isEmpty(Text text) {
    return start(text) == end(text);
  }

  /** Whether the end of the text was cut off. */
  boolean isCut(Text text) {
    return (shortAt(text.lengthOffset()) & RecordLayout.CUT) != 0;
  }

  /** Where the value begins that is added in that place. */
  int extraStart(int place) {
    return starts[Text.COUNT + place];
  }

  int extraEnd(int place) {
    return ends[Text.COUNT + place];
  }

  boolean isExtraCut(int place) {
    return cuts[place];
  }

  /** The number that is added in that place; negative if it is not there. */
  long extraNumber(int place) {
    return extraStart(place) == extraEnd(place)
        ? -1
        : (long) RecordLayout.LONG.get(octets, extraStart(place));
  }

  private int shortAt(int offset) {
    return (short) RecordLayout.SHORT.get(octets, record + offset) & 0xffff;
  }

  private long longAt(int offset) {
    return (long) RecordLayout.LONG.get(octets, record + offset);
  }
}
