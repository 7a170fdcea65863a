package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/**
 * Whatever becomes of the octets on a disk, what is read from it is what was written, or nothing.
 */
class RecordFuzzTest {

  private static final int KEYS = 12;
  private static final int[] LENGTHS = {0, 1, 300, 1_000, 2_500};
  private static final int CHECKED = RecordHeader.LENGTH - Integer.BYTES;
  private static final int[] NUMBERS = {
    -1, 0, 1, 16, 80, 4096, Extent.SEGMENT_BYTES_LIMIT, 1 << 31
  };

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
  private final Set<DiskFixture.Whole> written = new HashSet<>();

  @Test
  void whatIsReadOfSpoiledSegmentsWasWritten() {
    MemoryDirectory sound = written();
    FuzzBudget budget = new FuzzBudget(100);
    long read = 0;
    while (budget.hasNext()) {
      MemoryDirectory directory = sound.copy();
      boolean isSpoiledBefore = random.nextBoolean();
      if (isSpoiledBefore) {
        spoil(directory);
        directory = cut(directory);
      }
      try (DiskFixture fixture = DiskFixture.recovered(directory)) {
        if (!isSpoiledBefore) {
          spoil(directory);
        }
        read += check(fixture, budget.round());
        fixture.put(KEYS, 1, 300);
        assertThat(fixture.version(KEYS, 300)).as(because(budget.round())).isEqualTo(1);
      }
    }
    budget.report("records, of which " + read + " were read");
    assertThat(read).as("records read").isGreaterThan(budget.round());
  }

  private MemoryDirectory written() {
    MemoryDirectory directory = new MemoryDirectory();
    try (DiskFixture fixture = new DiskFixture(directory)) {
      for (int number = 0; number < KEYS; number++) {
        for (int version = 1; version <= 1 + number % 3; version++) {
          fixture.put(number, version, LENGTHS[number % LENGTHS.length]);
          written.addAll(fixture.all(number));
        }
      }
    }
    return directory;
  }

  private int check(DiskFixture fixture, long round) {
    int read = 0;
    for (int number = 0; number < KEYS; number++) {
      List<DiskFixture.Whole> all = fixture.all(number);
      assertThat(written).as(because(round)).containsAll(all);
      read += all.size();
    }
    assertThat(fixture.tier.isRunning()).as(because(round)).isTrue();
    return read;
  }

  /** With one segment shorter or longer, at times. */
  private MemoryDirectory cut(MemoryDirectory directory) {
    List<String> names = directory.segments();
    String name = names.get(random.nextInt(names.size()));
    return random.nextInt(4) > 0
        ? directory
        : directory.cutOff(name, random.nextInt(2 * DiskFixture.SEGMENT_BYTES));
  }

  /** Changes octets where they lie. */
  private void spoil(MemoryDirectory directory) {
    List<String> names = directory.segments();
    for (int i = random.nextInt(4); i >= 0; i--) {
      byte[] octets = directory.octets(names.get(random.nextInt(names.size())));
      byte[] others = directory.octets(names.get(random.nextInt(names.size())));
      int from = random.nextInt(octets.length);
      int to = Math.min(octets.length, from + 1 + random.nextInt(200));
      switch (random.nextInt(5)) {
        case 0 -> octets[from] ^= (byte) (1 << random.nextInt(8));
        case 1 -> Arrays.fill(octets, from, to, (byte) 0);
        case 2 -> Arrays.fill(octets, from, to, (byte) random.nextInt(256));
        case 3 -> copy(others, octets);
        default -> putInt(octets, from & -Integer.BYTES);
      }
    }
  }

  private void copy(byte[] from, byte[] to) {
    int start = random.nextInt(from.length) & -Extent.UNIT_BYTES;
    int at = random.nextInt(to.length) & -Extent.UNIT_BYTES;
    int length = random.nextInt(Math.min(from.length - start, to.length - at) + 1);
    System.arraycopy(from, start, to, at, length);
  }

  private void putInt(byte[] octets, int at) {
    if (at + Integer.BYTES <= octets.length) {
      ByteBuffer.wrap(octets).putInt(at, NUMBERS[random.nextInt(NUMBERS.length)]);
    }
  }

  @Test
  void aHeaderIsReadAsItStandsThereOrNotAtAll() {
    FuzzBudget budget = new FuzzBudget(20_000);
    long read = 0;
    while (budget.hasNext()) {
      int offset = random.nextInt(1 << 24) * Extent.UNIT_BYTES;
      byte[] octets = header(offset);
      RecordHeader header = RecordHeader.parse(octets, 1, 2, offset);
      if (header != null) {
        read++;
        assertThat(header.recordLength())
            .as(because(octets))
            .isBetween((long) RecordHeader.LENGTH, (long) Extent.SEGMENT_BYTES_LIMIT - offset);
        ByteBuffer again = ByteBuffer.allocate(RecordHeader.LENGTH);
        header.writeTo(again);
        assertThat(RecordHeader.parse(again.array(), 1, 2, offset))
            .as(because(octets))
            .isEqualTo(header);
      }
    }
    budget.report("headers, of which " + read + " were read");
    assertThat(read).as("headers read").isGreaterThan(budget.round() / 100);
  }

  /** A spoiled header, with a checksum that is right more often than not. */
  private byte[] header(int offset) {
    ByteBuffer buffer = ByteBuffer.allocate(RecordHeader.LENGTH);
    RecordHeader.removal(1, random.nextLong(), random.nextLong(), random.nextLong())
        .at(2, offset)
        .writeTo(buffer);
    byte[] octets = buffer.array();
    for (int i = random.nextInt(4); i > 0; i--) {
      if (random.nextBoolean()) {
        putInt(octets, random.nextInt(RecordHeader.LENGTH) & -Integer.BYTES);
      } else {
        octets[random.nextInt(octets.length)] = (byte) random.nextInt(256);
      }
    }
    if (random.nextInt(4) > 0) {
      CRC32C checksum = new CRC32C();
      checksum.update(octets, 0, CHECKED);
      buffer.putInt(CHECKED, (int) checksum.getValue());
    }
    return octets;
  }

  private static String because(long round) {
    return "seed " + FuzzBudget.SEED + ", round " + round;
  }

  private static String because(byte[] octets) {
    return "seed " + FuzzBudget.SEED + ": " + HexFormat.of().formatHex(octets);
  }
}
