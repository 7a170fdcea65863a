package io.kamille.perf.lab;

import java.time.Duration;
import java.util.Locale;

/**
 * One cell of the grid.
 *
 * @param objectBytes what each reply carries
 * @param roundTripMillis of the path
 * @param lossPercent of the packets, each way
 * @param rate of requests, each second
 */
record LossyPath(int objectBytes, int roundTripMillis, int lossPercent, int rate) {

  private static final int LARGE_BYTES = 1 << 20;

  /*
   * Before replies are counted they must come as often as they are asked for. A lost first packet
   * costs a second, and a large object over a long lossy path takes half a minute.
   */
  private static final Duration SETTLING = Duration.ofSeconds(3);
  private static final Duration LONG_SETTLING = Duration.ofSeconds(40);

  /** In the words of the emulator. */
  String link() {
    return "delay="
        + roundTripMillis * 500
        + "us loss="
        + lossPercent
        + "% rate=1000mbit queue=4000k";
  }

  /**
   * How long it takes until replies come as often as they are asked for. The same without loss, so
   * that what is compared was asked for at the same instants.
   */
  Duration settling() {
    return roundTripMillis > 0 && objectBytes >= LARGE_BYTES ? LONG_SETTLING : SETTLING;
  }

  /** {@code 16 KB} or {@code 1 MB}. */
  String object() {
    return objectBytes >= LARGE_BYTES
        ? (objectBytes >> 20) + " MB"
        : String.format(Locale.ROOT, "%d KB", objectBytes >> 10);
  }

  /** Without what varies within a table. */
  String place() {
    return object() + ", round trip " + roundTripMillis + " ms";
  }
}
