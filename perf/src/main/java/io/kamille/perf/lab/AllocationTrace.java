package io.kamille.perf.lab;

import io.kamille.perf.report.LineChart.Point;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;

/** What each client's connection is allowed over time, and what all want. Any thread. */
final class AllocationTrace {

  private static final Pattern ALLOCATION =
      Pattern.compile(
          "\"client\":\"([^\"]+)\".*?\"demandBytes\":(\\d+).*?\"allocationBytes\":(\\d+)",
          Pattern.DOTALL);
  private static final String DEMANDED = "demanded by all";
  private static final double KIB = 1024;

  private final long beginNanos = System.nanoTime();
  private final Map<String, List<Point>> lines = new TreeMap<>();

  double seconds() {
    return (System.nanoTime() - beginNanos) / 1e9;
  }

  /** Asks the control plane, which listens a moment after the server does. */
  void sample(WanServer server) {
    try {
      addAnswer(seconds(), server.ask("/v1/connections?limit=100"));
    } catch (IOException notYet) {
      return;
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    }
  }

  /** Adds an answer of the control plane. */
  void addAnswer(double seconds, String answer) {
    Matcher connection = ALLOCATION.matcher(answer);
    long demanded = 0;
    while (connection.find()) {
      demanded += Long.parseLong(connection.group(2));
      add(seconds, connection.group(1), Long.parseLong(connection.group(3)));
    }
    addDemand(seconds, demanded);
  }

  /** Adds what all of them want. */
  void addDemand(double seconds, long bytes) {
    add(seconds, DEMANDED, bytes);
  }

  /** Adds what a connection is allowed. */
  synchronized void add(double seconds, String client, long bytes) {
    lines.computeIfAbsent(client, _ -> new ArrayList<>()).add(new Point(seconds, bytes / KIB));
  }

  /** In KiB over seconds; empty if there is none. */
  synchronized List<Point> of(String client) {
    return List.copyOf(lines.getOrDefault(client, List.of()));
  }

  private DoubleStream since(double fromSeconds, String client) {
    return of(client).stream().filter(look -> look.x() >= fromSeconds).mapToDouble(Point::y);
  }

  /** In how many of the looks from then on all together wanted more than that. */
  double boundShare(double fromSeconds, long budgetBytes) {
    return since(fromSeconds, DEMANDED)
        .map(kib -> kib * KIB > budgetBytes ? 1 : 0)
        .average()
        .orElse(0);
  }

  /** The mean from then on; NaN if there was no look. */
  double mean(String client, double fromSeconds) {
    return since(fromSeconds, client).average().orElse(Double.NaN);
  }

  /** The standard deviation from then on, in parts of the mean. */
  double variation(String client, double fromSeconds) {
    double mean = mean(client, fromSeconds);
    return Math.sqrt(
            since(fromSeconds, client)
                .map(kib -> (kib - mean) * (kib - mean))
                .average()
                .orElse(Double.NaN))
        / mean;
  }
}
