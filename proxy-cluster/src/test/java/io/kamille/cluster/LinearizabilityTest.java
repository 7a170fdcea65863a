package io.kamille.cluster;

import static io.kamille.cluster.Linearizability.NEVER;
import static io.kamille.cluster.Linearizability.holds;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.Linearizability.Operation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LinearizabilityTest {

  private static Operation<Integer> write(long called, long returned, int value) {
    return new Operation<>(called, returned, _ -> value);
  }

  private static Operation<Integer> read(long called, long returned, int value) {
    return new Operation<>(called, returned, state -> state == value ? state : null);
  }

  private static Operation<Integer> next(long called, long returned, int number) {
    return new Operation<>(called, returned, state -> state + 1 == number ? number : null);
  }

  @Test
  void aReadSeesTheWriteBeforeIt() {
    assertThat(holds(List.of(write(1, 2, 7), read(3, 4, 7)), 0)).isTrue();
    assertThat(holds(List.of(write(1, 2, 7), read(3, 4, 0)), 0)).isFalse();
  }

  @Test
  void aReadDuringAWriteSeesEither() {
    assertThat(holds(List.of(write(1, 9, 7), read(2, 3, 0), read(4, 5, 7)), 0)).isTrue();
    assertThat(holds(List.of(write(1, 9, 7), read(2, 3, 7), read(4, 5, 0)), 0)).isFalse();
  }

  @Test
  void whatNeverReturnedMayHaveBeenDoneOrNot() {
    assertThat(holds(List.of(write(1, NEVER, 7), read(2, 3, 0), read(8, 9, 7)), 0)).isTrue();
    assertThat(holds(List.of(write(1, NEVER, 7), read(8, 9, 0)), 0)).isTrue();
    assertThat(holds(List.of(read(1, 2, 7), write(3, NEVER, 7)), 0)).isFalse();
  }

  @Test
  void twoOperationsDoNotGetOneNumber() {
    assertThat(holds(List.of(next(1, 5, 2), next(1, 5, 1)), 0)).isTrue();
    assertThat(holds(List.of(next(1, 5, 1), next(1, 5, 1)), 0)).isFalse();
    assertThat(holds(List.of(next(1, 2, 2), next(3, 4, 1)), 0)).isFalse();
  }

  /** As many at once as there are callers, for as long as a test lasts. */
  @Test
  void aLongHistoryIsJudgedAtOnce() {
    List<Operation<Integer>> history = new ArrayList<>();
    for (int i = 1; i <= 400; i++) {
      history.add(next(10L * i, 10L * i + 45, i));
    }
    assertThat(holds(history, 0)).isTrue();
    history.set(200, next(2_010, 2_055, 399));
    assertThat(holds(history, 0)).isFalse();
  }
}
