package io.kamille.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.Cluster.Heard;
import io.kamille.cluster.current.Report;
import io.kamille.cluster.peer.PeerNode;
import io.kamille.core.setting.HostPort;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PlacesTest {

  private static final long NOW = TimeUnit.HOURS.toNanos(1);
  private static final PeerNode OLD = node(NOW - TimeUnit.MINUTES.toNanos(10));

  private static PeerNode node(long sinceNanos) {
    return new PeerNode("a", new HostPort("10.0.0.1", 7801), sinceNanos, false);
  }

  private static Map<String, PeerNode> places(
      boolean isMember, boolean isCurrent, long currentMillis, boolean isReturning) {
    Report report =
        new Report(
            1,
            1,
            Map.of(),
            0,
            0,
            0,
            0,
            "",
            isCurrent,
            false,
            currentMillis,
            "10.0.0.1:7801",
            "1.2.3");
    return Cluster.places(
        isMember ? List.of("a") : List.of(),
        Map.of("a", new Heard(report, NOW)),
        Map.of("a", OLD),
        _ -> isReturning);
  }

  @Test
  void aNodeThatIsGoneOrCutOffOwnsNothing() {
    assertThat(places(false, true, 600_000, false)).isEmpty();
    assertThat(places(true, false, 0, false)).isEmpty();
  }

  @Test
  void aNodeKeepsItsObjectsBetweenTwoOfItsProcesses() {
    assertThat(places(false, true, 600_000, true)).containsValue(OLD);
    assertThat(places(true, false, 0, true)).containsValue(OLD);
  }

  @Test
  void aProcessThatHasKeptNothingGetsItsPartSlowly() {
    assertThat(places(true, true, 0, true)).containsValue(node(NOW));
  }

  @Test
  void aReportThatWasOnItsWayForLongChangesNothing() {
    assertThat(places(true, true, 599_000, false)).containsValue(OLD);
  }
}
