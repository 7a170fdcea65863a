package io.kamille.perf.compare;

import static io.kamille.perf.compare.CollapseComparison.BEHIND_MAX;
import static io.kamille.perf.compare.CollapseComparison.BEHIND_P50;
import static io.kamille.perf.compare.CollapseComparison.LATE_P50;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.compare.CollapseSituation.Leader;
import io.kamille.perf.load.Crowd;
import io.kamille.perf.load.Crowd.Outcome;
import io.kamille.perf.load.Crowd.Plan;
import io.kamille.perf.load.LoadFailure;
import io.kamille.perf.report.Sample;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CollapseComparisonTest {

  private static final CollapseSituation DRIPPED =
      new CollapseSituation("dripped", 10_000_000, 1_000_000, Leader.LEAVES_MIDWAY);
  private static final CollapseSituation AT_ONCE =
      new CollapseSituation("at once", 1000, 0, Leader.STAYS);

  private static Outcome first(long sentMillis, long firstMillis) {
    return new Outcome(sentMillis * 1_000_000, firstMillis * 1_000_000, 1_000_000_000, null);
  }

  private static Sample sample(CollapseSituation situation, List<Outcome> crowd) {
    var sample = Sample.of(situation.label(), "kamille", 1);
    return CollapseComparison.with(sample, crowd, situation.late(crowd.size()));
  }

  @Test
  void followersAreComparedWithTheLeader() {
    var sample =
        sample(AT_ONCE, List.of(first(0, 400), first(0, 399), first(0, 402), first(0, 410)));
    assertThat(sample.of(BEHIND_P50)).isEqualTo(2000);
    assertThat(sample.of(BEHIND_MAX)).isEqualTo(10_000);
  }

  @Test
  void withoutALeaderTheFirstFollowerStandsForIt() {
    var gone = new Outcome(0, Crowd.NEVER, 200, null);
    var sample = sample(AT_ONCE, List.of(gone, first(0, 402), first(0, 400)));
    assertThat(sample.of(BEHIND_P50)).isZero();
    assertThat(sample.of(BEHIND_MAX)).isEqualTo(2000);
  }

  @Test
  void whoComesLateIsComparedWithItsOwnRequest() {
    var crowd = new ArrayList<Outcome>();
    for (int i = 0; i < 9; i++) {
      crowd.add(first(0, 400));
    }
    crowd.add(first(5000, 5003));
    var sample = sample(DRIPPED, crowd);
    assertThat(sample.of(BEHIND_MAX)).isZero();
    assertThat(sample.of(LATE_P50)).isEqualTo(3000);
  }

  @Test
  void withoutLateOnesTheirTimesAreNotKnown() {
    assertThat(sample(AT_ONCE, List.of(first(0, 1), first(0, 1))).of(LATE_P50)).isNaN();
  }

  @Test
  void failuresAreCounted() {
    var failed = new Outcome(0, Crowd.NEVER, 1, LoadFailure.CLOSED);
    var sample = sample(AT_ONCE, List.of(first(0, 1), failed, failed));
    assertThat(sample.of(CollapseComparison.FAILED)).isEqualTo(2);
  }

  @Test
  void aTenthComesWhenHalfOfTheContentHasBeenSent() {
    List<Plan> plans = DRIPPED.plans(1000);
    assertThat(plans).hasSize(1000);
    assertThat(plans.getFirst().leaveOctets()).isEqualTo(1_000_000);
    assertThat(plans.subList(900, 1000)).allMatch(plan -> plan.sendNanos() == 5_400_000_000L);
    assertThat(plans.subList(0, 900)).allMatch(plan -> plan.sendNanos() == 0);
  }
}
