package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {

  private final Report report =
      new Report("p0: a <test>")
          .heading("Question")
          .paragraph("Is 1 < 2?")
          .items(List.of("one", "two"))
          .items(List.of())
          .table(new Table("rate", "ms").row(List.of("1000", "2.5")))
          .plot("mean", "<svg>drawn</svg>");

  @Test
  void markdownPointsToTheDrawings() {
    assertThat(report.markdown())
        .startsWith("# p0: a <test>\n\n## Question\n\nIs 1 < 2?\n\n- one\n- two\n\n| rate |")
        .endsWith("![mean](mean.svg)\n\n");
    assertThat(report.plots()).containsExactly(new Report.PlotFile("mean.svg", "<svg>drawn</svg>"));
  }

  @Test
  void htmlHasTheDrawingsInsideAndNeedsNothingElse() {
    assertThat(report.html())
        .contains("<title>p0: a &lt;test&gt;</title>")
        .contains("<p>Is 1 &lt; 2?</p>")
        .contains("<li>one</li><li>two</li>")
        .contains("<tr><th>rate</th><th>ms</th></tr>")
        .contains("<tr><td>1000</td><td>2.5</td></tr>")
        .contains("<figure><svg>drawn</svg></figure>")
        .doesNotContain("http");
  }
}
