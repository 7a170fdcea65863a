package io.kamille.launcher.cli;

import io.kamille.admin.AdminSettings;
import io.kamille.admin.api.Operation;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SettingChange;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.Totals;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.version.ConfigControl;
import io.kamille.launcher.version.ConfigResources;
import io.kamille.launcher.version.TrialGuard;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The file that an appliance runs by, and its versions. Any thread. */
final class VersionedFile implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.launcher");

  private final @Nullable Path file;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("kamille-trial").daemon().factory());
  // Volatile: set while the appliance starts, read by the thread of a signal.
  private volatile @Nullable ConfigControl control;

  VersionedFile(@Nullable Path file) {
    this.file = file;
  }

  /** The resources of the control plane that change the file; none if there is no file. */
  List<Operation> resources(Appliance appliance) {
    AdminSettings admin = appliance.admin();
    Path directory = admin.tokenFile().toAbsolutePath().getParent();
    if (file == null || directory == null) {
      return List.of();
    }
    try {
      ConfigControl opened =
          ConfigControl.open(
              file,
              directory.resolve("config"),
              admin.configWrites(),
              new RunningAppliance(appliance),
              this::alarm,
              InstantSource.system());
      control = opened;
      return ConfigResources.of(opened);
    } catch (IOException unreadable) {
      LOG.log(Level.ERROR, "there are no versions of the configuration", unreadable);
      return List.of();
    }
  }

  private Runnable alarm(Duration after, Runnable action) {
    ScheduledFuture<?> set = timer.schedule(action, after.toMillis(), TimeUnit.MILLISECONDS);
    return () -> set.cancel(false);
  }

  /** Reads the file again and puts it in force, or logs its problems and leaves all as it is. */
  void reload(Appliance appliance) {
    ConfigControl versions = control;
    if (versions != null) {
      List<Problem> problems = versions.reload();
      if (!problems.isEmpty()) {
        Reloads.refused(problems);
      }
    } else if (file != null) {
      Reloads.reload(appliance, file);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }

  /** The appliance, as the control of its configuration sees it. */
  private record RunningAppliance(Appliance appliance) implements ConfigControl.Target {

    @Override
    public List<SettingChange> changes(Configuration next) {
      return appliance.changes(next);
    }

    @Override
    public TrialGuard.Counts counts() {
      Totals totals = appliance.totals();
      return new TrialGuard.Counts(
          totals.requests(), totals.failures(), appliance.durations().all());
    }

    @Override
    public ConfigControl.Step prepare(Configuration next) {
      Appliance.Prepared prepared = appliance.prepare(next);
      return new ConfigControl.Step() {
        @Override
        public void apply() {
          prepared.apply();
        }

        @Override
        public void abandon() {
          prepared.abandon();
        }
      };
    }
  }
}
