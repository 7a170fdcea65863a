package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.http.RequestHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DiskTierTest {

  private static final int LENGTH = 300;

  @Test
  void whatIsWrittenIsReadBackWithEverythingThatIsKnownOfIt() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 7, LENGTH);
      assertThat(fixture.version(1, LENGTH)).isEqualTo(7);
      assertThat(fixture.all(2)).isEmpty();
    }
  }

  /** It may be a removal, so nothing that was written before it is used either. */
  @Test
  void aRecordOfALaterFormatEmptiesTheDisk() {
    var directory = new MemoryDirectory();
    Extent second;
    try (var later = new DiskFixture(directory)) {
      later.put(1, 1, LENGTH);
      later.put(2, 1, LENGTH);
      second = later.tier.find(DiskFixture.key(2))[0];
    }
    byte[] octets = directory.octets(Segment.name(second.segment()));
    octets[second.offset() + Integer.BYTES]++;
    int checksumAt = second.offset() + RecordHeader.LENGTH - Integer.BYTES;
    ByteBuffer.wrap(octets).putInt(checksumAt, Checksum.of(octets, second.offset(), checksumAt));
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.version(1, LENGTH)).isZero();
      assertThat(fixture.version(2, LENGTH)).isZero();
      fixture.put(3, 1, LENGTH);
      assertThat(fixture.version(3, LENGTH)).isEqualTo(1);
    }
  }

  @Test
  void keysThatAreEqualInOneHalfAreTwo() {
    try (var fixture = new DiskFixture()) {
      StoredResponse response =
          fixture.response(1, new byte[LENGTH], DiskFixture.head(1), request());
      assertThat(fixture.tier.offer(CacheKey.of(1, 2), response, 1, () -> true)).isTrue();
      fixture.run();
      assertThat(read(fixture, CacheKey.of(1, 2))).isEqualTo(1);
      assertThat(read(fixture, CacheKey.of(3, 2))).isZero();
      assertThat(read(fixture, CacheKey.of(1, 3))).isZero();
    }
  }

  private static long read(DiskFixture fixture, CacheKey key) {
    return Arrays.stream(fixture.tier.find(key))
        .filter(extent -> fixture.read(key, extent) != null)
        .count();
  }

  @Test
  void contentLargerThanABlockIsReadBack() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, 0);
      fixture.put(2, 1, 3500);
      assertThat(fixture.version(1, 0)).isEqualTo(1);
      assertThat(fixture.version(2, 3500)).isEqualTo(1);
    }
  }

  @Test
  void theSelectingFieldsAreReadBack() {
    try (var fixture = new DiskFixture()) {
      fixture.putVariant(1, 1, LENGTH, "de, en");
      SelectingFields selecting = fixture.all(1).getFirst().head().selecting();
      assertThat(selecting.names()).containsExactly("accept-language", "x-absent");
      assertThat(selecting.matches(request("Accept-Language", "de,en"))).isTrue();
      assertThat(selecting.matches(request("Accept-Language", "en"))).isFalse();
      assertThat(selecting.matches(request("Accept-Language", "de,en", "X-Absent", "1"))).isFalse();
    }
  }

  private static RequestHead request(String... fields) {
    return RequestHead.of("GET", DiskFixture.uri(1), fields);
  }

  @Test
  void aResponseTakesThePlaceOfThatOfItsOwnVariantOnly() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.putVariant(1, 1, LENGTH, "de");
      fixture.putVariant(1, 2, LENGTH, "en");
      fixture.putVariant(1, 3, LENGTH, "de");
      assertThat(fixture.all(1)).extracting(DiskFixture.Whole::sequence).containsOnly(2L, 3L);
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).extracting(DiskFixture.Whole::sequence).containsOnly(2L, 3L);
    }
  }

  @Test
  void anOriginThatVariesByEverythingFillsNoChain() {
    try (var fixture = new DiskFixture()) {
      for (int i = 1; i <= 50; i++) {
        fixture.putVariant(1, i, 0, "x-" + i);
      }
      assertThat(fixture.tier.find(DiskFixture.key(1)).length).isLessThanOrEqualTo(16);
      assertThat(fixture.all(1)).extracting(DiskFixture.Whole::sequence).contains(50L);
    }
  }

  @Test
  void nothingIsFoundBeforeItIsWritten() {
    try (var fixture = new DiskFixture()) {
      fixture.offer(1, 1, LENGTH, new AtomicBoolean(true));
      assertThat(fixture.all(1)).isEmpty();
      fixture.run();
      assertThat(fixture.version(1, LENGTH)).isEqualTo(1);
    }
  }

  @Test
  void whatIsRemovedIsNotFoundAgainNorAfterARestart() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, LENGTH);
      fixture.tier.remove(DiskFixture.key(1), 2);
      assertThat(fixture.all(1)).isEmpty();
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).isEmpty();
      assertThat(fixture.version(2, LENGTH)).isEqualTo(1);
    }
  }

  @Test
  void whatIsWrittenAfterARemovalIsFoundAfterARestart() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      fixture.tier.remove(DiskFixture.key(1), 2);
      fixture.put(1, 3, LENGTH);
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.version(1, LENGTH)).isEqualTo(3);
    }
  }

  @Test
  void aRemovalReachesWhatIsStillOnItsWay() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      var isCurrent = new AtomicBoolean(true);
      fixture.offer(1, 1, LENGTH, isCurrent);
      isCurrent.set(false);
      fixture.tier.remove(DiskFixture.key(1), 2);
      fixture.run();
      assertThat(fixture.all(1)).isEmpty();
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).isEmpty();
    }
  }

  @Test
  void aRemovalBetweenBlockAndIndexIsWrittenBehind() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      var isCurrent = new AtomicBoolean(true);
      fixture.offer(1, 1, LENGTH, isCurrent);
      assertThat(fixture.tier.runOnce()).isTrue();
      isCurrent.set(false);
      fixture.tier.remove(DiskFixture.key(1), 2);
      fixture.run();
      assertThat(fixture.all(1)).isEmpty();
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).isEmpty();
    }
  }

  @Test
  void afterAClearNothingIsLeft() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      fixture.tier.clear();
      assertThat(fixture.all(1)).isEmpty();
      fixture.run();
      assertThat(directory.segments()).isEmpty();
      fixture.put(2, 1, LENGTH);
      assertThat(fixture.version(2, LENGTH)).isEqualTo(1);
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).isEmpty();
      assertThat(fixture.version(2, LENGTH)).isEqualTo(1);
    }
  }

  @Test
  void aFullQueueDropsTheResponseAndCountsIt() {
    try (var fixture = new DiskFixture()) {
      int accepted = 0;
      for (int i = 0; i < 20; i++) {
        accepted += fixture.offer(i, 1, 100_000, new AtomicBoolean(true)) ? 1 : 0;
      }
      assertThat(accepted).isBetween(9, 11);
      assertThat(fixture.tier.counts().droppedWrites.sum()).isEqualTo(20 - accepted);
    }
  }

  @Test
  void whatIsLargerThanASegmentIsNotWritten() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, DiskFixture.SEGMENT_BYTES);
      assertThat(fixture.all(1)).isEmpty();
      assertThat(fixture.tier.counts().droppedWrites.sum()).isEqualTo(1);
      assertThat(fixture.tier.isRunning()).isTrue();
    }
  }

  @Test
  void theSecretOutlivesTheProcess() throws IOException {
    var directory = new MemoryDirectory();
    var identity = StoreIdentity.readOrRandom(directory);
    identity.write(directory);
    assertThat(StoreIdentity.readOrRandom(directory)).isEqualTo(identity);
    var torn = directory.cutOff(StoreIdentity.NAME, 20);
    assertThat(StoreIdentity.readOrRandom(torn)).isNotEqualTo(identity);
    var damaged = directory.flipped(StoreIdentity.NAME, 9, 1);
    assertThat(StoreIdentity.readOrRandom(damaged)).isNotEqualTo(identity);
  }

  @Test
  void segmentsOfAnotherStoreAreDeleted() throws IOException {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
    }
    directory.delete(StoreIdentity.NAME);
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).isEmpty();
      assertThat(directory.segments()).isEmpty();
    }
  }

  @Test
  void whatIsReplacedElsewhereIsNotFoundNorAfterARestartAndOtherVariantsAre() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.putVariant(1, 1, LENGTH, "de");
      fixture.putVariant(1, 2, LENGTH, "en");
      fixture.tier.replaced(DiskFixture.key(1), fixture.all(1).getFirst().head().selecting());
      assertThat(fixture.all(1)).hasSize(1);
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).hasSize(1);
    }
  }

  @Test
  void whatIsReplacedDuringRecoveryIsNotFoundNorAfterARestart() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, LENGTH);
    }
    for (int start = 0; start < 2; start++) {
      try (var fixture = new DiskFixture(directory)) {
        if (start == 0) {
          fixture.tier.replaced(DiskFixture.key(1), SelectingFields.NONE);
        }
        fixture.run();
        assertThat(fixture.all(1)).isEmpty();
        assertThat(fixture.version(2, LENGTH)).isEqualTo(1);
      }
    }
  }

  @Test
  @Timeout(60)
  void aStoreInTheFileSystemOutlivesItsProcessAndIsReadableByItsOwnerOnly(@TempDir Path path)
      throws IOException {
    Path store = path.resolve("store");
    try (var fixture = new DiskFixture();
        var tier =
            DiskTier.open(Disk.ofSystem(), store, DiskTier.CAPACITY_MINIMUM_BYTES, 1 << 20)) {
      assertThat(
              tier.offer(
                  DiskFixture.key(1),
                  fixture.response(1, new byte[LENGTH], DiskFixture.head(1), request()),
                  1,
                  () -> true))
          .isTrue();
      assertThatThrownBy(
              () -> DiskTier.open(Disk.ofSystem(), store, DiskTier.CAPACITY_MINIMUM_BYTES, 1 << 20))
          .as("two on one directory")
          .isInstanceOf(IOException.class)
          .hasMessageContaining("uses it already");
    }
    try (var files = Files.list(store)) {
      for (Path file : files.toList()) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
            .isEqualTo("rw-------");
      }
    }
    try (var tier =
        DiskTier.open(Disk.ofSystem(), store, DiskTier.CAPACITY_MINIMUM_BYTES, 1 << 20)) {
      while (!tier.isRecovered()) {
        Thread.onSpinWait();
      }
      assertThat(tier.find(DiskFixture.key(1))).hasSize(1);
    }
  }

  @Test
  void whatFindsNoRoomBesideYoungerVariantsDoesNotComeBackAfterAPurge() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.putVariant(1, 1, 100, "old");
    }
    try (var fixture = DiskFixture.recovered(crowded(directory))) {
      assertThat(fixture.all(1)).hasSize(DiskIndex.LIMIT);
      for (int i = 0; i < DiskIndex.LIMIT; i++) {
        fixture.tier.replaced(DiskFixture.key(1), DiskFixture.selecting("new" + i));
      }
      fixture.run();
      assertThat(fixture.all(1)).isEmpty();
      fixture.tier.remove(DiskFixture.key(1), 0);
      fixture.run();
    }
    try (var fixture = DiskFixture.recovered(directory)) {
      assertThat(fixture.all(1)).isEmpty();
    }
  }

  /** As many variants as a key may have come before the older one is taken in. */
  private static MemoryDirectory crowded(MemoryDirectory directory) {
    try (var fixture = new DiskFixture(directory)) {
      for (int i = 0; i < DiskIndex.LIMIT; i++) {
        fixture.offerVariant(1, 2 + i, 100, "new" + i);
      }
      fixture.run();
    }
    return directory;
  }

  @Test
  void aSegmentThatWasShortenedIsEvictedLikeAnyOther() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(0, 1, 1000);
      assertThat(fixture.version(0, 1000)).isEqualTo(1);
      String first = directory.segments().getFirst();
      directory.put(first, Arrays.copyOf(directory.octets(first), 200));
      for (int i = 1; i < 100; i++) {
        fixture.put(i, 1, 1000);
      }
      assertThat(fixture.tier.isRunning()).isTrue();
      assertThat(fixture.version(99, 1000)).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, DiskTier.CAPACITY_MINIMUM_BYTES - 1})
  void lessThanFourSegmentsIsNoStore(long capacityBytes, @TempDir Path directory) {
    assertThatThrownBy(() -> DiskTier.open(Disk.ofSystem(), directory, capacityBytes, 1 << 20))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: >= 4194304");
    assertThat(directory).isEmptyDirectory();
  }
}
