package io.kamille.cache.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.disk.Disk;
import io.kamille.cache.disk.DiskTier;
import io.kamille.cache.disk.StoreDirectory;
import io.kamille.cache.disk.StoreFile;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.TestIndexes;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.Await;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a process that stops leaves to the next one, if the disk takes one response at a time. */
class WarmStartTest {

  private static final long NOW = 1_800_000_000;
  private static final long CAPACITY = 1 << 20;
  private static final int COUNT = 5;

  private final Arena arena = Arena.open(CAPACITY);
  private final CountDownLatch goesOn = new CountDownLatch(1);
  private @TempDir Path directory;
  private DiskTier disk;
  private Store store;
  private volatile boolean isStuck;

  /** Moves on by a second whenever it is read, up to a moment. */
  private final class Clock implements WallClock {

    private final long lastNanos;
    private long nanos;

    Clock(Duration last) {
      lastNanos = last.toNanos();
    }

    @Override
    public long epochMillis() {
      return NOW * 1000;
    }

    @Override
    public long nanos() {
      long now = nanos;
      if (now == lastNanos) {
        goesOn.countDown();
      } else {
        nanos += Duration.ofSeconds(1).toNanos();
      }
      return now;
    }
  }

  @BeforeEach
  void open() throws IOException {
    disk = DiskTier.open(StuckDirectory::new, directory.resolve("store"), 64 << 20, 0);
    PeakWatch peak = new PeakWatch(PeakChoice.OFF, () -> 0, WallClock.system());
    store =
        new Store(
            arena,
            TestIndexes.inCaller(
                Store.indexCapacityBytes(CAPACITY), PolicyChoice.LRU, WallClock.system()),
            new PurgeTable(),
            new DiskCopies(disk, DiskCopies.Admission.SECOND_REQUEST, peak));
    IntStream.range(0, COUNT).forEach(this::put);
    isStuck = true;
  }

  @AfterEach
  void close() {
    store.clear();
    store.close();
    arena.close();
  }

  private static CacheKey key(int number) {
    return CacheKey.of(RequestHead.of("GET", "http://example.org/" + number));
  }

  /** Stores a response and asks for it, those with greater numbers more often. */
  private void put(int number) {
    ResponseHead head = ResponseHead.of(200, "Cache-Control", "max-age=3600");
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded = ResponseCodec.encode("http://example.org/" + number, head, octets);
    Reservation reservation =
        Objects.requireNonNull(store.reserve(null, octets.readableBytes(), 0));
    assertThat(reservation.append(octets)).isTrue();
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, NOW, NOW);
    StoredResponse response =
        store.put(
            key(number),
            reservation,
            store.moment(key(number)),
            null,
            all -> StoredResponse.of(encoded, all, facts, SelectingFields.NONE));
    IntStream.rangeClosed(0, number).forEach(_ -> response.countHit(0));
    response.release();
  }

  /** What the next process finds, hottest first. */
  private List<CacheKey> left(Clock clock) throws IOException {
    WarmStart.begin(store, disk).leave(clock, WarmStart.LIMIT_NANOS);
    goesOn.countDown();
    disk.close();
    try (DiskTier next = DiskTier.open(Disk.ofSystem(), directory.resolve("store"), 64 << 20, 0)) {
      List<CacheKey> heat = next.heat();
      Await.until(next::isRecovered);
      assertThat(heat).allMatch(key -> next.count(key) == 1);
      assertThat(next.size()).isEqualTo(heat.size());
      return heat;
    }
  }

  @Test
  void aDiskThatTakesAllInTenSecondsHasAll() throws IOException {
    assertThat(left(new Clock(Duration.ofSeconds(9))))
        .containsExactly(key(4), key(3), key(2), key(1), key(0));
  }

  @Test
  void aDiskThatTakesLongerHasWhatItTook() throws IOException {
    Clock clock = new Clock(Duration.ofHours(1));
    assertThat(left(clock)).containsExactly(key(4));
    assertThat(Duration.ofNanos(clock.nanos))
        .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(12));
  }

  /** Begins no segment until it may. */
  private final class StuckDirectory implements StoreDirectory {

    private final StoreDirectory files;

    StuckDirectory(Path path) throws IOException {
      files = Disk.ofSystem().open(path);
    }

    @Override
    public List<String> names() throws IOException {
      return files.names();
    }

    @Override
    public StoreFile create(String name) throws IOException {
      if (isStuck) {
        Await.opened(goesOn);
      }
      return files.create(name);
    }

    @Override
    public StoreFile open(String name) throws IOException {
      return files.open(name);
    }

    @Override
    public void delete(String name) throws IOException {
      files.delete(name);
    }

    @Override
    public void close() throws IOException {
      files.close();
    }
  }
}
