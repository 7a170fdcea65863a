package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.report.LineChart.Axis;
import io.kamille.perf.report.LineChart.Point;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class LineChartTest {

  private static final Axis X = new Axis("interval, µs", 0, 1000);
  private static final Axis Y = new Axis("CPU time, × unpaced", 0.5, 1.5);

  @Test
  void isWellFormedWhateverTheNamesAre() throws Exception {
    String svg = new LineChart("a < b & c", X, Y).line("<i>", List.of(new Point(0, 1))).svg();

    assertThat(parsed(svg).getDocumentElement().getTextContent()).contains("a < b & c", "<i>");
  }

  @Test
  void eachLineHasDashesAndMarksOfItsOwn() throws Exception {
    var chart = new LineChart("t", X, Y);
    for (String name : List.of("one", "two", "three")) {
      chart.line(name, List.of(new Point(0, 1), new Point(1000, 1)));
    }

    NodeList lines = parsed(chart.svg()).getElementsByTagName("polyline");
    assertThat(List.of(dashes(lines, 0), dashes(lines, 1), dashes(lines, 2)))
        .doesNotHaveDuplicates();
  }

  @Test
  void eightLinesDifferInDashesOrMarks() throws Exception {
    var chart = new LineChart("t", X, Y);
    for (int i = 0; i < 8; i++) {
      chart.line("line " + i, List.of(new Point(0, 1)));
    }
    Document svg = parsed(chart.svg());

    NodeList lines = svg.getElementsByTagName("polyline");
    var looks = new ArrayList<String>();
    for (int i = 0; i < 8; i++) {
      looks.add(dashes(lines, i) + ", " + markOf("line " + i, svg));
    }
    assertThat(looks).doesNotHaveDuplicates();
  }

  @Test
  void namesOfLinesThatEndTogetherDoNotLieOnEachOther() throws Exception {
    String svg =
        new LineChart("t", X, Y)
            .line("one", List.of(new Point(1000, 1)))
            .line("two", List.of(new Point(1000, 1)))
            .svg();

    assertThat(Math.abs(placeOf("one", svg) - placeOf("two", svg))).isGreaterThanOrEqualTo(15);
  }

  @Test
  void pointsOutsideTheAxesAreDrawnAtTheirEnds() {
    String svg =
        new LineChart("t", X, Y).line("l", List.of(new Point(-5, 9), new Point(5000, 0))).svg();

    assertThat(svg).contains("points=\"70.0,40.0 590.0,340.0 \"");
  }

  @Test
  void onALogarithmicAxisEqualRatiosAreEquallyFarApart() {
    String svg =
        new LineChart("t", X, Axis.logarithmic("ms", 1, 100))
            .line("l", List.of(new Point(0, 1), new Point(500, 10), new Point(1000, 100)))
            .svg();

    assertThat(svg).contains("points=\"70.0,340.0 330.0,190.0 590.0,40.0 \"");
    assertThat(svg).contains(">1<", ">10<", ">100<");
  }

  @Test
  void aLogarithmicAxisCannotBeginAtZero() {
    assertThatThrownBy(() -> Axis.logarithmic("ms", 0, 100))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void ofManyPointsSomeAreMarked() {
    var points = new ArrayList<Point>();
    for (int i = 0; i < 1000; i++) {
      points.add(new Point(i, 1));
    }
    String svg = new LineChart("t", X, Y).line("l", points).svg();

    assertThat(svg.split("●", -1)).hasSizeBetween(15, 25);
  }

  @Test
  void marksAreRoundNumbers() {
    String svg = new LineChart("t", X, Y).line("l", List.of(new Point(0, 1))).svg();

    assertThat(svg).contains(">0<", ">200<", ">1000<", ">0.6<", ">1.4<");
  }

  @Test
  void aLineNeedsPoints() {
    assertThatThrownBy(() -> new LineChart("t", X, Y).line("l", List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anAxisNeedsALength() {
    assertThatThrownBy(() -> new Axis("a", 1, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  private static String dashes(NodeList lines, int index) {
    return lines.item(index).getAttributes().getNamedItem("stroke-dasharray").getNodeValue();
  }

  private static String markOf(String name, Document svg) {
    NodeList texts = svg.getElementsByTagName("text");
    for (int i = 0; i < texts.getLength(); i++) {
      String text = texts.item(i).getTextContent();
      if (text.endsWith(" " + name)) {
        return text.substring(0, text.length() - name.length() - 1);
      }
    }
    throw new AssertionError(name);
  }

  private static double placeOf(String name, String svg) throws Exception {
    NodeList texts = parsed(svg).getElementsByTagName("text");
    for (int i = 0; i < texts.getLength(); i++) {
      if (texts.item(i).getTextContent().endsWith(name)) {
        return Double.parseDouble(texts.item(i).getAttributes().getNamedItem("y").getNodeValue());
      }
    }
    throw new AssertionError(name);
  }

  private static Document parsed(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }
}
