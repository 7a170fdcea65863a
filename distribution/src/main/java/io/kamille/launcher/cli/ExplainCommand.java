package io.kamille.launcher.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code kamille explain}: what would become of a request now, and why. */
@Command(
    name = "explain",
    description = "Say what would become of a request now, and why.",
    footer = {"", "Example:", "  kamille explain http://example.org/page -H 'Accept-Language: de'"})
final class ExplainCommand extends LocalCommand {

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
  JsonNode answer() throws CommandFailure {
    StringBuilder target = new StringBuilder("/v1/explain?url=").append(encoded(url));
    fields.forEach(field -> target.append("&field=").append(encoded(field)));
    if (method != null) {
      target.append("&method=").append(encoded(method));
    }
    if (client != null) {
      target.append("&client=").append(encoded(client));
    }
    return get(target.toString());
  }

  private static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  @Override
  List<String> words(JsonNode explained) {
    List<String> lines = new ArrayList<>();
    lines.add((text(explained, "decision") + " " + text(explained, "fwd")).strip());
    for (JsonNode step : explained.path("because")) {
      lines.add(
          "  "
              + String.join(
                  " | ",
                  text(step, "rule"),
                  text(step, "section"),
                  text(step, "found"),
                  text(step, "so")));
    }
    return lines;
  }
}
