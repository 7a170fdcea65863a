package io.kamille.perf.lab;

import io.kamille.perf.report.LineChart.Point;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What each client's connection is allowed over time. Any thread. */
final class AllocationTrace {

  private static final Pattern ALLOCATION =
      Pattern.compile(
          "\"client\":\"([^\"]+)\".*?\"demandBytes\":(\\d+).*?\"allocationBytes\":(\\d+)",
          Pattern.DOTALL);
  private static final double KIB = 1024;

  private final long beginNanos = System.nanoTime();
  private final Map<String, List<Point>> byClient = new TreeMap<>();
  private final List<Point> demands = new ArrayList<>();

  double seconds() {
    return (System.nanoTime() - beginNanos) / 1e9;
  }

  /** Asks the control plane twice a second until it is interrupted. */
  void follow(WanServer server) throws IOException, InterruptedException {
    while (true) {
      Thread.sleep(500);
      try {
        addAnswer(seconds(), server.ask("/v1/connections?limit=100"));
      } catch (IOException failed) {
        // The control plane listens a moment after the server does.
        if (!(failed.getCause() instanceof ConnectException)) {
          throw failed;
        }
      }
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

  /** Adds what a connection is allowed. */
  synchronized void add(double seconds, String client, long bytes) {
    byClient.computeIfAbsent(client, _ -> new ArrayList<>()).add(new Point(seconds, bytes / KIB));
  }

  /** Adds what all of them want. */
  synchronized void addDemand(double seconds, long bytes) {
    demands.add(new Point(seconds, bytes));
  }

  /** In KiB over seconds; empty if there is none. */
  synchronized List<Point> of(String client) {
    return List.copyOf(byClient.getOrDefault(client, List.of()));
  }

  /** In how many of the looks from then on all together wanted more than that. */
  synchronized double boundShare(double fromSeconds, long budgetBytes) {
    return demands.stream()
        .filter(look -> look.x() >= fromSeconds)
        .mapToDouble(look -> look.y() > budgetBytes ? 1 : 0)
        .average()
        .orElse(0);
  }

  /** The mean from then on; NaN if there was no look. */
  double mean(String client, double fromSeconds) {
    return of(client).stream()
        .filter(point -> point.x() >= fromSeconds)
        .mapToDouble(Point::y)
        .average()
        .orElse(Double.NaN);
  }

  /** The standard deviation from then on, in parts of the mean. */
  double variation(String client, double fromSeconds) {
    double mean = mean(client, fromSeconds);
    double variance =
        of(client).stream()
            .filter(point -> point.x() >= fromSeconds)
            .mapToDouble(point -> (point.y() - mean) * (point.y() - mean))
            .average()
            .orElse(Double.NaN);
    return Math.sqrt(variance) / mean;
  }
}
