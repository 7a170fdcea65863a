package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which keys a process finds that the one before it was asked for most. */
class HeatFileTest {

  private static final List<CacheKey> KEYS =
      List.of(DiskFixture.key(3), DiskFixture.key(1), DiskFixture.key(2));

  private static MemoryDirectory written() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.tier.keepHeat(List.of(DiskFixture.key(9)));
      fixture.tier.keepHeat(KEYS);
    }
    return directory;
  }

  @Test
  void theKeysComeBackInTheirOrder() {
    try (var fixture = new DiskFixture(written())) {
      assertThat(fixture.tier.heat()).isEqualTo(KEYS);
    }
  }

  @Test
  void asManyAsTheFileHoldsComeBackTheHottestOfThem() {
    for (int count : new int[] {0, 1, HeatFile.LIMIT - 1, HeatFile.LIMIT, HeatFile.LIMIT + 1}) {
      List<CacheKey> keys = IntStream.range(0, count).mapToObj(DiskFixture::key).toList();
      var directory = new MemoryDirectory();
      try (var fixture = new DiskFixture(directory)) {
        fixture.tier.keepHeat(keys);
      }
      try (var fixture = new DiskFixture(directory)) {
        assertThat(fixture.tier.heat()).isEqualTo(keys.subList(0, Math.min(count, HeatFile.LIMIT)));
      }
    }
  }

  @Test
  void withoutAFileThereAreNone() {
    try (var fixture = new DiskFixture()) {
      assertThat(fixture.tier.heat()).isEmpty();
    }
  }

  @Test
  void cutOffOrDamagedAnywhereThereAreNone() {
    MemoryDirectory directory = written();
    int length = directory.octets(HeatFile.NAME).length;
    for (int at = 0; at < length; at++) {
      try (var fixture = new DiskFixture(directory.cutOff(HeatFile.NAME, at))) {
        assertThat(fixture.tier.heat()).as("cut at %d", at).isEmpty();
      }
      try (var fixture = new DiskFixture(directory.flipped(HeatFile.NAME, at, 1))) {
        assertThat(fixture.tier.heat()).as("octet %d", at).isEmpty();
        assertThat(fixture.tier.isRunning()).isTrue();
      }
    }
  }

  @Test
  void theKeysOfAnotherStoreMeanNothing() throws IOException {
    MemoryDirectory directory = written();
    directory.delete(StoreIdentity.NAME);
    try (var fixture = new DiskFixture(directory)) {
      assertThat(fixture.tier.heat()).isEmpty();
    }
  }
}
