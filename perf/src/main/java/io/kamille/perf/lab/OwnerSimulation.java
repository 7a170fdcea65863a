package io.kamille.perf.lab;

import io.kamille.core.origin.HashKey;
import io.kamille.core.origin.choose.ConsistentHash;
import io.kamille.perf.load.Distribution.Zipf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** So many nodes that own keys by rendezvous hashing; they serve nothing. Confined. */
final class OwnerSimulation {

  /*
   * The way of ConsistentHash with equal weights: of all nodes, the one with the greatest number of
   * key and node owns the key. With a bound, a node that has its part of 1.25 times the requests in
   * flight gets no further one; the next node for the key does.
   *
   * Each request is in flight until so many others have come.
   */
  private static final int KEYS = 100_000;
  private static final int REQUESTS = 100_000;
  private static final int IN_FLIGHT_PER_NODE = 16;
  private static final int SEED = 1;
  private static final Zipf POPULARITY = new Zipf(KEYS, 1);
  private static final long[] ALL =
      LongStream.range(0, KEYS).map(key -> hash("http://www.example.org/" + key)).toArray();

  private final long[] seeds;

  /**
   * What popular keys do.
   *
   * @param greatest the most requests in flight of a node, in units of the mean
   * @param elsewhere the part of the requests that go to another node than the owner
   */
  record Load(double greatest, double elsewhere) {}

  OwnerSimulation(int nodes) {
    seeds = IntStream.range(0, nodes).mapToLong(node -> hash(name(node))).toArray();
  }

  /** The name of a node. */
  static String name(int node) {
    return "kamille-" + node;
  }

  private static long hash(String text) {
    byte[] octets = text.getBytes(StandardCharsets.US_ASCII);
    return HashKey.hash(HashKey.START, octets, 0, octets.length);
  }

  private int owner(long key) {
    return owner(key, new int[seeds.length], 1);
  }

  /** Of the nodes with less than {@code most} requests in flight. */
  private int owner(long key, int[] inFlight, double most) {
    int best = -1;
    long greatest = -1;
    for (int i = 0; i < seeds.length; i++) {
      long number = HashKey.mix(key ^ seeds[i]) >>> 1;
      if (number > greatest && inFlight[i] < most) {
        greatest = number;
        best = i;
      }
    }
    return best;
  }

  /** The part of all keys that have another owner in another cluster. */
  double moved(OwnerSimulation other) {
    return LongStream.of(ALL).filter(key -> owner(key) != other.owner(key)).count() / (double) KEYS;
  }

  /** The part of all keys that move between nodes that both clusters have. */
  double movedBetweenOthers(OwnerSimulation other) {
    int both = Math.min(seeds.length, other.seeds.length);
    return LongStream.of(ALL)
            .filter(key -> owner(key) != other.owner(key))
            .filter(key -> owner(key) < both && other.owner(key) < both)
            .count()
        / (double) KEYS;
  }

  /** The most keys that a node owns, in units of the mean. */
  double spread() {
    int[] keys = new int[seeds.length];
    LongStream.of(ALL).forEach(key -> keys[owner(key)]++);
    return Arrays.stream(keys).max().orElse(0) * (double) seeds.length / KEYS;
  }

  /** Requests for keys of which the n-th is asked for in proportion to 1/n. */
  Load load(boolean isBounded) {
    var random = new SplittableRandom(SEED);
    int[] inFlight = new int[seeds.length];
    int[] window = new int[IN_FLIGHT_PER_NODE * seeds.length];
    double bound = ConsistentHash.BOUND * window.length / seeds.length;
    double most = isBounded ? Math.ceil(bound) : Double.POSITIVE_INFINITY;
    int greatest = 0;
    int elsewhere = 0;
    for (int i = 0; i < REQUESTS; i++) {
      int place = i % window.length;
      if (i >= window.length) {
        inFlight[window[place]]--;
      }
      long key = ALL[POPULARITY.value(random.nextDouble()) - 1];
      int node = owner(key, inFlight, most);
      elsewhere += node == owner(key) ? 0 : 1;
      window[place] = node;
      inFlight[node]++;
      greatest = Math.max(greatest, inFlight[node]);
    }
    return new Load((double) greatest / IN_FLIGHT_PER_NODE, elsewhere / (double) REQUESTS);
  }
}
