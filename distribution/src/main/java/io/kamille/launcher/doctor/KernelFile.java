package io.kamille.launcher.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the kernel says in a file; nothing if it cannot be read. Any thread. */
public final class KernelFile {

  private static final String OPEN_FILES = "Max open files";

  private KernelFile() {}

  /** All of its lines. */
  public static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException absent) {
      return List.of();
    }
  }

  /** Its first line; empty if there is none. */
  public static String text(Path file) {
    return lines(file).stream().findFirst().map(String::strip).orElse("");
  }

  /** The number behind a name, such as {@code MemAvailable:}; 0 if there is none. */
  public static long field(Path file, String name) {
    return lines(file).stream()
        .map(line -> line.strip().split("\\s+", 3))
        .filter(
            words -> words[0].equals(name) && words.length > 1 && words[1].matches("[0-9]{1,18}"))
        .mapToLong(words -> Long.parseLong(words[1]))
        .findFirst()
        .orElse(0);
  }

  /** How many file descriptors a process may have, by its directory in {@code /proc}. */
  public static long openFiles(Path process) {
    return lines(process.resolve("limits")).stream()
        .filter(line -> line.startsWith(OPEN_FILES))
        .map(line -> line.substring(OPEN_FILES.length()).strip().split("\\s+", 2)[0])
        .filter(soft -> !soft.equals("unlimited"))
        .mapToLong(Long::parseLong)
        .findFirst()
        .orElse(Long.MAX_VALUE);
  }
}
