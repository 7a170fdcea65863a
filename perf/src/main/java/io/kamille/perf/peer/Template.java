package io.kamille.perf.peer;

import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Configurations with places to fill in: {@code %PORT%} and the like. */
final class Template {

  /**
   * Connections beyond those that clients open: toward the origin, and so many that no server feels
   * short of them; nginx closes idle ones when a sixteenth is left.
   */
  private static final int SPARE_CONNECTIONS = 256;

  private static final int SPARE_SHARE = 4;

  private Template() {}

  /** Fills the places and writes the file. */
  static Path write(Path file, String template, Place place) throws IOException {
    return Files.writeString(file, fill(template, file, place));
  }

  static String fill(String template, Path file, Place place) {
    return template
        .replace("%DIRECTORY%", String.valueOf(file.getParent()))
        .replace("%MIB%", Integer.toString(place.job().storeMib()))
        .replace("%ADDRESS%", place.address())
        .replace("%PORT%", Integer.toString(place.port()))
        .replace("%ORIGIN%", Integer.toString(place.originPort()))
        .replace("%CONNECTIONS%", Integer.toString(allowed(place.connections())));
  }

  /** Whether the servers are started as root, which some of them give up. */
  static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  private static int allowed(int connections) {
    return connections + connections / SPARE_SHARE + SPARE_CONNECTIONS;
  }
}
