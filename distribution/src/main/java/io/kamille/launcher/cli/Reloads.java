package io.kamille.launcher.cli;

import io.kamille.core.setting.Problem;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Puts a configuration file in force that is read again, or says why not. Any thread. */
final class Reloads {

  private static final System.Logger LOG = System.getLogger("kamille.launcher");

  private Reloads() {}

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
      case ConfigurationReading.Refused refused -> refused(refused.problems());
    }
  }

  /** Says in the log why the file is not in force. */
  static void refused(List<Problem> problems) {
    for (Problem problem : problems) {
      LOG.log(Level.ERROR, problem.toString());
    }
    LOG.log(Level.ERROR, "the configuration was not reloaded; what ran goes on");
  }
}
