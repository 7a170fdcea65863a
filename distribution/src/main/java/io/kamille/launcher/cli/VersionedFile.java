package io.kamille.launcher.cli;

import io.kamille.admin.AdminSettings;
import io.kamille.admin.api.Operation;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.setting.DurableFile;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SmallFile;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.version.ConfigControl;
import io.kamille.launcher.version.ConfigResources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The file that an appliance runs by, and its versions. Any thread. */
final class VersionedFile implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.launcher");

  private final @Nullable Path file;
  private final ConfigurationReading reading;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("kamille-trial").daemon().factory());
  // Of the only reading before a reload: what is shown is what runs.
  private byte[] content = {};
  // Volatile: set while the appliance starts, read by the thread of a signal.
  private volatile @Nullable ConfigControl control;

  /** Reads the file. */
  VersionedFile(Path file) {
    this.file = file;
    this.reading = ConfigurationFile.read(file, octets -> content = octets);
  }

  /** There is no file. */
  VersionedFile(ConfigurationReading reading) {
    this.file = null;
    this.reading = reading;
  }

  @Nullable Path file() {
    return file;
  }

  /** What came of reading it. */
  ConfigurationReading reading() {
    return reading;
  }

  /** The resources of the control plane that change the file; none if there is no file. */
  List<Operation> resources(Appliance appliance) {
    AdminSettings admin = appliance.admin();
    Path directory = admin.tokenFile().toAbsolutePath().getParent();
    if (file == null
        || directory == null
        || !(reading instanceof ConfigurationReading.Accepted accepted)) {
      return List.of();
    }
    try {
      ConfigControl opened =
          new ConfigControl(
              file,
              SmallFile.text(content),
              accepted.configuration(),
              directory.resolve("config"),
              admin.configWrites(),
              appliance,
              this::alarm,
              InstantSource.system());
      control = opened;
      return new ConfigResources(opened, appliance.share(opened)).operations();
    } catch (IOException unreadable) {
      LOG.log(
          Level.ERROR,
          "there are no versions of the configuration: {0}: {1}",
          directory.resolve("config"),
          DurableFile.why(unreadable));
      return List.of();
    }
  }

  private Runnable alarm(Duration after, Runnable action) {
    ScheduledFuture<?> set =
        timer.schedule(
            new SteadyTask(LOG, "a trial has not ended", action::run),
            after.toMillis(),
            TimeUnit.MILLISECONDS);
    return () -> set.cancel(false);
  }

  /** Reads the file again and puts it in force, or logs its problems and leaves all as it is. */
  void reload(Appliance appliance) {
    ConfigControl versions = control;
    Path read = file;
    if (versions != null) {
      refused(versions.reload());
    } else if (read != null) {
      reload(() -> ConfigurationFile.read(read), appliance::reload, appliance::refused);
    }
  }

  /**
   * One at a time, reading and putting in force together, since the JVM has a thread for each
   * signal: what was read last is in force last.
   */
  static synchronized void reload(
      Supplier<ConfigurationReading> file, Consumer<Configuration> appliance, Runnable onRefusal) {
    switch (file.get()) {
      case ConfigurationReading.Accepted(Configuration configuration) -> {
        try {
          appliance.accept(configuration);
        } catch (UncheckedIOException unusable) {
          onRefusal.run();
          refused(List.of(String.valueOf(unusable.getMessage())));
        }
      }
      case ConfigurationReading.Refused refused -> {
        onRefusal.run();
        refused(refused.problems().stream().map(Problem::toString).toList());
      }
    }
  }

  /** Says in the log why the file is not in force, if there is a reason. */
  private static void refused(List<String> reasons) {
    if (!reasons.isEmpty()) {
      reasons.forEach(reason -> LOG.log(Level.ERROR, reason));
      LOG.log(Level.ERROR, "the configuration was not reloaded; what ran goes on");
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
