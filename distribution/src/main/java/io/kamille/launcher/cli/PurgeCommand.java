package io.kamille.launcher.cli;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code kamille purge}: removes stored responses, at all nodes. */
@Command(
    name = "purge",
    description = {
      "Remove stored responses, at all nodes of a cluster.",
      "If a node is away, the exit code is 69: it purges when it is back."
    },
    footer = {
      "",
      "Examples:",
      "  kamille purge https://example.org/a?b",
      "  kamille purge --tag product-17 --tag shoes --soft",
      "  kamille purge --prefix https://example.org/shop/ --dry-run"
    })
final class PurgeCommand extends LocalCommand {

  private static final String PATH = "/v1/cache/purges";
  private static final long MOST_POLLS = 40;
  private static final long MOST_COUNT_POLLS = 200;

  @ArgGroup(multiplicity = "1")
  private Target target = new Target();

  /** Between two polls. */
  long pauseMillis = 50;

  /** One of them. */
  static final class Target {
    @Parameters(paramLabel = "URL", arity = "0..1", description = "One URL, with all its variants.")
    private @Nullable String url;

    @Option(names = "--prefix", paramLabel = "URL", description = "All URLs that begin so.")
    private @Nullable String prefix;

    @Option(names = "--host", paramLabel = "HOST", description = "All URLs of a host.")
    private @Nullable String host;

    @Option(
        names = "--tag",
        paramLabel = "TAG",
        description = "All responses with that tag. May be given several times.")
    private @Nullable List<String> tags;

    @Option(names = "--all", description = "Everything.")
    private boolean isAll;

    private Map.Entry<String, Object> order() throws CommandFailure {
      noStar(url);
      noStar(prefix);
      if (url != null) {
        return Map.entry("url", url);
      }
      if (prefix != null) {
        return Map.entry("prefix", prefix);
      }
      if (host != null) {
        return Map.entry("host", host);
      }
      return tags != null ? Map.entry("tags", tags) : Map.entry("all", isAll);
    }

    /** What has one in its path is meant as a pattern. The API takes it as it is. */
    private static void noStar(@Nullable String url) throws CommandFailure {
      if (url != null && url.matches("[^*]+//[^*/]+/.*\\*.*")) {
        String start = url.substring(0, url.indexOf('*'));
        throw new CommandFailure(
            ExitCode.USAGE,
            url
                + ": * stands for nothing. All URLs that begin so: kamille purge --prefix "
                + start);
      }
    }
  }

  @Option(
      names = "--soft",
      description = "Make them stale: the next request still gets them, and the origin is asked.")
  private boolean isSoft;

  @Option(names = "--dry-run", description = "Only count, at this node.")
  private boolean isDryRun;

  /** What has become of it, once all that is stored was looked at; it is in force before. */
  @Override
  JsonNode answer() throws CommandFailure {
    JsonNode purge =
        post(
            PATH,
            Map.ofEntries(
                target.order(),
                Map.entry("mode", isSoft ? "soft" : "hard"),
                Map.entry("dry_run", isDryRun)));
    String id = text(purge, "id");
    long most = isDryRun ? MOST_COUNT_POLLS : MOST_POLLS;
    for (long polls = 0; polls < most && !purge.has("nodes") && !isDone(purge); polls++) {
      StateOption.pause(pauseMillis, "the purge is in force");
      for (JsonNode one : get(PATH).path("purges")) {
        purge = text(one, "id").equals(id) ? one : purge;
      }
    }
    return purge;
  }

  private static boolean isDone(JsonNode purge) {
    return text(purge, "state").equals("done");
  }

  @Override
  List<String> words(JsonNode purge) {
    String number = isDryRun ? "" : "purge " + text(purge, "id") + ": ";
    if (purge.has("nodes") || !isDone(purge)) {
      return List.of(number + (isDryRun ? "still counting" : "in force, memory comes free soon"));
    }
    String count = text(purge, isDryRun ? "matched" : "purged");
    return List.of(number + count + (count.equals("1") ? " response " : " responses ") + what());
  }

  private String what() {
    if (isDryRun) {
      return isSoft ? "would become stale" : "would be removed";
    }
    return isSoft ? "made stale" : "removed";
  }

  @Override
  void check(JsonNode purge) throws CommandFailure {
    if (!purge.path("complete").booleanValue(true)) {
      String limit = text(purge, "safeIn");
      throw new CommandFailure(
          ExitCode.UNAVAILABLE,
          "a node is away. "
              + (limit.isEmpty()
                  ? "It may serve what was purged until it is back"
                  : "In " + limit + " no node serves what was purged"));
    }
  }
}
