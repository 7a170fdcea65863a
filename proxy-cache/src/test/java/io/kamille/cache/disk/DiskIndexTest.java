package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DiskIndexTest {

  private static Extent extent(int number) {
    return new Extent(1 + number / 1000, number % 1000 * 16, 160, 0);
  }

  @Test
  void aPlaceIsAllOfAnExtentButItsLength() {
    var extent =
        new Extent(
            Extent.SEGMENTS - 1,
            Extent.SEGMENT_BYTES_LIMIT - Extent.UNIT_BYTES,
            320,
            Extent.VARIANT_MASK);
    assertThat(Extent.of(extent.place(), extent.units())).isEqualTo(extent);
  }

  @Test
  void aRecordTakesAtMost64OctetsOfHeap() {
    var index = new DiskIndex();
    var random = new Random(1);
    for (int i = 1; i <= 400_000; i++) {
      index.put(random.nextLong(), extent(i), () -> true);
      if (i > 20_000 && i % 1000 == 0) {
        assertThat(index.heapBytes()).as("%d records", i).isLessThan(64L * i);
      }
    }
    assertThat(index.size()).isEqualTo(400_000);
  }

  @Test
  void whatIsNotThereIsNotFound() {
    var index = new DiskIndex();
    index.put(0, extent(1), () -> true);
    assertThat(index.find(0)).containsExactly(extent(1));
    assertThat(index.find(64L << 6)).isEmpty();
    assertThat(index.put(1, extent(1), () -> false)).isEqualTo(DiskIndex.REFUSED);
    assertThat(index.find(1)).isEmpty();
  }

  @Test
  void everythingIsFoundWhateverCollidesAndLeaves() {
    var random = new Random(2);
    var index = new DiskIndex();
    Map<Long, Extent> model = new HashMap<>();
    List<Long> keys = new ArrayList<>();
    for (int step = 1; step <= 60_000; step++) {
      long key = (long) random.nextInt(3000) << 4;
      if (random.nextInt(5) < 3) {
        index.put(key, extent(step), () -> true);
        if (model.put(key, extent(step)) == null) {
          keys.add(key);
        }
      } else if (random.nextBoolean()) {
        assertThat(index.removeAll(key)).isEqualTo(model.remove(key) != null);
      } else {
        Extent there = model.get(key);
        assertThat(index.remove(key, extent(step))).isFalse();
        if (there != null) {
          assertThat(index.move(key, there, extent(step))).isTrue();
          model.put(key, extent(step));
        }
      }
    }
    for (long key : keys) {
      Extent expected = model.get(key);
      if (expected == null) {
        assertThat(index.find(key)).isEmpty();
      } else {
        assertThat(index.find(key)).containsExactly(expected);
      }
    }
    assertThat(index.size()).isEqualTo(model.size());
  }

  @Test
  void theRecordsOfASegmentAreListedInOrderWithThoseAskedForMarked() {
    var index = new DiskIndex();
    for (int i = 0; i < 2000; i++) {
      index.put(i * 977L, extent(i), () -> true);
    }
    index.find(1500 * 977L);
    List<DiskIndexTable.IndexedRecord> entries = index.in(2);
    assertThat(entries).extracting(entry -> entry.extent().offset()).isSorted().hasSize(1000);
    assertThat(entries.stream().filter(DiskIndexTable.IndexedRecord::wasAskedFor))
        .singleElement()
        .isEqualTo(new DiskIndexTable.IndexedRecord(1500 * 977L, extent(1500), true));
  }
}
