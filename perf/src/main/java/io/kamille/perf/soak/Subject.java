package io.kamille.perf.soak;

import io.kamille.perf.load.MadeContent;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** One thing the origin has. All about it, but its version, follows from its name. */
record Subject(Family family, int number) {

  private static final List<Family> STORED =
      List.of(Family.PAGE, Family.TEXT, Family.VARY, Family.SHORT);

  /** How an answer without a fault tells where it ends. */
  enum Framing {
    LENGTH,
    CHUNKED,
    CLOSE
  }

  private static final int NEGATIVE_EVERY = 16;
  static final int TAGS = 16;
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  /** Reads a target in origin form, as {@link #target} makes it. */
  static Subject parse(String target) {
    int slash = target.indexOf('/', 1);
    if (slash < 0) {
      throw new IllegalArgumentException("target: " + target + " (expected: /FAMILY/NUMBER)");
    }
    return new Subject(
        Family.ofPath(target.substring(1, slash)), Integer.parseInt(target.substring(slash + 1)));
  }

  /** One of a family; a few of them are wanted often. */
  static Subject any(Family family, SplittableRandom random) {
    double skewed = Math.pow(random.nextDouble(), 3);
    return new Subject(family, (int) (skewed * family.count));
  }

  /** The first of a family, and one of so many from there on. */
  static List<Subject> every(Family family, int step) {
    return IntStream.iterate(0, i -> i < family.count, i -> i + step)
        .mapToObj(number -> new Subject(family, number))
        .toList();
  }

  /** Any that is small and comes from sound origins; few of them are not stored. */
  static Subject any(SplittableRandom random) {
    return any(
        random.nextInt(20) == 0 ? Family.PASS : STORED.get(random.nextInt(STORED.size())), random);
  }

  String target() {
    return "/" + family.path() + "/" + number;
  }

  /** Of the content, in octets. */
  int length() {
    int range = family.mostLength - family.leastLength + 1;
    double skewed = Math.pow(new SplittableRandom(seed()).nextDouble(), 2);
    return family.leastLength + (int) (skewed * range);
  }

  Framing framing() {
    return Framing.values()[number % Framing.values().length];
  }

  /** Whether there is none: it is answered with 404, and content as usual. */
  boolean isNegative() {
    return family == Family.PAGE && number % NEGATIVE_EVERY == NEGATIVE_EVERY - 1;
  }

  /** Whether the origin answers ranges. */
  boolean hasRanges() {
    return number % 2 == 0;
  }

  String tag() {
    return "tag" + number % TAGS;
  }

  /** The strong entity tag of that version. */
  static String entityTag(int variant, long version) {
    return "\"" + version + "-" + variant + "\"";
  }

  /** What a variant is in some version. */
  MadeContent content(int variant, long version) {
    return MadeContent.of(family == Family.TEXT, seed(), version * Family.VARIANTS + variant);
  }

  private long seed() {
    return (((long) family.ordinal() << 32) + number) * GOLDEN;
  }
}
