package io.kamille.core.log;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Moments as text in universal time, rendered once per second. Confined to the writer. */
final class SecondStamp {

  private final DateTimeFormatter format;
  private long epochSeconds = Long.MIN_VALUE;
  private byte[] octets = {};

  /** Stamps of this {@link DateTimeFormatter} pattern. */
  SecondStamp(String pattern) {
    format = DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).withZone(ZoneOffset.UTC);
  }

  /** The octets for a second. Do not change; valid until the next call. */
  byte[] octets(long second) {
    if (second != epochSeconds) {
      epochSeconds = second;
      octets = format.format(Instant.ofEpochSecond(second)).getBytes(StandardCharsets.US_ASCII);
    }
    return octets;
  }
}
