package io.kamille.cluster.peer;

import io.kamille.core.origin.HashKey;
import io.kamille.core.setting.HostPort;
import io.kamille.perf.load.Distribution.Zipf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** So many nodes that own keys and serve nothing. Confined. */
public final class OwnerSimulation {

  /*
   * All have been members for long. Their ports are their places. One node that owns nothing itself
   * asks them; each request is in flight until so many others have come.
   */
  private static final int KEYS = 100_000;
  private static final int REQUESTS = 100_000;
  private static final int IN_FLIGHT_PER_NODE = 64;
  private static final int SEED = 1;
  private static final Zipf POPULARITY = new Zipf(KEYS, 1);
  private static final long[] ALL =
      LongStream.range(0, KEYS).map(key -> hash("http://www.example.org/" + key)).toArray();

  private final int nodes;
  private final Owners owners;

  /** The node that owns each key. */
  final int[] ownerOf;

  /**
   * What popular keys do.
   *
   * @param greatest the most requests in flight of a node, in units of the mean
   * @param elsewhere the part of the requests that go to another node than the owner
   */
  public record Load(double greatest, double elsewhere) {}

  /** Nodes that have divided the keys. */
  public OwnerSimulation(int nodes) {
    this.nodes = nodes;
    owners =
        new Owners(
            IntStream.range(0, nodes)
                .mapToObj(node -> new PeerNode(name(node), new HostPort("peer", node), 0, false))
                .toList(),
            "asking");
    ownerOf =
        LongStream.of(ALL)
            .mapToInt(key -> place(owners.owner(key, Owners.WARM.toNanos())))
            .toArray();
  }

  /** The name of a node. */
  public static String name(int node) {
    return "kamille-" + node;
  }

  private static long hash(String text) {
    byte[] octets = text.getBytes(StandardCharsets.US_ASCII);
    return HashKey.hash(HashKey.START, octets, 0, octets.length);
  }

  private static int place(@Nullable PeerNode node) {
    return Objects.requireNonNull(node).address().port();
  }

  /** The part of all keys that have another owner in another cluster. */
  public double moved(OwnerSimulation other) {
    return IntStream.range(0, KEYS).filter(key -> ownerOf[key] != other.ownerOf[key]).count()
        / (double) KEYS;
  }

  /** The most keys that a node owns, in units of the mean. */
  public double spread() {
    int[] keys = new int[nodes];
    Arrays.stream(ownerOf).forEach(owner -> keys[owner]++);
    return Arrays.stream(keys).max().orElse(0) * (double) nodes / KEYS;
  }

  /** Requests for keys of which the n-th is asked for in proportion to 1/n. */
  public Load load(boolean isBounded) {
    var random = new SplittableRandom(SEED);
    int[] inFlight = new int[nodes];
    int[] window = new int[IN_FLIGHT_PER_NODE * nodes];
    int greatest = 0;
    int elsewhere = 0;
    for (int i = 0; i < REQUESTS; i++) {
      int place = i % window.length;
      if (i >= window.length) {
        inFlight[window[place]]--;
      }
      int key = POPULARITY.value(random.nextDouble()) - 1;
      int node = isBounded ? nearest(ALL[key], inFlight) : ownerOf[key];
      elsewhere += node == ownerOf[key] ? 0 : 1;
      window[place] = node;
      inFlight[node]++;
      greatest = Math.max(greatest, inFlight[node]);
    }
    return new Load((double) greatest / IN_FLIGHT_PER_NODE, elsewhere / (double) REQUESTS);
  }

  private int nearest(long key, int[] inFlight) {
    return place(owners.nearest(key, Owners.WARM.toNanos(), null, node -> inFlight[place(node)]));
  }
}
