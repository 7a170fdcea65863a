package io.kamille.cache.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FallbackTest {

  private final List<String> lines = new ArrayList<>();
  private final Fallback fallback = new Fallback(new Lines());

  private final class Lines implements System.Logger {

    @Override
    public String getName() {
      return "lines";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String message,
        @Nullable Throwable thrown) {
      lines.add(message + (thrown == null ? "" : ": " + thrown.getMessage()));
    }

    @Override
    public void log(
        Level level,
        @Nullable ResourceBundle bundle,
        @Nullable String format,
        @Nullable Object... parameters) {
      lines.add(String.valueOf(format));
    }
  }

  @Test
  void eachReasonIsSaidOnce() {
    for (int i = 0; i < 3; i++) {
      fallback.failed(new IllegalStateException("a fault"));
      fallback.begin(Fallback.Reason.FAILED);
      fallback.begin(Fallback.Reason.BEHIND);
      fallback.begin(Fallback.Reason.NO_ROOM);
    }
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
