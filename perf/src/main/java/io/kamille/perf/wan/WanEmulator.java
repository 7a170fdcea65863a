package io.kamille.perf.wan;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Carries packets between two network namespaces as long-distance links would. One thread of its
 * own reads both TUN devices, decides at once when a packet is due ({@link PathDirection}), and
 * writes it to the other device then. The methods here are for any thread.
 */
public final class WanEmulator implements AutoCloseable {

  private static final int BATCH = 256;
  private static final long LONGEST_WAIT_NANOS = 10_000_000;
  private static final long PATIENCE_SECONDS = 10;
  private static final int POLLED_BYTES = 8;
  private static final int DESTINATION_LINK = 18;
  private static final int SOURCE_LINK = 14;
  private static final int LEAST_BYTES = 20;
  private static final byte VERSION_4 = 4;

  private final List<LinkSettings> links;
  private final Options options;
  private final Queue<Runnable> questions = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<@Nullable Void> started = new CompletableFuture<>();
  private final Thread thread;
  private volatile boolean isStopped;

  // What follows belongs to the thread.
  private final List<Lane> down = new ArrayList<>();
  private final List<Lane> up = new ArrayList<>();
  private final PriorityQueue<Lane> busy =
      new PriorityQueue<>(Comparator.comparingLong((Lane lane) -> lane.packets().dueNanos()));
  private final Histogram lateness = new Histogram(TimeUnit.SECONDS.toNanos(60), 2);
  private long beganNanos;
  private long unheld;
  private long refused;

  /**
   * How the emulator works.
   *
   * @param seed of all that is random
   * @param realTimePriority of its thread, 1 to 99; 0 for none. Without one the scheduler makes it
   *     late by milliseconds beside other work
   * @param turnNanos the least time between two looks at the devices, which saves processor time
   * @param slots packets that may be on their way at once, of 2 KiB each
   */
  public record Options(long seed, int realTimePriority, long turnNanos, int slots) {

    /** Real-time priority, 100 µs between looks, 131,072 packets. */
    public static Options seeded(long seed) {
      return new Options(seed, 5, 100_000, 1 << 17);
    }
  }

  private WanEmulator(Namespaces spaces, List<LinkSettings> links, Options options) {
    this.links = List.copyOf(links);
    this.options = options;
    thread = Thread.ofPlatform().name("wan").daemon().unstarted(() -> work(spaces));
  }

  /**
   * Starts carrying packets. Link n of the list is the one of the addresses of {@link
   * Namespaces#address} with number n, from 1 on.
   *
   * @throws IOException if a device cannot be opened
   */
  public static WanEmulator start(Namespaces spaces, List<LinkSettings> links, Options options)
      throws IOException {
    if (links.isEmpty() || links.size() > Namespaces.GREATEST_LINK) {
      throw new IllegalArgumentException(
          "links: " + links.size() + " (expected: 1 to " + Namespaces.GREATEST_LINK + ")");
    }
    var emulator = new WanEmulator(spaces, links, options);
    emulator.thread.start();
    try {
      emulator.started.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return emulator;
    } catch (Exception e) {
      emulator.close();
      throw new IOException("the path emulator cannot start: " + e.getMessage(), e);
    }
  }

  private void work(Namespaces spaces) {
    try (Arena scope = Arena.ofConfined()) {
      var posix = new Posix(scope);
      var server = TunDevice.open(posix, spaces.serverNetwork(), Namespaces.DEVICE);
      try {
        var client = TunDevice.open(posix, spaces.clientNetwork(), Namespaces.DEVICE);
        try {
          work(scope, posix, server, client);
        } finally {
          client.close();
        }
      } finally {
        server.close();
      }
    } catch (IOException | RuntimeException e) {
      started.completeExceptionally(e);
    }
  }

  private void work(Arena scope, Posix posix, TunDevice server, TunDevice client) {
    for (int i = 0; i < links.size(); i++) {
      down.add(new Lane(links.get(i).down(), options.seed() + 2L * i, client));
      up.add(new Lane(links.get(i).up(), options.seed() + 2L * i + 1, server));
    }
    var pool = new PacketPool(scope, options.slots());
    MemorySegment polled = scope.allocate(2L * POLLED_BYTES, Long.BYTES);
    watch(polled, 0, server);
    watch(polled, 1, client);
    posix.sharpenTimers();
    if (options.realTimePriority() > 0) {
      posix.becomeRealTime(options.realTimePriority());
    }
    beganNanos = System.nanoTime();
    started.complete(null);
    while (!isStopped) {
      int read = take(pool, server, down, DESTINATION_LINK) + take(pool, client, up, SOURCE_LINK);
      handOver(pool);
      answer();
      rest(posix, polled, read);
    }
  }

  private static void watch(MemorySegment polled, int index, TunDevice device) {
    polled.set(ValueLayout.JAVA_INT, (long) index * POLLED_BYTES, device.descriptor());
    polled.set(ValueLayout.JAVA_SHORT, (long) index * POLLED_BYTES + 4, (short) Posix.POLL_IN);
  }

  /** Reads what a device has, and decides when each packet is due at the other. */
  private int take(PacketPool pool, TunDevice from, List<Lane> lanes, int linkOffset) {
    for (int count = 0; count < BATCH; count++) {
      int slot = pool.take();
      if (slot == PacketPool.NONE) {
        unheld++;
        return count;
      }
      int length = from.read(pool.address(slot));
      if (length <= 0) {
        pool.give(slot);
        return count;
      }
      pool.length(slot, length);
      if (!isOnItsWay(pool, slot, length, lanes, linkOffset)) {
        pool.give(slot);
      }
    }
    return BATCH;
  }

  private boolean isOnItsWay(
      PacketPool pool, int slot, int length, List<Lane> lanes, int linkOffset) {
    long at = pool.offset(slot);
    MemorySegment memory = pool.memory();
    int link =
        length >= LEAST_BYTES && memory.get(ValueLayout.JAVA_BYTE, at) >> 4 == VERSION_4
            ? (memory.get(ValueLayout.JAVA_BYTE, at + linkOffset) & 0xff)
            : 0;
    if (link == 0 || link > lanes.size()) {
      return false;
    }
    Lane lane = lanes.get(link - 1);
    long due = lane.path().admit(System.nanoTime(), length);
    if (due == PathDirection.LOST) {
      return false;
    }
    lane.packets().add(due, slot);
    if (lane.packets().count() == 1) {
      busy.add(lane);
    }
    return true;
  }

  /** Writes what is due, in order of time over all links. */
  private void handOver(PacketPool pool) {
    long now = System.nanoTime();
    for (int count = 0; count < BATCH; count++) {
      Lane lane = busy.peek();
      if (lane == null || lane.packets().dueNanos() > now) {
        return;
      }
      busy.poll();
      long late = now - lane.packets().dueNanos();
      int slot = lane.packets().take();
      if (!lane.packets().isEmpty()) {
        busy.add(lane);
      }
      int length = pool.length(slot);
      if (!lane.end().write(pool.address(slot), length)) {
        refused++;
      }
      pool.give(slot);
      lateness.recordValue(Math.min(late, lateness.getHighestTrackableValue()));
      now = System.nanoTime();
    }
  }

  private void answer() {
    for (Runnable question = questions.poll(); question != null; question = questions.poll()) {
      question.run();
    }
  }

  private void rest(Posix posix, MemorySegment polled, int read) {
    long wait = untilDue();
    if (options.turnNanos() > 0 && wait > 0) {
      posix.poll(polled, 0, Math.min(wait, options.turnNanos()));
      wait = untilDue();
    }
    if (read == 0 && wait > 0) {
      posix.poll(polled, 2, wait);
    }
  }

  private long untilDue() {
    Lane next = busy.peek();
    return next == null
        ? LONGEST_WAIT_NANOS
        : Math.min(LONGEST_WAIT_NANOS, next.packets().dueNanos() - System.nanoTime());
  }

  /** What has been done so far. */
  public WanStats stats() {
    var answered = new CompletableFuture<WanStats>();
    questions.add(() -> answered.complete(count()));
    return answered.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
  }

  private WanStats count() {
    var counted = new ArrayList<WanStats.Link>();
    for (int i = 0; i < links.size(); i++) {
      counted.add(new WanStats.Link(links.get(i).name(), down.get(i).stats(), up.get(i).stats()));
    }
    return new WanStats(
        counted,
        lateness.getValueAtPercentile(99),
        unheld,
        refused,
        ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(),
        System.nanoTime() - beganNanos);
  }

  /** Ends the thread; packets on their way are lost. */
  @Override
  public void close() {
    isStopped = true;
    try {
      thread.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
