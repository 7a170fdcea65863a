package io.kamille.launcher.chain;

import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Stations by the names of their classes, for tests that must have each. */
public final class StationNames {

  private static final Path SOURCES = Path.of("src/main/java/io/kamille/launcher/chain");

  private StationNames() {}

  /** All that there are. */
  public static List<String> all() throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files
          .map(file -> file.getFileName().toString().replace(".java", ""))
          .filter(name -> name.endsWith("Station") && !name.equals("Station"))
          .toList();
    }
  }

  /** Those of a route, in order. */
  public static List<String> of(RouteSettings route, Configuration configuration) {
    return RouteStations.of(route, configuration).stream()
        .map(station -> station.getClass().getSimpleName())
        .toList();
  }
}
