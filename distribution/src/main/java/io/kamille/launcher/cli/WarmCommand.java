package io.kamille.launcher.cli;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code kamille warm}: fetches what will be asked for. */
@Command(
    name = "warm",
    description = {
      "Fetch URLs, those of a sitemap, or what a purge removed.",
      "The hottest come first. If one fails, the exit code is 69."
    },
    footer = {
      "",
      "Examples:",
      "  kamille warm --purge 812",
      "  kamille warm --sitemap https://example.org/sitemap.xml --rate 50"
    })
final class WarmCommand implements Callable<Integer> {

  private static final String PATH = "/v1/cache/warm";
  private static final long LOOK_MILLIS = 200;
  private static final Set<String> UNDER_WAY = Set.of("preparing", "running");

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private StateOption state = new StateOption();

  @Mixin private JsonOption json = new JsonOption();

  @ArgGroup(multiplicity = "1")
  private What what = new What();

  /** One of them. */
  static final class What {
    @Parameters(paramLabel = "URL", arity = "0..*", description = "The URLs.")
    private @Nullable List<String> urls;

    @Option(names = "--sitemap", paramLabel = "URL", description = "The URLs of a sitemap.")
    private @Nullable String sitemap;

    @Option(names = "--purge", paramLabel = "N", description = "What that purge removed.")
    private @Nullable Long purge;

    @Option(names = "--stop", description = "End the warm-up that is under way.")
    private boolean isStop;
  }

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "10",
      description = "Requests to origins a second, at the most (default: ${DEFAULT-VALUE}).")
  private int rate;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      defaultValue = "4",
      description = "Requests at the same time, at the most (default: ${DEFAULT-VALUE}).")
  private int concurrency;

  @Override
  public Integer call() throws CommandFailure {
    JsonNode progress = begun();
    while (UNDER_WAY.contains(progress.path("state").stringValue(""))) {
      StateOption.pause(LOOK_MILLIS, "the warm-up goes on");
      progress = state.json("GET", PATH, null);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (!json.isAsked(out, progress)) {
      print(out, progress);
    }
    if (progress.path("failed").intValue(0) > 0) {
      throw new CommandFailure(ExitCode.UNAVAILABLE, "some URLs failed");
    }
    return ExitCode.OK;
  }

  private JsonNode begun() throws CommandFailure {
    if (what.isStop) {
      return state.json("DELETE", PATH, null);
    }
    Map<String, Object> order = new LinkedHashMap<>();
    if (what.sitemap != null) {
      order.put("sitemap", what.sitemap);
    } else if (what.purge != null) {
      order.put("purge", what.purge);
    } else {
      order.put("urls", what.urls == null ? List.of() : what.urls);
    }
    order.put("rate", rate);
    order.put("concurrency", concurrency);
    return state.json("POST", PATH, order);
  }

  private static void print(PrintWriter out, JsonNode progress) {
    out.println(
        String.format(
            Locale.ROOT,
            "%s, %s: %d of %d; %d stored, %d fresh already, %d not stored, %d failed, %d skipped",
            JsonOption.plain(progress.path("of").stringValue("")),
            progress.path("state").stringValue(""),
            progress.path("done").intValue(0),
            progress.path("total").intValue(0),
            progress.path("stored").intValue(0),
            progress.path("fresh").intValue(0),
            progress.path("notStored").intValue(0),
            progress.path("failed").intValue(0),
            progress.path("skipped").intValue(0)));
    for (JsonNode trouble : progress.path("troubles")) {
      out.println(
          "  "
              + JsonOption.plain(trouble.path("url").stringValue(""))
              + ": "
              + JsonOption.plain(trouble.path("why").stringValue("")));
    }
  }
}
