package io.kamille.perf.load;

import io.kamille.perf.load.OriginTarget.Trait;

/**
 * An object of the WebAxe-4 workload: its number decides everything about it. Immutable.
 *
 * @param kind what it is
 * @param index among those of its kind, in the order in which they are first asked for
 */
record WebObject(ContentKind kind, long index) {

  /** The kinds of content. */
  enum ContentKind {
    IMAGE(0.65, 0.80),
    HTML(0.15, 0.90),
    DOWNLOAD(0.005, 0.95),
    OTHER(0.195, 0.72),
    /** What answers a POST: of no share in the content, never cachable. */
    POSTED(0, 0);

    private final double share;
    private final double cachableShare;

    ContentKind(double share, double cachableShare) {
      this.share = share;
      this.cachableShare = cachableShare;
    }

    /** Of all requests but POST. */
    double share() {
      return share;
    }
  }

  private static final int KB = 1024;
  private static final int KIND_SHIFT = 48;
  private static final double THINK_MEAN_MILLIS = 300;
  private static final double THINK_DEVIATION_MILLIS = 100;
  private static final Distribution.Zipf EMBEDDED = new Distribution.Zipf(13);
  private static final Distribution.Zipf SERVER_USES = new Distribution.Zipf(64);

  /** What a number is drawn for; each draw of an object is independent of the others. */
  private enum Draw {
    LENGTH,
    LENGTH_TOO,
    CACHABLE,
    EMBEDDED,
    THINK,
    THINK_TOO,
    USES
  }

  long number() {
    return ((long) kind.ordinal() << KIND_SHIFT) | index;
  }

  private double share(Draw draw) {
    long mixed = MadeContent.mix(number() * Draw.values().length + draw.ordinal());
    return (mixed >>> 11) * 0x1.0p-53;
  }

  /** The length of the content in octets, at least one. */
  int length() {
    double octets =
        switch (kind) {
          case IMAGE, POSTED -> Distribution.exponential(4.5 * KB, share(Draw.LENGTH));
          case HTML -> Distribution.exponential(8.5 * KB, share(Draw.LENGTH));
          case DOWNLOAD -> logNormal(300, 300);
          case OTHER -> logNormal(25, 10);
        };
    return Math.max(1, (int) octets);
  }

  private double logNormal(double meanKb, double deviationKb) {
    return Distribution.logNormal(
        meanKb * KB, deviationKb * KB, share(Draw.LENGTH), share(Draw.LENGTH_TOO));
  }

  boolean isCachable() {
    return share(Draw.CACHABLE) < kind.cachableShare;
  }

  /** How many images it embeds. */
  int embedded() {
    return kind == ContentKind.HTML ? EMBEDDED.value(share(Draw.EMBEDDED)) : 0;
  }

  static double meanEmbedded() {
    return EMBEDDED.mean();
  }

  /**
   * What the origin is asked.
   *
   * @param thinkScale of the think time; 0 for none
   */
  OriginTarget target(double thinkScale) {
    double think =
        THINK_MEAN_MILLIS
            + THINK_DEVIATION_MILLIS
                * Distribution.normal(share(Draw.THINK), share(Draw.THINK_TOO));
    return OriginTarget.of(number(), length())
        .with(Trait.FRESH, isCachable() ? 3600 : 0)
        .with(Trait.THINK, (int) Math.max(0, think * thinkScale))
        .with(Trait.USES, SERVER_USES.value(share(Draw.USES)));
  }
}
