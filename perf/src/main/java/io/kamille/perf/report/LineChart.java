package io.kamille.perf.report;

import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;

/** Lines over two axes, as an SVG. Not thread-safe. */
public final class LineChart {

  /** A point of a line. */
  public record Point(double x, double y) {}

  private final XYChart chart;

  /** Without lines so far. */
  public LineChart(String title, String across, String up) {
    System.setProperty("java.awt.headless", "true");
    chart =
        new XYChartBuilder()
            .width(720)
            .height(400)
            .title(title)
            .xAxisTitle(across)
            .yAxisTitle(up)
            .build();
    chart.getStyler().setChartBackgroundColor(Color.WHITE);
    chart.getStyler().setYAxisMin(0.0);
  }

  /** With an upright axis for what goes over several powers of ten. */
  public LineChart logarithmic() {
    chart.getStyler().setYAxisMin(null);
    chart.getStyler().setYAxisLogarithmic(true);
    return this;
  }

  /** Adds a line; without points that can be drawn there is none. */
  public LineChart line(String name, List<Point> points) {
    boolean isLogarithmic = chart.getStyler().isYAxisLogarithmic();
    List<Point> drawn =
        points.stream()
            .filter(point -> Double.isFinite(point.y()) && (!isLogarithmic || point.y() > 0))
            .toList();
    if (!drawn.isEmpty()) {
      chart.addSeries(
          name,
          drawn.stream().mapToDouble(Point::x).toArray(),
          drawn.stream().mapToDouble(Point::y).toArray());
    }
    return this;
  }

  /** Adds the medians of each server over its situations, whose names are numbers. */
  public LineChart lines(Samples samples, Figure figure) {
    return lines(samples, figure, "");
  }

  /** The same, with that behind the names of servers. */
  public LineChart lines(Samples samples, Figure figure, String suffix) {
    for (String server : samples.servers()) {
      line(
          server + suffix,
          samples.situations().stream()
              .flatMap(
                  situation ->
                      samples.spread(figure, situation, server).stream()
                          .map(all -> new Point(Double.parseDouble(situation), all.median())))
              .toList());
    }
    return this;
  }

  /** Whether there is a line to see: one of two points at least. */
  boolean isDrawn() {
    return chart.getSeriesMap().values().stream().anyMatch(line -> line.getXData().length > 1);
  }

  /** The drawing, as a document of its own. */
  String svg() {
    var svg = new ByteArrayOutputStream();
    try {
      VectorGraphicsEncoder.saveVectorGraphic(chart, svg, VectorGraphicsFormat.SVG);
    } catch (IOException e) {
      throw new IllegalStateException("writing to memory", e);
    }
    return svg.toString(StandardCharsets.UTF_8);
  }
}
