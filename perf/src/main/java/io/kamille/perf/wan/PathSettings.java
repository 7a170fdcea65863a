package io.kamille.perf.wan;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What one direction of a link does to packets.
 *
 * @param delayNanos each packet is on its way for so long
 * @param jitterNanos and up to so much longer; packets never overtake each other
 * @param loss the probability that a packet is lost, whatever became of others
 * @param bitsPerSecond of the transmitter; 0 for no limit
 * @param queueBytes that may wait for it; 0 for the product of rate and round trip
 */
public record PathSettings(
    long delayNanos, long jitterNanos, double loss, long bitsPerSecond, long queueBytes) {

  /** Takes no time and loses nothing. */
  public static final PathSettings NONE = new PathSettings(0, 0, 0, 0, 0);

  private static final long LEAST_QUEUE_BYTES = 30_000;
  private static final Pattern WORD =
      Pattern.compile("(delay|jitter|loss|rate|queue)=([0-9.]+)([a-z%]*)");
  private static final Map<String, Double> TIME = Map.of("us", 1e3, "ms", 1e6, "s", 1e9);
  private static final Map<String, Map<String, Double>> UNITS =
      Map.of(
          "delay", TIME,
          "jitter", TIME,
          "loss", Map.of("%", 0.01, "", 1.0),
          "rate", Map.of("kbit", 1e3, "mbit", 1e6, "gbit", 1e9),
          "queue", Map.of("k", 1e3, "", 1.0));

  /** What may wait for the transmitter. */
  public long queueLimitBytes() {
    double product = bitsPerSecond / 8.0 * (2 * delayNanos / 1e9);
    return queueBytes > 0 ? queueBytes : Math.max(LEAST_QUEUE_BYTES, (long) product);
  }

  /**
   * The same but for what these words say, such as {@code delay=25ms loss=1% rate=16mbit}.
   *
   * @throws IllegalArgumentException which names the word that is wrong
   */
  public PathSettings with(String text) {
    PathSettings result = this;
    for (String word : text.strip().split("\\s+", -1)) {
      result = word.isEmpty() ? result : result.withWord(word);
    }
    return result;
  }

  private PathSettings withWord(String word) {
    Matcher parts = WORD.matcher(word);
    Double unit =
        parts.matches() ? UNITS.getOrDefault(parts.group(1), TIME).get(parts.group(3)) : null;
    if (unit == null || (word.startsWith("loss") && number(parts) * unit > 1)) {
      throw new IllegalArgumentException(
          "«" + word + "» (expected: delay=, jitter=, loss=, rate= or queue=, number and unit)");
    }
    double value = number(parts) * unit;
    long whole = Math.round(value);
    return switch (parts.group(1)) {
      case "delay" -> new PathSettings(whole, jitterNanos, loss, bitsPerSecond, queueBytes);
      case "jitter" -> new PathSettings(delayNanos, whole, loss, bitsPerSecond, queueBytes);
      case "loss" -> new PathSettings(delayNanos, jitterNanos, value, bitsPerSecond, queueBytes);
      case "rate" -> new PathSettings(delayNanos, jitterNanos, loss, whole, queueBytes);
      default -> new PathSettings(delayNanos, jitterNanos, loss, bitsPerSecond, whole);
    };
  }

  private static double number(Matcher parts) {
    return Double.parseDouble(parts.group(2));
  }
}
