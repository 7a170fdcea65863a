package io.kamille.perf.lab;

import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What each connection is allowed over time, as the control plane tells it. Any thread. */
final class AllocationTrace {

  private static final Pattern CONNECTION =
      Pattern.compile("\"number\":(\\d+).*?\"allocationBytes\":(\\d+)", Pattern.DOTALL);
  private static final long LOOK_MILLIS = 500;
  private static final double KIB = 1024;

  private final Map<Integer, List<Point>> byNumber = new TreeMap<>();
  private double seconds;

  /** Looks twice a second until it is interrupted. */
  void follow(WanServer server) throws IOException, InterruptedException {
    long begin = System.nanoTime();
    while (true) {
      Thread.sleep(LOOK_MILLIS);
      try {
        add((System.nanoTime() - begin) / 1e9, server.ask("/v1/connections?limit=100"));
      } catch (IOException failed) {
        // The control plane listens a moment after the server does.
        if (!(failed.getCause() instanceof ConnectException)) {
          throw failed;
        }
      }
    }
  }

  /** Adds an answer of the control plane. */
  synchronized void add(double atSeconds, String answer) {
    seconds = atSeconds;
    Matcher connection = CONNECTION.matcher(answer);
    while (connection.find()) {
      byNumber
          .computeIfAbsent(Integer.parseInt(connection.group(1)), _ -> new ArrayList<>())
          .add(new Point(atSeconds, Long.parseLong(connection.group(2)) / KIB));
    }
  }

  /**
   * The coefficient of variation of what one connection is allowed, in the second half of the time,
   * as the mean over connections.
   */
  synchronized double variation() {
    return byNumber.values().stream()
        .mapToDouble(points -> variation(points.stream().filter(p -> p.x() > seconds / 2).toList()))
        .filter(Double::isFinite)
        .average()
        .orElse(Double.NaN);
  }

  private static double variation(List<Point> points) {
    double mean = points.stream().mapToDouble(Point::y).average().orElse(Double.NaN);
    double squares =
        points.stream().mapToDouble(p -> (p.y() - mean) * (p.y() - mean)).average().orElse(0);
    return Math.sqrt(squares) / mean;
  }

  synchronized String chart(String title) {
    double greatest =
        byNumber.values().stream().flatMap(List::stream).mapToDouble(Point::y).max().orElse(1);
    var chart =
        new LineChart(
            title,
            new Axis("seconds", 0, Math.max(1, seconds)),
            new Axis("KiB", 0, Math.max(1, greatest)));
    byNumber.forEach((number, points) -> chart.line("connection " + number, points));
    return chart.svg();
  }
}
