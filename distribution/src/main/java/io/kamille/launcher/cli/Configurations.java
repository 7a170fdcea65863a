package io.kamille.launcher.cli;

import io.kamille.core.setting.Problem;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.io.PrintWriter;

/** Turns a reading into a configuration, or into problems on the terminal. */
final class Configurations {

  private Configurations() {}

  /** The configuration, if it was accepted; else prints all problems and fails. */
  static Configuration accepted(ConfigurationReading reading, PrintWriter err)
      throws CommandFailure {
    switch (reading) {
      case ConfigurationReading.Accepted(Configuration configuration) -> {
        return configuration;
      }
      case ConfigurationReading.Refused refused -> {
        refused.problems().forEach(err::println);
        boolean unreadable =
            refused.problems().stream().allMatch(p -> p.kind() == Problem.Kind.UNREADABLE);
        int count = refused.problems().size();
        throw new CommandFailure(
            unreadable ? ExitCode.UNREADABLE : ExitCode.CONFIGURATION,
            count == 1 ? "1 problem" : count + " problems");
      }
    }
  }
}
