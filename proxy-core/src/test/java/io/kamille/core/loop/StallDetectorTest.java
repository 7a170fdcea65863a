package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Turns that take too long are found from outside. */
class StallDetectorTest {

  private static final long MILLI = 1_000_000;
  private static final long LIMIT = 100 * MILLI;

  private long progress;
  private boolean endsWhenLookedAt;
  private final List<String> told = new ArrayList<>();
  private final StallDetector detector =
      new StallDetector(
          List.of(new StallDetector.Loop("loop", () -> progress, this::stack)),
          (name, nanos, stack) -> told.add(name + " " + nanos / MILLI + " " + stack.length));

  @Test
  void aTurnOfTheLimitIsToldOnceWithItsStack() {
    progress = 7;
    for (long millis = 0; millis <= 1_000; millis += 50) {
      detector.check(millis * MILLI, LIMIT);
    }
    assertThat(told).containsExactly("loop 100 2");
    assertThat(detector.stalls(0)).isEqualTo(1);
  }

  @Test
  void aLoopThatWaitsIsNotStalled() {
    progress = 8;
    detector.check(0, LIMIT);
    detector.check(3_000 * MILLI, LIMIT);
    assertThat(told).isEmpty();
  }

  @Test
  void shortTurnsAreNotStallsHoweverMany() {
    for (int i = 0; i < 100; i++) {
      progress = 2L * i + 1;
      detector.check(i * 90L * MILLI, LIMIT);
    }
    assertThat(told).isEmpty();
  }

  @Test
  void theNextLongTurnIsToldToo() {
    progress = 1;
    detector.check(0, LIMIT);
    detector.check(LIMIT, LIMIT);
    progress = 3;
    detector.check(2 * LIMIT, LIMIT);
    detector.check(3 * LIMIT, LIMIT);
    assertThat(told).hasSize(2);
    assertThat(detector.stalls(0)).isEqualTo(2);
  }

  @Test
  void theStackOfAnotherTurnIsNotShown() {
    progress = 1;
    endsWhenLookedAt = true;
    detector.check(0, LIMIT);
    detector.check(LIMIT, LIMIT);
    assertThat(told).containsExactly("loop 100 0");
  }

  private StackTraceElement[] stack() {
    if (endsWhenLookedAt) {
      progress++;
    }
    StackTraceElement frame = new StackTraceElement("A", "b", "A.java", 1);
    return new StackTraceElement[] {frame, frame};
  }
}
