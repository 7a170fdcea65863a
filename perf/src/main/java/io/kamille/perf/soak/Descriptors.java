package io.kamille.perf.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The open descriptors of a process.
 *
 * @param stored files of the disk tier, of which there are more as it fills
 * @param others files, pipes, event descriptors
 */
record Descriptors(int sockets, int stored, int others) {

  static Descriptors of(long pid, Path store) throws IOException {
    int sockets = 0;
    int stored = 0;
    int others = 0;
    for (String target : targets(pid)) {
      if (target.startsWith("socket:")) {
        sockets++;
      } else if (target.startsWith(store.toString())) {
        stored++;
      } else {
        others++;
      }
    }
    return new Descriptors(sockets, stored, others);
  }

  private static List<String> targets(long pid) throws IOException {
    try (Stream<Path> links = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      return links.map(Descriptors::target).toList();
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException closedMeanwhile) {
      return "";
    }
  }
}
