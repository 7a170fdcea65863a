package io.kamille.cache.disk;

import io.netty.buffer.Unpooled;
import java.util.Arrays;

/** What lies on a disk, from octets that a guided fuzzer thinks of. */
public final class DiskFuzzTarget {

  private DiskFuzzTarget() {}

  /** Called for each input: the first octet says of what kind the rest is. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    byte[] octets = Arrays.copyOfRange(input, 1, input.length);
    switch (input[0] & 3) {
      case 0 -> record(octets);
      case 1 -> facts(octets);
      case 2 -> PurgeJournalFuzzTest.readEntry(octets);
      default -> HeatFileFuzzTest.readWithChecksum(octets);
    }
  }

  private static void record(byte[] octets) {
    if (octets.length >= RecordHeader.LENGTH) {
      RecordHeader.parse(octets, 1, 2, 0);
    }
  }

  private static void facts(byte[] octets) {
    try {
      FactsCodec.decode(Unpooled.wrappedBuffer(octets), 300);
    } catch (IndexOutOfBoundsException | IllegalArgumentException promised) {
      // Refused as promised.
    }
  }
}
