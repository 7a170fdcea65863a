package io.kamille.cache.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that fails ends the tier, and nothing else. */
class DiskFaultTest {

  private static final int LENGTH = 300;

  private static void assertAside(DiskFixture fixture) {
    fixture.run();
    assertThat(fixture.tier.isRunning()).isFalse();
    assertThat(fixture.offer(5, 1, LENGTH, new AtomicBoolean(true))).isFalse();
    assertThat(fixture.all(1)).isEmpty();
    assertThat(fixture.tier.size()).isZero();
    fixture.tier.remove(DiskFixture.key(1), 1);
    fixture.tier.clear();
    fixture.run();
    var registry = new MetricRegistry();
    DiskMetrics.register(() -> fixture.tier, registry);
    assertThat(registry.read().toString()).contains("kamille_cache_disk_up");
  }

  @Test
  void aFullDiskIsGivenUpAndItsFilesDeleted() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, LENGTH);
      fixture.directory.becomeFull();
      fixture.put(2, 1, LENGTH);
      assertAside(fixture);
      assertThat(fixture.directory.names()).isEmpty();
    }
  }

  @Test
  void aDiskThatBecomesReadOnlyIsGivenUp() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, LENGTH);
      fixture.directory.becomeReadOnly();
      fixture.put(2, 1, LENGTH);
      assertAside(fixture);
    }
  }

  @Test
  void aReadThatFailsIsAMissAndEndsTheTier() {
    try (var fixture = new DiskFixture()) {
      fixture.put(1, 1, LENGTH);
      Extent extent = fixture.tier.find(DiskFixture.key(1))[0];
      fixture.directory.becomeUnreadable();
      assertThat(fixture.read(DiskFixture.key(1), extent)).isNull();
      assertAside(fixture);
    }
  }

  @Test
  void aStoreThatWasGivenUpIsEmptyForTheNextProcess() {
    var directory = new MemoryDirectory();
    try (var fixture = new DiskFixture(directory)) {
      fixture.put(1, 1, LENGTH);
      directory.becomeUnreadable();
      fixture.all(1);
      fixture.run();
    }
    MemoryDirectory after = directory.copy();
    try (var fixture = DiskFixture.recovered(after)) {
      assertThat(fixture.tier.isRunning()).isTrue();
      assertThat(fixture.all(1)).isEmpty();
    }
  }

  @Test
  void whatWaitsWhenTheDiskFailsIsReleased() {
    try (var fixture = new DiskFixture()) {
      fixture.directory.becomeFull();
      for (int i = 0; i < 10; i++) {
        fixture.offer(i, 1, LENGTH, new AtomicBoolean(true));
      }
      assertAside(fixture);
    }
  }

  @Test
  void shortWritesAreCarriedOn() {
    try (var fixture = new DiskFixture()) {
      fixture.directory.writeAtMost(7);
      fixture.put(1, 1, LENGTH);
      fixture.put(2, 1, 3000);
      assertThat(fixture.version(1, LENGTH)).isEqualTo(1);
      assertThat(fixture.version(2, 3000)).isEqualTo(1);
    }
  }

  @Test
  void aDirectoryThatCannotBeHadIsTold(@TempDir Path path) throws IOException {
    Path file = Files.writeString(path.resolve("file"), "no directory");
    assertThatThrownBy(
            () -> DiskTier.open(Disk.ofSystem(), file, DiskTier.CAPACITY_MINIMUM_BYTES, 1 << 20))
        .isInstanceOf(IOException.class);
    assertThat(Files.readString(file)).isEqualTo("no directory");
  }
}
