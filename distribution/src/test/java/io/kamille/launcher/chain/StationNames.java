package io.kamille.launcher.chain;

import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.RouteSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Stations by the names of their classes, for tests that must have each and for the page. */
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

  /** A row for each place that a route may have one at, in order. */
  public static String table() {
    StringBuilder table = new StringBuilder("| Setting | Class | Refuses with |\n|---|---|---|\n");
    for (RouteStations.Place<?> place : RouteStations.PLACES) {
      String station = "`" + place.station().getSimpleName() + "`";
      table.append(
          "| " + String.join(" | ", place.settings(), station, place.refusal()).strip() + " |\n");
    }
    return table.toString();
  }

  /** Those of a route, in order. */
  public static List<String> of(RouteSettings route, Configuration configuration) {
    return RouteStations.of(route, configuration).stream()
        .map(station -> station.getClass().getSimpleName())
        .toList();
  }
}
