package io.kamille.launcher.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** {@code kamille top}: what is asked for most. */
@Command(
    name = "top",
    description = {
      "Show the ten URLs, misses, tags and clients of most requests.",
      "Counts are estimates of the last minutes, at this node."
    })
final class TopCommand extends LocalCommand {

  private static final List<Map.Entry<String, String>> LISTS =
      List.of(
          Map.entry("urls", "URLS"),
          Map.entry("misses", "MISSES"),
          Map.entry("tags", "TAGS (OF HITS)"),
          Map.entry("clients", "CLIENTS"));

  @Override
  JsonNode answer() throws CommandFailure {
    return get("/v1/top?limit=10");
  }

  @Override
  List<String> words(JsonNode top) {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<String, String> list : LISTS) {
      lines.add(list.getValue());
      for (JsonNode counted : top.path(list.getKey())) {
        long count = counted.path("count").longValue(0);
        lines.add(String.format(Locale.ROOT, "%10d  %s", count, text(counted, "name")));
      }
    }
    return lines;
  }
}
