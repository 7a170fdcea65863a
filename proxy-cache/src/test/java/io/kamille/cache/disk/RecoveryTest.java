package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much memory remembers what the files of an earlier process remove. */
class RecoveryTest {

  private static final int MOST_WORDS = 8 << 20;
  private static final long SEED = 20_261_129;

  /** Eight octets of memory for each kibibyte on the disk. */
  @ParameterizedTest
  @CsvSource({"0, 1024", "1, 1024", "1048576, 1024", "2097152, 2048", "4294967295, 2097152"})
  void theFilterIsAsLargeAsTheFilesDemand(long bytes, int words) {
    assertThat(Recovery.filterWords(bytes)).isEqualTo(words);
  }

  @ParameterizedTest
  @CsvSource({"8589934592", "8589934593", "17592186044416", "9223372036854775807"})
  void itTakesAtMost64Mebibytes(long bytes) {
    assertThat(Recovery.filterWords(bytes)).isEqualTo(MOST_WORDS);
  }

  /** A model of a thousandth of the size. */
  @Test
  void whatItHasNoRoomForMakesOtherRecordsMissesAndBringsNoneBack() {
    var random = new SplittableRandom(SEED);
    KeyFilter filter = new KeyFilter(Recovery.filterWords(8 << 20));
    long[] removed = random.longs(1 << 20).toArray();
    int begin = 0;
    double before = 0;
    for (int removals : new int[] {1 << 13, 1 << 15, 1 << 17, 1 << 20}) {
      for (int i = begin; i < removals; i++) {
        filter.add(removed[i]);
      }
      begin = removals;
      double misses = random.longs(10_000).filter(filter::mayHave).count() / 1e4;
      assertThat(misses).as("%d removals", removals).isGreaterThanOrEqualTo(before);
      before = misses;
      if (removals == 1 << 13) {
        assertThat(misses).as("one for each kibibyte").isLessThan(0.01);
      }
    }
    assertThat(before).as("nearly everything counts as removed").isGreaterThan(0.99);
    for (long hash : removed) {
      assertThat(filter.mayHave(hash)).isTrue();
    }
  }
}
