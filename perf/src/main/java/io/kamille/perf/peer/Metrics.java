package io.kamille.perf.peer;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Metrics in Prometheus' text format.
 *
 * @param samples by name with labels
 */
public record Metrics(Map<String, Double> samples) {

  /** Reads them. */
  public static Metrics parse(String text) {
    var samples = new TreeMap<String, Double>();
    for (String line : text.split("\n", -1)) {
      int space = line.lastIndexOf(' ');
      if (space > 0 && !line.startsWith("#")) {
        samples.put(line.substring(0, space), Double.parseDouble(line.substring(space + 1)));
      }
    }
    return new Metrics(samples);
  }

  /** The sum over all labels; 0 if there is none. */
  public long sum(String name) {
    return with(name, "");
  }

  /** The sum over all that have this among their labels, as in {@code part="leased"}. */
  public long with(String name, String label) {
    return Math.round(
        samples.entrySet().stream()
            .filter(sample -> nameOf(sample.getKey()).equals(name))
            .filter(sample -> sample.getKey().contains(label))
            .mapToDouble(Map.Entry::getValue)
            .sum());
  }

  /**
   * The same as {@link #sum}.
   *
   * @throws IOException if there is none
   */
  public long required(String name) throws IOException {
    if (samples.keySet().stream().noneMatch(key -> nameOf(key).equals(name))) {
      throw new IOException(name + ": not among the metrics");
    }
    return sum(name);
  }

  private static String nameOf(String sample) {
    int brace = sample.indexOf('{');
    return brace < 0 ? sample : sample.substring(0, brace);
  }
}
