package io.kamille.perf.host;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The programs installed on this machine. */
public final class Programs {

  private Programs() {}

  /** Where a program is, in the PATH or where daemons are kept; null if it is not installed. */
  public static @Nullable Path find(String name) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.concat(
            Stream.of(path.split(File.pathSeparator, -1)),
            Stream.of("/usr/sbin", "/usr/local/sbin", "/sbin"))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  /**
   * Makes sure that a program is installed.
   *
   * @throws IOException if not, with the Debian package that has it
   */
  public static void require(String name, String debianPackage) throws IOException {
    if (find(name) == null) {
      throw new IOException(name + " is needed; install it with: apt-get install " + debianPackage);
    }
  }

  /** The first line that a short command prints, or a word about why there is none. */
  public static String firstLine(List<String> command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      return process.inputReader().readAllAsString().lines().findFirst().orElse("unknown");
    } catch (IOException e) {
      return "unknown (" + e.getMessage() + ")";
    }
  }
}
