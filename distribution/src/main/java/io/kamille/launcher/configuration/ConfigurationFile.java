package io.kamille.launcher.configuration;

import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigReader;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.Problems;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Reads a configuration from a YAML file. */
public final class ConfigurationFile {

  private ConfigurationFile() {}

  /**
   * The configuration in {@code file}, or every problem with it. A file that cannot be read is one
   * problem of kind {@link Problem.Mistake#UNREADABLE}.
   */
  public static ConfigurationReading read(Path file) {
    return read(file, _ -> {});
  }

  /**
   * The same.
   *
   * @param octets takes what was read
   */
  public static ConfigurationReading read(Path file, Consumer<byte[]> octets) {
    byte[] content;
    try (var in = Files.newInputStream(file)) {
      content = in.readNBytes(ConfigTree.LIMIT_BYTES + 1);
    } catch (IOException unreadable) {
      var problems = new Problems(file.toString());
      problems.addUnreadable(unreadable);
      return new ConfigurationReading.Refused(problems.inOrder());
    }
    octets.accept(content);
    return parse(file.toString(), content);
  }

  /**
   * The configuration in {@code content}, or every problem with it.
   *
   * @param name what problems call the file; paths are relative to its directory
   */
  public static ConfigurationReading parse(String name, byte[] content) {
    return parse(content, new Problems(name));
  }

  /** The same of one that is not to run here: the files that it names need not be there. */
  public static ConfigurationReading parseAlone(String name, byte[] content) {
    return parse(content, new Problems(name, false));
  }

  private static ConfigurationReading parse(byte[] content, Problems problems) {
    String name = problems.file();
    ConfigNode root = ConfigTree.parse(content, problems);
    if (root == null) {
      return new ConfigurationReading.Refused(problems.inOrder());
    }
    Path directory = directory(name);
    ConfigNode whole = IncludedFiles.expand(directory, root, Configuration.file(), problems);
    return CrossChecks.conclude(
        ConfigReader.read(whole, Configuration.file(), directory, problems), problems);
  }

  private static Path directory(String name) {
    Path parent = Path.of(name).getParent();
    return parent == null ? Path.of("") : parent;
  }
}
