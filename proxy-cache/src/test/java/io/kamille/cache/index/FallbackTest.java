package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FallbackTest {

  private final List<String> lines = new ArrayList<>();
  private final Fallback fallback = new Fallback(new LinesLog(lines));

  @Test
  void eachReasonIsSaidOnce() {
    for (int i = 0; i < 3; i++) {
      fallback.failed(new IllegalStateException("a fault"));
      fallback.begin(Fallback.Reason.FAILED);
      fallback.begin(Fallback.Reason.BEHIND);
      fallback.begin(Fallback.Reason.NO_ROOM);
    }
    assertThat(fallback.failures()).isEqualTo(3);
    assertThat(lines).hasSize(3);
    assertThat(lines.getFirst()).contains("maintenance of the order failed").endsWith(": a fault");
  }

  @Test
  void aFailureLastsUntilTheMaintenanceWorks() {
    assertThat(fallback.isFailed()).isFalse();
    fallback.failed(new OutOfMemoryError("a fault"));
    assertThat(fallback.isFailed()).isTrue();
    fallback.worked();
    assertThat(fallback.isFailed()).isFalse();
  }
}
