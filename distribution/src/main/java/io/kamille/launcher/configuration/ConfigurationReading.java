package io.kamille.launcher.configuration;

import io.kamille.core.setting.Problem;
import java.util.List;

/** What came of reading a configuration: all of it, or all that is wrong with it. */
public sealed interface ConfigurationReading {

  /** There was nothing wrong. */
  record Accepted(Configuration configuration) implements ConfigurationReading {}

  /** There was; at least one problem, in the order of the file. */
  record Refused(List<Problem> problems) implements ConfigurationReading {}
}
