package io.kamille.launcher.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code kamille top}: what is asked for most. */
@Command(
    name = "top",
    description = {
      "Show the URLs, misses, tags and clients of most requests.",
      "Counts are estimates of the last minutes, at this node."
    })
final class TopCommand implements Callable<Integer> {

  private static final List<Map.Entry<String, String>> LISTS =
      List.of(
          Map.entry("urls", "URLS"),
          Map.entry("misses", "MISSES"),
          Map.entry("tags", "TAGS (OF HITS)"),
          Map.entry("clients", "CLIENTS"));

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private StateOption state = new StateOption();

  @Mixin private JsonOption json = new JsonOption();

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "10",
      description = "How many of each (default: ${DEFAULT-VALUE}).")
  private int limit;

  @Override
  public Integer call() throws CommandFailure {
    JsonNode top = state.json("GET", "/v1/top?limit=" + limit, null);
    PrintWriter out = spec.commandLine().getOut();
    if (json.isAsked(out, top)) {
      return ExitCode.OK;
    }
    for (Map.Entry<String, String> list : LISTS) {
      out.println(list.getValue());
      for (JsonNode counted : top.path(list.getKey())) {
        out.println(
            String.format(
                Locale.ROOT,
                "%10d  %s",
                counted.path("count").longValue(0),
                JsonOption.plain(counted.path("name").stringValue(""))));
      }
    }
    return ExitCode.OK;
  }
}
