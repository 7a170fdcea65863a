package io.kamille.launcher.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code kamille warm}: fetches what will be asked for. */
@Command(
    name = "warm",
    description = {
      "Fetch URLs, or what a purge removed.",
      "The hottest come first. If one fails, the exit code is 69."
    },
    footer = {
      "",
      "Examples:",
      "  kamille warm --purge 812",
      "  kamille warm https://example.org/ --rate 50"
    })
final class WarmCommand extends LocalCommand {

  private static final String PATH = "/v1/cache/warm";
  private static final long POLL_MILLIS = 200;

  @ArgGroup(multiplicity = "1")
  private What what = new What();

  /** One of them. */
  static final class What {
    @Parameters(paramLabel = "URL", arity = "0..*", description = "The URLs.")
    private @Nullable List<String> urls;

    @Option(names = "--purge", paramLabel = "N", description = "What that purge removed.")
    private @Nullable Long purge;

    private Map.Entry<String, Object> order() {
      return purge != null
          ? Map.entry("purge", purge)
          : Map.entry("urls", urls == null ? List.of() : urls);
    }
  }

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "10",
      description = "Requests to origins a second, at the most (default: ${DEFAULT-VALUE}).")
  private int rate;

  @Override
  JsonNode answer() throws CommandFailure {
    JsonNode progress = post(PATH, Map.ofEntries(what.order(), Map.entry("rate", rate)));
    while (text(progress, "state").equals("running")) {
      StateOption.pause(POLL_MILLIS, "the warm-up goes on");
      progress = get(PATH);
    }
    return progress;
  }

  @Override
  List<String> words(JsonNode progress) {
    List<String> lines = new ArrayList<>();
    lines.add(
        text(progress, "of")
            + (", done: " + text(progress, "done") + " of " + text(progress, "total"))
            + ("; " + text(progress, "stored") + " stored")
            + (", " + text(progress, "fresh") + " fresh already")
            + (", " + text(progress, "notStored") + " not stored")
            + (", " + text(progress, "failed") + " failed")
            + (", " + text(progress, "skipped") + " skipped"));
    for (JsonNode trouble : progress.path("troubles")) {
      lines.add("  " + text(trouble, "url") + ": " + text(trouble, "why"));
    }
    return lines;
  }

  @Override
  void check(JsonNode progress) throws CommandFailure {
    if (progress.path("failed").intValue(0) > 0) {
      throw new CommandFailure(ExitCode.UNAVAILABLE, "some URLs failed");
    }
  }
}
