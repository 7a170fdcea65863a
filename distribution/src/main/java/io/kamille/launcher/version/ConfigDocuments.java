package io.kamille.launcher.version;

import io.kamille.core.setting.SettingChange;
import io.kamille.launcher.version.ConfigControl.Trial;
import io.kamille.launcher.version.ConfigControl.TrialEnd;
import io.kamille.launcher.version.TrialGuard.Counts;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@code /v1/config} answers, as JSON has it, where that is not what the control says. */
final class ConfigDocuments {

  private ConfigDocuments() {}

  record Shown(
      String file,
      int version,
      String text,
      List<SettingChange> pendingRestart,
      @Nullable TrialShown trial,
      @Nullable TrialEnd lastTrial) {}

  record TrialShown(
      int base,
      String by,
      String comment,
      Instant deadline,
      @Nullable Double guard,
      @Nullable Long guardP99Millis,
      Measured before,
      Measured since) {

    static @Nullable TrialShown of(@Nullable Trial trial, int base, Counts now) {
      if (trial == null) {
        return null;
      }
      TrialGuard guard = trial.guard();
      Duration p99 = guard == null ? null : guard.limits().p99();
      return new TrialShown(
          base,
          trial.by(),
          trial.comment(),
          trial.deadline(),
          guard == null ? null : guard.limits().rise(),
          p99 == null ? null : p99.toMillis(),
          Measured.of(trial.start()),
          Measured.of(now.since(trial.start())));
    }
  }

  /** What was answered, and how fast. */
  record Measured(long requests, double failureRatio, double p99Millis) {

    static Measured of(Counts counts) {
      return new Measured(counts.requests(), counts.failureShare(), counts.p99Millis());
    }
  }

  record Versions(List<ConfigVersion> versions) {}

  record Changes(List<SettingChange> changes) {}

  record Problems(List<Refused.Wrong> problems) {}
}
