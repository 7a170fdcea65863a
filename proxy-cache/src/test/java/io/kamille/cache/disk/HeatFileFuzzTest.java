package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.core.h1.FuzzBudget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever becomes of the file of hot keys, what is read of it was written, or nothing is. */
class HeatFileFuzzTest {

  private static final int ROUNDS = 5_000;
  private static final long STORE = 0x1234_5678_9abc_def0L;
  private static final int CHECKSUM_AT = 20;
  private static final int HEADER_LENGTH = 24;

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
  private final OctetSpoiler spoiler = new OctetSpoiler(random);

  @Test
  void nothingIsReadOfASpoiledFile() throws IOException {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      List<CacheKey> keys = keys();
      byte[] sound = written(keys);
      assertThat(read(sound)).as(because(sound)).isEqualTo(keys);
      byte[] octets = spoiler.spoiled(sound);
      assertThat(read(octets)).as(because(octets)).isEmpty();
    }
    budget.report("files of hot keys");
  }

  @Test
  void aFileThatNobodyWroteDoesNoHarm() throws IOException {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    long read = 0;
    while (budget.hasNext()) {
      byte[] octets = withChecksum(spoiler.spoiled(written(keys())));
      List<CacheKey> keys = read(octets);
      read += keys.isEmpty() ? 0 : 1;
      assertThat(read(written(keys))).as(because(octets)).isEqualTo(keys);
    }
    budget.report("files of hot keys with a right checksum, of which " + read + " were read");
    assertThat(read).as("files read").isGreaterThan(budget.round() / 10);
  }

  @Test
  void noMoreIsReadThanIsEverWritten() throws IOException {
    byte[] octets = Arrays.copyOf(written(keys()), 2 * 16 * HeatFile.LIMIT);
    long limit = HEADER_LENGTH + 16L * HeatFile.LIMIT + (1 << 20);
    assertThat(Allocation.bytes(() -> parse(octets))).isLessThan(limit);
  }

  private List<CacheKey> keys() {
    return Stream.generate(() -> CacheKey.of(random.nextLong(), random.nextLong()))
        .limit(random.nextInt(6))
        .toList();
  }

  private static byte[] written(List<CacheKey> keys) throws IOException {
    MemoryDirectory directory = new MemoryDirectory();
    HeatFile.write(directory, STORE, keys);
    return directory.octets(HeatFile.NAME);
  }

  private static byte[] withChecksum(byte[] octets) {
    if (octets.length >= HEADER_LENGTH) {
      byte[] checked = new byte[octets.length - Integer.BYTES];
      System.arraycopy(octets, 0, checked, 0, CHECKSUM_AT);
      System.arraycopy(octets, HEADER_LENGTH, checked, CHECKSUM_AT, octets.length - HEADER_LENGTH);
      ByteBuffer.wrap(octets).putInt(CHECKSUM_AT, OctetSpoiler.checksum(checked));
    }
    return octets;
  }

  static void readWithChecksum(byte[] octets) {
    read(withChecksum(octets));
  }

  /** What is read of these octets, without taking more memory than they justify. */
  private static List<CacheKey> read(byte[] octets) {
    List<CacheKey> keys = parse(octets);
    long bytes = Allocation.bytes(() -> parse(octets));
    assertThat(bytes).as(because(octets)).isLessThan((1 << 20) + 16L * octets.length);
    return keys;
  }

  private static List<CacheKey> parse(byte[] octets) {
    try {
      MemoryDirectory directory = new MemoryDirectory();
      directory.put(HeatFile.NAME, octets);
      return HeatFile.read(directory, STORE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (RuntimeException e) {
      throw new AssertionError(because(octets), e);
    }
  }

  private static String because(byte[] octets) {
    int shown = Math.min(octets.length, 2_000);
    return "seed " + FuzzBudget.SEED + ": " + HexFormat.of().formatHex(octets, 0, shown);
  }
}
