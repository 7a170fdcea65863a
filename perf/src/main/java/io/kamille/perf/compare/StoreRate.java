package io.kamille.perf.compare;

import io.kamille.cache.index.CaffeineIndex;
import io.kamille.cache.index.IndexMemory;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.EncodedHead;
import io.kamille.cache.store.ResponseCodec;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.tiers.Reservation;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.loop.WallClock;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * How long a loop waits for the index while it stores 50,000 responses a second in a full cache.
 */
final class StoreRate {

  /*
   * One loop stores fifty responses every millisecond, in turns of a few hundred microseconds; late
   * turns are made up for. The stall detector of the loops looks for turns of more than a
   * millisecond. On two processors such turns are mostly those in which somebody else had the
   * processor. So the JVM is asked as well how often and how long the loop's thread waited for a
   * monitor or a lock.
   */
  private static final int PER_SECOND = 50_000;
  private static final int BURST = 50;
  private static final int WARM_SECONDS = 10;
  private static final int SECONDS = 20;
  private static final int CONTENT_BYTES = 1024;
  private static final long ARENA_BYTES = 256L << 20;
  private static final long LIMIT_NANOS = 1_000_000;

  private final Arena arena = Arena.open(ARENA_BYTES);
  private final CaffeineIndex index;
  private final TieredStore store;
  private final ResponseHead head = ResponseHead.of(200, "Cache-Control", "max-age=3600");
  private final ByteBuf content = Unpooled.directBuffer().writeZero(CONTENT_BYTES);

  private int number;

  private StoreRate(PolicyChoice choice) {
    IndexMemory memory =
        new IndexMemory() {
          @Override
          public boolean charge(long changeBytes) {
            return arena.charge(changeBytes);
          }

          @Override
          public long freeBytes() {
            return arena.freeBytes();
          }
        };
    long capacity = TieredStore.indexCapacityBytes(ARENA_BYTES);
    index = CaffeineIndex.open(capacity, choice, memory, WallClock.system());
    store = new TieredStore(arena, index, new PurgeTable());
  }

  /** Measures under each policy, and prints. */
  static void print() {
    print(PolicyChoice.TINYLFU);
    print(PolicyChoice.LRU);
  }

  private static void print(PolicyChoice choice) {
    var registry = new MetricRegistry();
    try (var loops = new LoopGroup(1, PaceSettings.OFF, registry)) {
      var rate = new StoreRate(choice);
      rate.run(loops, WARM_SECONDS);
      loops.watch(Duration.ofNanos(LIMIT_NANOS));
      ThreadInfo calm = waits(loops);
      long refused = rate.index.refusals();
      int before = rate.number;
      long took = rate.run(loops, SECONDS);
      ThreadInfo busy = waits(loops);
      System.out.printf(
          Locale.ROOT,
          "%n%s: %,.0f stores/s in a full cache of %d MiB: the loop waited for monitors %d times,"
              + " %d ms together, for locks %d times, %d ms; turns beyond 1 ms, preempted ones too:"
              + " %s; not stored %d, evicted beside the policy %d%n",
          choice.token(),
          (rate.number - before) * 1e9 / took,
          ARENA_BYTES >> 20,
          busy.getBlockedCount() - calm.getBlockedCount(),
          busy.getBlockedTime() - calm.getBlockedTime(),
          busy.getWaitedCount() - calm.getWaitedCount(),
          busy.getWaitedTime() - calm.getWaitedTime(),
          stalls(registry),
          rate.index.refusals() - refused,
          rate.index.fallbackEvictions());
      loops.loops().getFirst().submit(rate::close).syncUninterruptibly();
    }
  }

  private static ThreadInfo waits(LoopGroup loops) {
    var threads = ManagementFactory.getThreadMXBean();
    threads.setThreadContentionMonitoringEnabled(true);
    long loop =
        loops
            .loops()
            .getFirst()
            .submit(() -> Thread.currentThread().threadId())
            .syncUninterruptibly()
            .getNow();
    return threads.getThreadInfo(loop);
  }

  private static String stalls(MetricRegistry registry) {
    return registry.read().stream()
        .filter(family -> family.descriptor().name().equals("kamille_loop_stalls_total"))
        .map(family -> String.valueOf(family.samples().getFirst().value()))
        .findFirst()
        .orElse("?");
  }

  private long run(LoopGroup loops, int seconds) {
    long begin = System.nanoTime();
    long bursts = (long) seconds * PER_SECOND / BURST;
    long apart = 1_000_000_000L * BURST / PER_SECOND;
    for (long i = 0; i < bursts; i++) {
      long wait = begin + i * apart - System.nanoTime();
      if (wait > 0) {
        LockSupport.parkNanos(wait);
      }
      loops.loops().getFirst().submit(this::burst).syncUninterruptibly();
    }
    return System.nanoTime() - begin;
  }

  private void burst() {
    for (int i = 0; i < BURST; i++) {
      store();
    }
  }

  private void store() {
    String uri = "http://www.example.org/" + number++;
    CacheKey key = CacheKey.of(RequestHead.of("GET", uri));
    ByteBuf octets = Unpooled.buffer();
    EncodedHead encoded = ResponseCodec.encode(uri, head, octets);
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, 0, 0);
    TieredStore.Moment before = store.moment(key);
    store.find(key);
    boolean pays = store.pays(key, octets.readableBytes() + CONTENT_BYTES);
    Reservation reservation =
        pays ? store.reserve(key, octets.readableBytes() + CONTENT_BYTES, 0) : null;
    if (reservation != null && reservation.append(octets) && reservation.append(content)) {
      store
          .commit(
              key,
              reservation,
              before,
              filled -> StoredResponse.of(encoded, filled, facts, SelectingFields.NONE))
          .release();
    }
    octets.release();
  }

  private void close() {
    store.clear();
    index.close();
    arena.close();
  }
}
