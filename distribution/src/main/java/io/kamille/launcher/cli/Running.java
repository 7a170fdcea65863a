package io.kamille.launcher.cli;

import io.kamille.core.setting.Problem;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.StartFailure;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** What all commands that run an appliance share: starting, signals, reloading. */
final class Running {

  private static final System.Logger LOG = System.getLogger("kamille.launcher");

  private Running() {}

  /** Starts, or fails with the exit code that tells why not. */
  static Appliance start(Configuration configuration, String version) throws CommandFailure {
    try {
      return Appliance.start(configuration, version);
    } catch (StartFailure failure) {
      int exitCode =
          switch (failure.kind()) {
            case ADDRESS -> ExitCode.UNAVAILABLE;
            case SYSTEM -> ExitCode.SYSTEM;
            case FILE -> ExitCode.UNREADABLE;
          };
      throw new CommandFailure(exitCode, String.valueOf(failure.getMessage()));
    }
  }

  /**
   * Listens for SIGTERM and SIGINT; the first opens the latch, a second one ends the process at
   * once. To be called before anything is printed: whoever has read a line may send a signal.
   */
  static CountDownLatch stopSignal() {
    CountDownLatch told = new CountDownLatch(1);
    Runnable stop =
        () -> {
          if (told.getCount() == 0) {
            Runtime.getRuntime().halt(ExitCode.SIGNAL);
          }
          told.countDown();
        };
    Signals.on("TERM", stop);
    Signals.on("INT", stop);
    return told;
  }

  /** Reads the file and puts it in force, or logs its problems and leaves all as it is. */
  static void reload(Appliance appliance, Path file) {
    reload(() -> ConfigurationFile.read(file), appliance::reload);
  }

  /**
   * One at a time, reading and putting in force together, since the JVM has a thread for each
   * signal: what was read last is in force last.
   */
  static synchronized void reload(
      Supplier<ConfigurationReading> file, Consumer<Configuration> appliance) {
    switch (file.get()) {
      case ConfigurationReading.Accepted(Configuration configuration) ->
          appliance.accept(configuration);
      case ConfigurationReading.Refused refused -> {
        for (Problem problem : refused.problems()) {
          LOG.log(Level.ERROR, problem.toString());
        }
        LOG.log(Level.ERROR, "the configuration was not reloaded; what ran goes on");
      }
    }
  }
}
