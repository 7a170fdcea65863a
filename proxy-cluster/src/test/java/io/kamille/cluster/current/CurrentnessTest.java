package io.kamille.cluster.current;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The node is {@code a}, one of three voters. The unit of its clock is a second here. */
class CurrentnessTest {

  private static final long LENGTH = 15;
  private static final long NEVER = 99;

  private final Currentness currentness =
      new Currentness("a", List.of("a", "b", "c"), LENGTH, 1_000, 100);

  private static Report report(long number, Map<String, Long> heard, long appended) {
    return new Report(1, number, heard, 0, appended, 0, 0, "", true, false, 0, "", "");
  }

  /** That node has heard our report of that number, and its log goes so far. */
  private void says(String node, long heard, long appended) {
    currentness.heard(node, report(7, Map.of("a", heard), appended));
  }

  private void ownSays(long number, long appended) {
    currentness.heard("a", report(number, Map.of(), appended));
  }

  @Test
  void itBeginsAsOneThatHasEnded() {
    assertThat(currentness.untilNanos()).isEqualTo(NEVER);
  }

  @Test
  void aMajorityIsNeeded() {
    long number = currentness.sends(100);
    says("b", number, 0);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(NEVER);
    ownSays(number, 0);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(100 + LENGTH);
  }

  @Test
  void whoeverIsNoVoterDoesNotCount() {
    long number = currentness.sends(100);
    ownSays(number, 0);
    says("d", number, 0);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(NEVER);
  }

  @Test
  void theSecondLatestOfThreeCounts() {
    long first = currentness.sends(100);
    long second = currentness.sends(102);
    long third = currentness.sends(104);
    says("b", first, 0);
    says("c", second, 0);
    ownSays(third, 0);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(102 + LENGTH);
  }

  @Test
  void aLateReportSaysNothingAboutLater() {
    long first = currentness.sends(100);
    currentness.sends(140);
    ownSays(first, 0);
    // On its way for 40 s, or from a process that stood still.
    says("b", first, 0);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(100 + LENGTH);
  }

  @Test
  void anOlderReportAfterANewerOneTakesNothingAway() {
    long first = currentness.sends(100);
    long second = currentness.sends(102);
    ownSays(second, 0);
    says("b", second, 0);
    says("b", first, 5);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(102 + LENGTH);
  }

  @Test
  void whatAnEarlierProcessHasSentDoesNotCount() {
    Currentness later = new Currentness("a", List.of("a", "b", "c"), LENGTH, 5_000, 200);
    long number = later.sends(200);
    later.heard("a", report(number, Map.of(), 0));
    later.heard("b", report(7, Map.of("a", 1_001L), 0));
    later.applied(0);
    assertThat(later.untilNanos()).isEqualTo(199);
  }

  @Test
  void aReportIsKnownWhenAllOfItIsApplied() {
    long number = currentness.sends(100);
    ownSays(number, 3);
    says("b", number, 5);
    currentness.applied(4);
    assertThat(currentness.untilNanos()).isEqualTo(NEVER);
    currentness.applied(5);
    assertThat(currentness.untilNanos()).isEqualTo(100 + LENGTH);
  }

  @Test
  void anEngineThatAppliesNothingEndsIt() {
    for (long second = 100; second < 130; second++) {
      long number = currentness.sends(second);
      long appended = second < 110 ? 0 : second;
      ownSays(number, appended);
      says("b", number, appended);
      says("c", number, appended);
      currentness.applied(0);
    }
    assertThat(currentness.untilNanos()).isEqualTo(109 + LENGTH);
  }

  @Test
  void anEntryThatIsReplacedHoldsNothingUp() {
    long first = currentness.sends(100);
    ownSays(first, 9);
    says("b", first, 10);
    currentness.applied(9);
    assertThat(currentness.untilNanos()).isEqualTo(NEVER);
    // Nobody else had its tenth entry: a new leader has taken it out.
    long second = currentness.sends(102);
    ownSays(second, 9);
    says("b", second, 9);
    currentness.applied(9);
    assertThat(currentness.untilNanos()).isEqualTo(102 + LENGTH);
  }

  @Test
  void aVoterWithoutItsLogDoesNotCount() {
    long number = currentness.sends(100);
    ownSays(number, 0);
    says("b", number, Long.MAX_VALUE);
    currentness.applied(1_000_000);
    assertThat(currentness.untilNanos()).isEqualTo(NEVER);
  }

  @Test
  void manyReportsThatAreNotAppliedAreForgottenFromTheEnd() {
    long first = currentness.sends(100);
    ownSays(first, 1);
    says("b", first, 1);
    for (int i = 1; i < 1_000; i++) {
      long number = currentness.sends(100 + i);
      ownSays(number, 1 + i);
      says("b", number, 1 + i);
    }
    currentness.applied(1);
    assertThat(currentness.untilNanos()).isEqualTo(100 + LENGTH);
  }

  @Test
  void othersAreToldWhichReportsWereHeard() {
    says("b", 1, 0);
    ownSays(1_001, 0);
    assertThat(currentness.heard()).containsOnly(Map.entry("a", 1_001L), Map.entry("b", 7L));
  }

  @Test
  void whatWasSaidBeforeASuspensionDoesNotCount() {
    long before = currentness.sends(100);
    assertThat(currentness.endIfClockJumped(100, 5_000)).isFalse();
    assertThat(currentness.endIfClockJumped(101, 5_003)).as("the clocks differ a little").isFalse();
    ownSays(before, 0);
    currentness.applied(0);
    assertThat(currentness.endIfClockJumped(101, 5_007)).isTrue();
    says("b", before, 0);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(100);
    long after = currentness.sends(102);
    assertThat(currentness.endIfClockJumped(102, 5_008)).isFalse();
    says("b", after, 0);
    ownSays(after, 0);
    currentness.applied(0);
    assertThat(currentness.untilNanos()).isEqualTo(102 + LENGTH);
  }
}
