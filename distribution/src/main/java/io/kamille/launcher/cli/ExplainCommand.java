package io.kamille.launcher.cli;

import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code kamille explain}: what would become of a request now, and why. */
@Command(
    name = "explain",
    description = "Say what would become of a request now, and why.",
    footer = {"", "Example:", "  kamille explain http://example.org/page -H 'Accept-Language: de'"})
final class ExplainCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private StateOption state = new StateOption();

  @Mixin private JsonOption json = new JsonOption();

  @Parameters(paramLabel = "URL", description = "The URL, with scheme and host.")
  private String url = "";

  @Option(
      names = {"-H", "--field"},
      paramLabel = "FIELD",
      description = "A header field such as 'Accept: text/html'. May be given several times.")
  private List<String> fields = List.of();

  @Option(
      names = {"-X", "--method"},
      paramLabel = "METHOD",
      description = "The method (default: GET).")
  private @Nullable String method;

  @Option(names = "--client", paramLabel = "ADDRESS", description = "The address of the client.")
  private @Nullable String client;

  @Override
  public Integer call() throws CommandFailure {
    StringBuilder target = new StringBuilder("/v1/explain?url=").append(encoded(url));
    fields.forEach(field -> target.append("&field=").append(encoded(field)));
    if (method != null) {
      target.append("&method=").append(encoded(method));
    }
    if (client != null) {
      target.append("&client=").append(encoded(client));
    }
    JsonNode explained = state.json("GET", target.toString(), null);
    PrintWriter out = spec.commandLine().getOut();
    if (json.isAsked(out, explained)) {
      return ExitCode.OK;
    }
    out.println(
        (text(explained, "decision") + " " + explained.path("fwd").stringValue("")).strip());
    for (JsonNode step : explained.path("because")) {
      out.println(
          "  "
              + String.join(
                  " | ",
                  text(step, "rule"),
                  text(step, "section"),
                  text(step, "found"),
                  text(step, "so")));
    }
    return ExitCode.OK;
  }

  private static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  /** What clients and origins have sent moves no cursor. */
  private static String text(JsonNode node, String name) {
    return JsonOption.plain(node.path(name).stringValue(""));
  }
}
