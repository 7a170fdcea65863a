package io.kamille.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.launcher.appliance.Totals;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class SummaryLineTest {

  private final StringWriter out = new StringWriter();
  private final SummaryLine summary = new SummaryLine(new PrintWriter(out), false);

  @Test
  void processorTimePerRequestIsShownWhenThereAreRequestsEnough() {
    summary.show(new Totals(19, 0, 19, 1_900_000_000, 1));
    summary.show(new Totals(39, 0, 29, 1_901_000_000, 1));
    assertThat(out.toString().lines())
        .containsExactly(
            "19 requests/s   hit ratio 100.0 %   CPU – µs/request   1 connections",
            "20 requests/s   hit ratio 50.0 %   CPU 50.0 µs/request   1 connections");
  }
}
