package io.kamille.perf.load;

import io.kamille.perf.load.OriginTarget.Trait;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The workload of Kajita, Nakamura, Chinen and Sunahara (1999): so many requests are for what was
 * asked for before, by zipf, and four of five may be stored. Confined.
 */
public final class PeakMix implements RequestSource {

  /*
   * Repeats are drawn from a fixed population, which is asked for once before anything is measured.
   * All other requests are for something new, so a cache that holds the population hits exactly the
   * share of repeats. The paper names no exponent and no lengths but that of a slot, 15 KB: lengths
   * are exponential, and the exponent is one that leaves a disk something to do behind a memory.
   */
  private static final double STORABLE_SHARE = 0.80;
  private static final double MEAN_BYTES = 12 * 1024;
  private static final int LENGTH_LIMIT = 100 * 1024;
  private static final double THINK_LEAST_MILLIS = 1500;
  private static final double THINK_MORE_MILLIS = 3000;
  private static final long NEW_STORABLE = 1L << 40;
  private static final long NEW_UNSTORABLE = 2L << 40;

  private final String authority;
  private final double repeatShare;
  private final double thinkScale;
  private final Distribution.Zipf popularity;
  private final List<LoadRequest> population = new ArrayList<>();
  private final Set<LoadRequest> repeats;
  private final SplittableRandom random;
  private long bytes;
  private long news;

  /**
   * A workload that is over when nobody asks any more.
   *
   * @param repeatShare of all requests, 0 to 0.8
   * @param thinkScale of the origin's 1.5 to 4.5 s
   */
  public PeakMix(
      String authority,
      int objects,
      double exponent,
      double repeatShare,
      double thinkScale,
      long seed) {
    this.authority = authority;
    this.repeatShare = repeatShare;
    this.thinkScale = thinkScale;
    this.popularity = new Distribution.Zipf(objects, exponent);
    this.random = new SplittableRandom(seed);
    for (int rank = 1; rank <= objects; rank++) {
      OriginTarget target = target(rank);
      bytes += target.length();
      population.add(LoadRequest.get(authority, target));
    }
    this.repeats = new HashSet<>(population);
  }

  private OriginTarget target(long object) {
    double length = Distribution.exponential(MEAN_BYTES, share(2 * object));
    double think = THINK_LEAST_MILLIS + THINK_MORE_MILLIS * share(2 * object + 1);
    return OriginTarget.of(object, (int) Math.clamp(length, 1, LENGTH_LIMIT))
        .with(Trait.THINK, (int) Math.round(think * thinkScale));
  }

  private static double share(long number) {
    return (MadeContent.mix(number) >>> 11) * 0x1.0p-53;
  }

  @Override
  public LoadRequest next() {
    double kind = random.nextDouble();
    if (kind < repeatShare) {
      return repeat();
    }
    return kind < STORABLE_SHARE
        ? LoadRequest.get(authority, target(NEW_STORABLE + news++))
        : LoadRequest.get(authority, target(NEW_UNSTORABLE + news++).with(Trait.FRESH, 0));
  }

  private LoadRequest repeat() {
    return population.get(popularity.value(random.nextDouble()) - 1);
  }

  /** The population, once, the most popular last; after that repeats. */
  public RequestSource filling() {
    int[] left = {population.size()};
    return () -> left[0] > 0 ? population.get(--left[0]) : repeat();
  }

  /** Repeats alone. */
  public RequestSource repeating() {
    return this::repeat;
  }

  /** Whether the request is for something of the population. */
  public boolean isRepeat(LoadRequest request) {
    return repeats.contains(request);
  }

  /** How many octets of content the population has. */
  public long populationBytes() {
    return bytes;
  }
}
