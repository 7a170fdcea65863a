package io.kamille.launcher.cli;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
final class PurgeCommand implements Callable<Integer> {

  private static final String PATH = "/v1/cache/purges";
  private static final long LOOK_MILLIS = 50;
  private static final long LONGEST_LOOKS = 200;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private StateOption state = new StateOption();

  @Mixin private JsonOption json = new JsonOption();

  @ArgGroup(multiplicity = "1")
  private Target target = new Target();

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

    private void put(Map<String, Object> order) {
      if (url != null) {
        order.put("url", url);
      } else if (prefix != null) {
        order.put("prefix", prefix);
      } else if (host != null) {
        order.put("host", host);
      } else if (tags != null) {
        order.put("tags", tags);
      } else {
        order.put("all", isAll);
      }
    }
  }

  @Option(
      names = "--soft",
      description = "Make them stale: the next request still gets them, and the origin is asked.")
  private boolean isSoft;

  @Option(names = "--dry-run", description = "Only count, at this node.")
  private boolean isDryRun;

  @Override
  public Integer call() throws CommandFailure {
    Map<String, Object> order = new LinkedHashMap<>();
    target.put(order);
    order.put("mode", isSoft ? "soft" : "hard");
    order.put("dry_run", isDryRun);
    JsonNode answer = state.json("POST", PATH, order);
    boolean isAway = answer.has("complete") && !answer.path("complete").booleanValue(true);
    if (!answer.has("nodes") && answer.has("id")) {
      answer = swept(answer);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (!json.isAsked(out, answer)) {
      print(out, answer);
    }
    if (isAway) {
      String limit = answer.path("safeIn").stringValue("");
      throw new CommandFailure(
          ExitCode.UNAVAILABLE,
          "a node is away. "
              + (limit.isEmpty()
                  ? "It may serve what was purged until it is back"
                  : "In " + limit + " no node serves what was purged"));
    }
    return ExitCode.OK;
  }

  private void print(PrintWriter out, JsonNode answer) {
    String number = answer.has("id") ? "purge " + answer.path("id").asString() + ": " : "";
    if (answer.has("nodes")) {
      out.println(number + "in force");
      for (JsonNode node : answer.path("nodes")) {
        out.println(
            "  "
                + JsonOption.plain(node.path("node").stringValue(""))
                + "  "
                + node.path("state").stringValue("")
                + "  "
                + node.path("purged").longValue(0));
      }
    } else if (answer.path("state").stringValue("done").equals("done")) {
      long count = answer.path(isDryRun ? "matched" : "purged").longValue(0);
      out.println(number + count + (count == 1 ? " response " : " responses ") + what());
    } else {
      out.println(number + (isDryRun ? "still counting" : "in force, memory comes free soon"));
    }
  }

  private String what() {
    if (isDryRun) {
      return isSoft ? "would become stale" : "would be removed";
    }
    return isSoft ? "made stale" : "removed";
  }

  /** What has become of it, once all that is stored was looked at; it is in force before. */
  private JsonNode swept(JsonNode begun) throws CommandFailure {
    JsonNode last = begun;
    for (long looks = 0; looks < LONGEST_LOOKS; looks++) {
      for (JsonNode purge : state.json("GET", PATH, null).path("purges")) {
        if (purge.path("id").longValue(0) == begun.path("id").longValue(0)) {
          last = purge;
        }
      }
      if (last.path("state").stringValue("").equals("done")) {
        break;
      }
      StateOption.pause(LOOK_MILLIS, "the purge is in force");
    }
    return last;
  }
}
