package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.FaultyOrigin.Arrival;
import io.kamille.perf.load.FaultyOrigin.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FaultTimelineTest {

  /** Of the monotonic clock, which may begin below zero. */
  private static final long BEGIN = -TimeUnit.SECONDS.toNanos(3);

  private final List<Arrival> arrivals = new ArrayList<>();

  @Test
  void anOriginIsOutBehindTheLastWindowOfMoreThanProbes() {
    arrive(0, 4000, Role.PARTNER, 20);
    arrive(0, 1100, Role.FAULTY, 20);
    arrivals.add(new Arrival(Role.FAULTY, at(3000)));
    assertThat(timeline(4000).outSeconds()).hasValue(1.25);
  }

  @Test
  void anOriginThatIsNeverAskedIsOutAtOnce() {
    arrive(0, 4000, Role.PARTNER, 20);
    assertThat(timeline(4000).outSeconds()).hasValue(0);
  }

  @Test
  void anOriginThatIsAskedToTheEndIsNotOut() {
    arrive(0, 4000, Role.PARTNER, 20);
    arrive(0, 4000, Role.FAULTY, 20);
    assertThat(timeline(4000).outSeconds()).isEmpty();
  }

  @Test
  void whatHoldsForLessThanASecondIsNotOut() {
    arrive(0, 4000, Role.PARTNER, 20);
    arrive(0, 3200, Role.FAULTY, 20);
    assertThat(timeline(4100).outSeconds()).isEmpty();
  }

  @Test
  void anOriginIsBackOnceItHasItsShare() {
    arrive(0, 5000, Role.PARTNER, 10);
    arrive(2000, 3000, Role.FAULTY, 100);
    arrive(3000, 5000, Role.FAULTY, 10);
    assertThat(timeline(5000).backSeconds()).hasValue(3);
  }

  @Test
  void anOriginThatGetsATenthIsNotBack() {
    arrive(0, 5000, Role.PARTNER, 10);
    arrive(0, 5000, Role.FAULTY, 90);
    assertThat(timeline(5000).backSeconds()).isEmpty();
  }

  @Test
  void ofTenOriginsEachHasATenth() {
    arrive(0, 5000, Role.PARTNER, 1);
    arrive(3000, 5000, Role.FAULTY, 9);
    var timeline = new FaultTimeline(arrivals, 10, BEGIN, at(5000));
    assertThat(timeline.backSeconds()).hasValue(3);
    assertThat(timeline.outSeconds()).isEmpty();
  }

  @Test
  void whatCameOutsideCountsForNothing() {
    arrive(-1000, 0, Role.FAULTY, 10);
    arrive(1000, 2000, Role.FAULTY, 10);
    assertThat(timeline(1000).outSeconds()).hasValue(0);
    assertThat(timeline(1000).backSeconds()).isEmpty();
  }

  private FaultTimeline timeline(int millis) {
    return new FaultTimeline(arrivals, 2, BEGIN, at(millis));
  }

  private void arrive(int fromMillis, int toMillis, Role role, int everyMillis) {
    for (int millis = fromMillis; millis < toMillis; millis += everyMillis) {
      arrivals.add(new Arrival(role, at(millis)));
    }
  }

  private static long at(int millis) {
    return BEGIN + TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
