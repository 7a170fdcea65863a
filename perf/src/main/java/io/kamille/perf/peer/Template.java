package io.kamille.perf.peer;

import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Configurations with places to fill in. */
final class Template {

  /*
   * %PORT% and the like are replaced. A line that begins with a word in brackets, such as [tls],
   * stands there if the word holds; with several words, if one of them does.
   */

  private static final Pattern CONDITION = Pattern.compile("\\[([a-z ]+)] ?(.*)");
  private static final int SPARE_CONNECTIONS = 256;
  private static final int SPARE_SHARE = 4;

  private Template() {}

  /** Fills the places and writes the file. */
  static Path write(Path file, String template, Place place) throws IOException {
    return Files.writeString(file, fill(template, file, place));
  }

  static String fill(String template, Path file, Place place) {
    List<String> words = words(place);
    var lines = new ArrayList<String>();
    for (String line : template.split("\n", -1)) {
      Matcher condition = CONDITION.matcher(line);
      if (!condition.matches()) {
        lines.add(line);
      } else if (List.of(condition.group(1).split(" ", -1)).stream().anyMatch(words::contains)) {
        lines.add(condition.group(2));
      }
    }
    int allowed = place.connections() + place.connections() / SPARE_SHARE + SPARE_CONNECTIONS;
    return String.join("\n", lines)
        .replace("%DIRECTORY%", String.valueOf(file.toAbsolutePath().getParent()))
        .replace("%FILE%", file.toString())
        .replace("%MIB%", Integer.toString(place.job() == Peer.Job.MIX ? 1024 : 256))
        .replace("%ADDRESS%", place.address())
        .replace("%PORT%", Integer.toString(place.port()))
        .replace("%ORIGIN%", Integer.toString(place.originPort()))
        .replace("%CERTIFICATES%", String.valueOf(place.certificates()))
        .replace("%THREADS%", Integer.toString(Math.clamp(place.connections(), 64, 1000)))
        .replace("%CONNECTIONS%", Integer.toString(allowed));
  }

  /** What holds of a place. */
  private static List<String> words(Place place) {
    return List.of(
        place.job().name().toLowerCase(Locale.ROOT),
        place.certificates() == null ? "clear" : "tls",
        isRoot() ? "root" : "user");
  }

  /** Whether the servers are started as root, which some of them give up. */
  private static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }
}
