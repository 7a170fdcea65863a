package io.kamille.perf.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines over two axes, as an SVG that can be told apart in black and white. Not thread-safe. */
public final class LineChart {

  /*
   * Each line has dashes and marks that no other has together, up to 35 lines, as 5 and 7 have no
   * factor in common, and its name at its right end; colours would be lost on paper. Everything is
   * drawn black on the page's own ground, with a white ground behind, so that it can be read on a
   * dark page too.
   */
  private static final int WIDTH = 720;
  private static final int HEIGHT = 400;
  private static final int LEFT = 70;
  private static final int RIGHT = 130;
  private static final int TOP = 40;
  private static final int BOTTOM = 60;
  private static final int NAME_HEIGHT = 15;
  private static final int TICKS = 6;
  private static final int MARKED_POINTS = 20;
  private static final List<String> DASHES = List.of("none", "7 4", "2 4", "12 4 2 4", "1 3");
  private static final List<String> MARKS = List.of("●", "■", "▲", "◆", "○", "□", "△");

  private final String title;
  private final Axis x;
  private final Axis y;
  private final List<Line> lines = new ArrayList<>();

  /**
   * One axis: what it measures, with the unit, and from where to where.
   *
   * @param isLogarithmic whether equal ratios are equally far apart; then {@code least} is positive
   */
  public record Axis(String label, double least, double greatest, boolean isLogarithmic) {

    public Axis {
      if (!(least < greatest)) {
        throw new IllegalArgumentException(
            "least: " + least + " (expected: below " + greatest + ")");
      }
      if (isLogarithmic && !(least > 0)) {
        throw new IllegalArgumentException("least: " + least + " (expected: more than 0)");
      }
    }

    /** A linear axis. */
    public Axis(String label, double least, double greatest) {
      this(label, least, greatest, false);
    }

    /** An axis for what goes over several powers of ten. */
    public static Axis logarithmic(String label, double least, double greatest) {
      return new Axis(label, least, greatest, true);
    }

    private double share(double value) {
      double inside = Math.clamp(value, least, greatest);
      return isLogarithmic
          ? Math.log(inside / least) / Math.log(greatest / least)
          : (inside - least) / (greatest - least);
    }

    /** The distance of the marks: 1, 2 or 5 times a power of ten, six marks at most. */
    private double step() {
      double raw = (greatest - least) / (TICKS - 1);
      double power = Math.pow(10, Math.floor(Math.log10(raw)));
      for (double factor : new double[] {1, 2, 5}) {
        if (factor * power >= raw) {
          return factor * power;
        }
      }
      return 10 * power;
    }
  }

  /** A point of a line. */
  public record Point(double x, double y) {}

  private record Line(String name, List<Point> points) {}

  public LineChart(String title, Axis x, Axis y) {
    this.title = title;
    this.x = x;
    this.y = y;
  }

  /**
   * Adds a line.
   *
   * @param points from left to right; what lies outside the axes is drawn at their ends
   * @throws IllegalArgumentException if there are no points
   */
  public LineChart line(String name, List<Point> points) {
    if (points.isEmpty()) {
      throw new IllegalArgumentException("points: none (expected: at least one)");
    }
    lines.add(new Line(name, List.copyOf(points)));
    return this;
  }

  /** The drawing, as a document of its own. */
  public String svg() {
    var svg = new StringBuilder();
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\""
                + " font-family=\"sans-serif\" font-size=\"12\">\n",
            WIDTH,
            HEIGHT));
    svg.append(
        String.format(
            Locale.ROOT, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT));
    text(svg, LEFT, TOP - 18, "start", title);
    drawAxes(svg);
    int[] names = namePlaces();
    for (int i = 0; i < lines.size(); i++) {
      draw(svg, lines.get(i), i, names[i]);
    }
    return svg.append("</svg>\n").toString();
  }

  private void drawAxes(StringBuilder svg) {
    double right = WIDTH - RIGHT;
    double bottom = HEIGHT - BOTTOM;
    for (double value : marks(x)) {
      stroke(svg, left(value), TOP, left(value), bottom, "#ccc");
      text(svg, left(value), bottom + 18, "middle", number(value));
    }
    for (double value : marks(y)) {
      stroke(svg, LEFT, top(value), right, top(value), "#ccc");
      text(svg, LEFT - 8, top(value) + 4, "end", number(value));
    }
    stroke(svg, LEFT, bottom, right, bottom, "black");
    stroke(svg, LEFT, TOP, LEFT, bottom, "black");
    text(svg, (LEFT + right) / 2, bottom + 42, "middle", x.label());
    svg.append(
        String.format(
            Locale.ROOT,
            "<text transform=\"translate(18 %.1f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
            (TOP + bottom) / 2,
            escaped(y.label())));
  }

  private static List<Double> marks(Axis axis) {
    var marks = new ArrayList<Double>();
    if (axis.isLogarithmic()) {
      double power = Math.pow(10, Math.ceil(Math.log10(axis.least()) - 1e-9));
      for (double value = power; value <= axis.greatest() * (1 + 1e-9); value *= 10) {
        marks.add(value);
      }
      return marks;
    }
    double step = axis.step();
    for (long i = (long) Math.ceil(axis.least() / step - 1e-9);
        i * step <= axis.greatest() + 1e-9 * step;
        i++) {
      marks.add(i * step);
    }
    return marks;
  }

  /** Where the names stand: at the ends of their lines, but not on each other. */
  private int[] namePlaces() {
    int[] places = new int[lines.size()];
    var order = new ArrayList<Integer>();
    for (int i = 0; i < places.length; i++) {
      places[i] = (int) top(lines.get(i).points().getLast().y());
      order.add(i);
    }
    order.sort((a, b) -> Integer.compare(places[a], places[b]));
    for (int i = 1; i < places.length; i++) {
      int above = places[order.get(i - 1)];
      places[order.get(i)] = Math.max(places[order.get(i)], above + NAME_HEIGHT);
    }
    return places;
  }

  private void draw(StringBuilder svg, Line line, int index, int namePlace) {
    String mark = MARKS.get(index % MARKS.size());
    svg.append("<polyline fill=\"none\" stroke=\"black\" stroke-width=\"1.5\" stroke-dasharray=\"")
        .append(DASHES.get(index % DASHES.size()))
        .append("\" points=\"");
    for (Point point : line.points()) {
      svg.append(String.format(Locale.ROOT, "%.1f,%.1f ", left(point.x()), top(point.y())));
    }
    svg.append("\"/>\n");
    int every = (line.points().size() + MARKED_POINTS - 1) / MARKED_POINTS;
    for (int i = 0; i < line.points().size(); i += every) {
      Point point = line.points().get(i);
      text(svg, left(point.x()), top(point.y()) + 4, "middle", mark);
    }
    text(
        svg,
        left(line.points().getLast().x()) + 12,
        namePlace + 4,
        "start",
        mark + " " + line.name());
  }

  private double left(double value) {
    return LEFT + x.share(value) * (WIDTH - LEFT - RIGHT);
  }

  private double top(double value) {
    return HEIGHT - BOTTOM - y.share(value) * (HEIGHT - TOP - BOTTOM);
  }

  private static void stroke(
      StringBuilder svg, double x1, double y1, double x2, double y2, String colour) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
            x1,
            y1,
            x2,
            y2,
            colour));
  }

  private static void text(StringBuilder svg, double left, double top, String anchor, String what) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
            left,
            top,
            anchor,
            escaped(what)));
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, "%.3f", value);
    return text.replaceFirst("\\.?0+$", "");
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
