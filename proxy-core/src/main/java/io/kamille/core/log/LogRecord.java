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
  private final boolean[] cuts = new boolean[Text.COUNT + LoggedField.MOST];
  private byte[] octets = {};
  private int record;

  /** Looks at the record that begins at {@code offset}. */
  LogRecord at(byte[] octets, int offset) {
    this.octets = octets;
    this.record = offset;
    int start = addressStart() + addressLength();
    for (int i = 0; i < Text.COUNT + octets[record + RecordLayout.ADDED]; i++) {
      int length = shortAt(start - record);
      cuts[i] = (length & RecordLayout.CUT) != 0;
      starts[i] = start + Short.BYTES;
      ends[i] = starts[i] + (length & ~RecordLayout.CUT);
      start = ends[i];
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

  /**
   * Where a text begins.
   *
   * @param place the number of a {@link Text}, or {@link Text#COUNT} and more for values that are
   *     added
   */
  int start(int place) {
    return starts[place];
  }

  int end(int place) {
    return ends[place];
  }

  boolean isEmpty(int place) {
    return starts[place] == ends[place];
  }

  /** Whether the end of the text was cut off. */
  boolean isCut(int place) {
    return cuts[place];
  }

  /** The number in that place, which is not empty. */
  long number(int place) {
    return longAt(starts[place] - record);
  }

  private int shortAt(int offset) {
    return (short) RecordLayout.SHORT.get(octets, record + offset) & 0xffff;
  }

  private long longAt(int offset) {
    return (long) RecordLayout.LONG.get(octets, record + offset);
  }
}
