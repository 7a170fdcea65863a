package io.kamille.cluster.log;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cluster.engine.PlaceFile;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** How long entries and snapshots of the cluster's log are. */
public final class LogGrowth {

  /** So many purges fill a state. */
  public static final int PURGES = LogState.KEPT_LIMIT;

  private static final int ENTRY = 256;
  private static final int SEED = 1;

  /** A node without a cache. */
  private static final LocalPurges NOTHING =
      new LocalPurges() {
        @Override
        public long purge(long number, PurgeTarget target, boolean isSoft) {
          return 0;
        }

        @Override
        public void invalidate(String uri) {}

        @Override
        public void clear() {}

        @Override
        public void whenKept(Runnable action) {}
      };

  private LogGrowth() {}

  /** Octets of an entry with one purge of a URL. */
  public static int entryOctets() {
    return LogState.purges(List.of(order(0))).length;
  }

  /** Octets of a snapshot that knows these nodes and is full of purges. */
  public static int snapshotOctets(List<String> nodes) {
    var state = new LogState(NOTHING, new PlaceFile(Path.of("/dev/null/applied")));
    nodes.forEach(node -> state.apply(LogState.node(node, true)));
    IntStream.range(0, PURGES / ENTRY)
        .mapToObj(i -> LongStream.range(0, ENTRY).mapToObj(j -> order((long) i * ENTRY + j)))
        .forEach(orders -> state.apply(LogState.purges(orders.toList())));
    return state.save().length;
  }

  private static PurgeOrder order(long number) {
    String url = "http://www.example.org/products/" + (100_000 + number) + "/picture.jpg";
    long id = new SplittableRandom(SEED + number).nextLong();
    return new PurgeOrder(id, Scope.URL, List.of(url), false, 0);
  }
}
