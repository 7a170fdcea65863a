package io.kamille.cache.index;

import io.kamille.perf.load.Distribution;
import io.kamille.perf.load.Distribution.Zipf;
import java.util.List;

/** Traces on which policies differ, and such on which they do not. */
public final class Traces {

  /*
   * Objects are as large as those of WebAxe-4, the workload of the papers: images, pages, downloads
   * and the rest, each with its own distribution. What a request asks for, and how large an object
   * is, follows from numbers alone, so that every trace is the same everywhere.
   */
  private static final long SEED = 20261122;
  private static final int OBJECTS = 200_000;
  private static final long ONE_TIME = 1L << 40;
  private static final int KB = 1000;

  private Traces() {}

  /** All of them. */
  public static List<Trace> all() {
    return List.of(
        zipf(0.7), zipf(0.8), zipf(0.9), zipf(1.0), webAxe4(), scan(), shifting(), bursts(), big());
  }

  /** Requests for objects of which the n-th is asked for in proportion to n to the minus alpha. */
  static Trace zipf(double alpha) {
    Zipf popularity = new Zipf(OBJECTS, alpha);
    return new Trace("zipf " + alpha, n -> scatter(rank(popularity, n)), Traces::bytes);
  }

  /**
   * The recurrence of WebAxe-4: 95 % of all requests are for one of a working set of 90,000
   * objects; the others are for new objects, each of which takes the place of the oldest one. Of
   * the first, one in ten is for the hot hundredth.
   */
  static Trace webAxe4() {
    int set = 90_000;
    return new Trace(
        "webaxe-4",
        n -> {
          long base = n / 20;
          if (n % 20 == 0) {
            return base + set;
          }
          long any = base + (long) (chance(n, 1) * set);
          return chance(n, 2) < 0.1 ? any / 100 * 100 : any;
        },
        Traces::bytes);
  }

  /** Zipf 0.9, and every third request is for something that nobody asks for again. */
  static Trace scan() {
    Zipf popularity = new Zipf(OBJECTS, 0.9);
    return new Trace(
        "scan + zipf 0.9",
        n -> n % 3 == 0 ? ONE_TIME + n : scatter(rank(popularity, n)),
        Traces::bytes);
  }

  /** Zipf 0.9 whose most popular objects are others every while. */
  static Trace shifting() {
    Zipf popularity = new Zipf(OBJECTS, 0.9);
    return new Trace(
        "shifting zipf 0.9", n -> scatter(rank(popularity, n) + n / 10), Traces::bytes);
  }

  /** Objects that are asked for some times within a short while, and then no more. */
  static Trace bursts() {
    return new Trace(
        "bursts", n -> n / 4 - (long) (Math.pow(chance(n, 1), 3) * 30_000), Traces::bytes);
  }

  /** Zipf 0.8, and once in a thousand requests a file of ten megabytes that nobody wants again. */
  static Trace big() {
    Zipf popularity = new Zipf(OBJECTS, 0.8);
    return new Trace(
        "zipf 0.8 + big files",
        n -> n % 1000 == 0 ? ONE_TIME + n : scatter(rank(popularity, n)),
        object -> object >= ONE_TIME ? 10_000 * KB : bytes(object));
  }

  /** How many octets an object of WebAxe-4 has. */
  static long bytes(long object) {
    double kind = chance(object, 3);
    double kilobytes;
    if (kind < 0.65) {
      kilobytes = Distribution.exponential(4.5, chance(object, 4));
    } else if (kind < 0.80) {
      kilobytes = Distribution.exponential(8.5, chance(object, 4));
    } else if (kind < 0.805) {
      kilobytes = Distribution.logNormal(300, 300, chance(object, 5), chance(object, 6));
    } else {
      kilobytes = Distribution.logNormal(25, 10, chance(object, 5), chance(object, 6));
    }
    return 300 + (long) (kilobytes * KB);
  }

  /** Which rank a request is for, from 0 on. */
  private static long rank(Zipf popularity, long request) {
    return popularity.value(chance(request, 1)) - 1L;
  }

  /** Ranks as objects whose sizes have nothing to do with their order. */
  private static long scatter(long rank) {
    return (rank * 0x9e3779b97f4a7c15L) >>> 24;
  }

  /** A number from 0 to below 1 that looks as if by chance (SplitMix; Steele, Lea, Flood 2014). */
  private static double chance(long number, int use) {
    long mixed = mix(mix(SEED + use) + number);
    return (mixed >>> 11) * 0x1p-53;
  }

  static long mix(long value) {
    long mixed = value + 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    return mixed ^ mixed >>> 31;
  }
}
