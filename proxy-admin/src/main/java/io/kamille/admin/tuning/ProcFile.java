package io.kamille.admin.tuning;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Numbers in a file below /proc/sys. Stateless; any thread. */
final class ProcFile {

  /*
   * The kernel gives these numbers to the first read of a file and nothing to a second one. So it
   * must be a large one: Files.readString begins with one octet, because the file's size is 0.
   */
  private ProcFile() {}

  /** The numbers of its first line, as text. */
  static String[] numbers(Path file) throws IOException {
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      String line = reader.readLine();
      if (line == null) {
        throw new EOFException(file + " is empty");
      }
      return line.strip().split("\\s+", -1);
    }
  }
}
