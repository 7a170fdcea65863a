package io.kamille.perf.wan;

import java.util.Locale;

/**
 * What one direction of a link does to packets: first it loses some, then they wait for a
 * transmitter of that rate, then they travel.
 *
 * @param delayNanos one way
 * @param jitterNanos up to so much more, evenly distributed; packets never overtake each other
 * @param loss which packets are lost at random
 * @param bitsPerSecond of the transmitter; 0 for one that takes no time
 * @param queueBytes what may wait for the transmitter, at most; 0 for the product of rate and
 *     delay, there and back, at least 30,000
 */
public record PathSettings(
    long delayNanos, long jitterNanos, Loss loss, long bitsPerSecond, long queueBytes) {

  /** Takes no time and loses nothing. */
  public static final PathSettings NONE = new PathSettings(0, 0, Loss.NONE, 0, 0);

  private static final long LEAST_QUEUE_BYTES = 30_000;

  /**
   * Random losses by two states: packets are lost in the bad one, with a probability, and in the
   * good one never (Gilbert and Elliott). Independent losses have no good state.
   *
   * @param toBad probability that a packet finds the link turned bad
   * @param toGood probability that a packet finds it turned good again
   * @param inBad probability that a packet is lost while it is bad
   */
  public record Loss(double toBad, double toGood, double inBad) {

    /** No packet is lost. */
    public static final Loss NONE = independent(0);

    /** Bounds the probabilities. */
    public Loss {
      probability(toBad);
      probability(toGood);
      probability(inBad);
    }

    /** Each packet is lost with that probability, whatever became of others. */
    public static Loss independent(double probability) {
      return new Loss(1, 0, probability);
    }

    /** The share of packets lost in the long run. */
    public double share() {
      return toBad + toGood == 0 ? 0 : inBad * toBad / (toBad + toGood);
    }
  }

  /** Bounds the numbers. */
  public PathSettings {
    if (delayNanos < 0 || jitterNanos < 0 || bitsPerSecond < 0 || queueBytes < 0) {
      throw new IllegalArgumentException("a path has no negative numbers");
    }
  }

  private static void probability(double value) {
    if (!(value >= 0 && value <= 1)) {
      throw new IllegalArgumentException("probability: " + value + " (expected: 0 to 1)");
    }
  }

  /** What may wait for the transmitter. */
  public long queueLimitBytes() {
    double product = bitsPerSecond / 8.0 * (2 * delayNanos / 1e9);
    return queueBytes > 0 ? queueBytes : Math.max(LEAST_QUEUE_BYTES, (long) product);
  }

  /**
   * These settings with some replaced.
   *
   * @param text words apart by blanks: {@code delay=25ms jitter=3ms loss=1% bursts=0.3%/33%/100%
   *     rate=16mbit queue=100k}
   * @throws IllegalArgumentException if a word is none of these; names it
   */
  public PathSettings with(String text) {
    PathSettings result = this;
    for (String word : text.strip().split("\\s+", -1)) {
      if (!word.isEmpty()) {
        result = result.withWord(word);
      }
    }
    return result;
  }

  private PathSettings withWord(String word) {
    int equals = word.indexOf('=');
    String name = equals < 0 ? word : word.substring(0, equals);
    String value = word.substring(equals + 1).toLowerCase(Locale.ROOT);
    try {
      return switch (name) {
        case "delay" -> new PathSettings(nanos(value), jitterNanos, loss, rate(), queueBytes);
        case "jitter" -> new PathSettings(delayNanos, nanos(value), loss, rate(), queueBytes);
        case "loss" -> withLoss(Loss.independent(share(value)));
        case "bursts" -> withLoss(bursts(value));
        case "rate" -> new PathSettings(delayNanos, jitterNanos, loss, bits(value), queueBytes);
        case "queue" -> new PathSettings(delayNanos, jitterNanos, loss, rate(), bytes(value));
        default -> throw new IllegalArgumentException("no such setting");
      };
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "«"
              + word
              + "» (expected: delay=, jitter=, loss=, bursts=, rate= or queue= with a value: "
              + e.getMessage()
              + ")",
          e);
    }
  }

  private long rate() {
    return bitsPerSecond;
  }

  private PathSettings withLoss(Loss next) {
    return new PathSettings(delayNanos, jitterNanos, next, bitsPerSecond, queueBytes);
  }

  private static Loss bursts(String value) {
    String[] parts = parts(value);
    return new Loss(share(parts[0]), share(parts[1]), share(parts[2]));
  }

  private static String[] parts(String value) {
    String[] parts = value.split("/", -1);
    if (parts.length != 3) {
      throw new IllegalArgumentException("three numbers with / between");
    }
    return parts;
  }

  private static double share(String text) {
    return text.endsWith("%") ? number(text, "%") / 100 : number(text, "");
  }

  private static long nanos(String text) {
    if (text.endsWith("us")) {
      return Math.round(number(text, "us") * 1e3);
    }
    return text.endsWith("ms")
        ? Math.round(number(text, "ms") * 1e6)
        : Math.round(number(text, "s") * 1e9);
  }

  private static long bits(String text) {
    if (text.endsWith("gbit")) {
      return Math.round(number(text, "gbit") * 1e9);
    }
    return text.endsWith("mbit")
        ? Math.round(number(text, "mbit") * 1e6)
        : Math.round(number(text, "kbit") * 1e3);
  }

  private static long bytes(String text) {
    return text.endsWith("k") ? Math.round(number(text, "k") * 1e3) : Math.round(number(text, ""));
  }

  private static double number(String text, String unit) {
    if (!text.endsWith(unit)) {
      throw new IllegalArgumentException("a number with its unit");
    }
    return Double.parseDouble(text.substring(0, text.length() - unit.length()));
  }
}
