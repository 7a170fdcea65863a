package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.metric.MetricDescriptor;
import io.kamille.launcher.cli.ReferencePages.Declared;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReferencePagesTest {

  private static final Path PAGES = Path.of("..", "docs", "reference");

  @Test
  void thePagesHaveAllThatIsDeclared() throws Exception {
    Declared declared = ReferencePages.declared();
    String api = Files.readString(PAGES.resolve("api.md"));
    assertThat(api)
        .as("stale: run ./dev doc")
        .isEqualTo(ReferencePages.api(api, declared.openApi()));
    assertThat(Files.readString(PAGES.resolve("metrics.md")))
        .as("stale: run ./dev doc")
        .isEqualTo(ReferencePages.metrics(declared.metrics()));
  }

  @Test
  void theMetricsHaveARowEach() {
    assertThat(
            ReferencePages.metrics(
                List.of(
                    MetricDescriptor.gauge("kamille_used_bytes", "Octets in use."),
                    MetricDescriptor.counter(
                        "kamille_requests_total", "Requests by result.", "fwd"),
                    MetricDescriptor.histogram("kamille_duration_seconds", "From head | to end."))))
        .endsWith(
            """
            | Metric | Kind | Labels | Meaning |
            |---|---|---|---|
            | `kamille_duration_seconds` | histogram |  | From head \\| to end. |
            | `kamille_requests_total` | counter | `fwd` | Requests by result. |
            | `kamille_used_bytes` | gauge |  | Octets in use. |
            """);
  }
}
