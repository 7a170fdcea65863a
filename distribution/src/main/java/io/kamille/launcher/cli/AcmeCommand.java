package io.kamille.launcher.cli;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code kamille acme}: the certificates that a running Kamille orders. */
@Command(name = "acme", description = "Try whether a certificate can be ordered for a name.")
final class AcmeCommand extends Subcommand {

  private static final String PATH = "/v1/certificates";
  private static final long POLL_MILLIS = 300;

  @Command(
      name = "try",
      description = {
        "Order a certificate at the authority's place for tests, and throw it away.",
        "The running Kamille does so, with its listeners: each step is printed."
      })
  int order(
      @Mixin StateOption state,
      @Parameters(paramLabel = "NAME", description = "A name of the configuration.") String name)
      throws CommandFailure {
    String path = PATH + "/" + URLEncoder.encode(name, StandardCharsets.UTF_8) + "/try";
    state.successful("POST", path, Map.of(), null);
    int printed = 0;
    while (true) {
      JsonNode shown = certificate(state, name);
      JsonNode steps = shown.path("steps");
      for (printed = Math.min(printed, steps.size()); printed < steps.size(); printed++) {
        out().println(printable(steps.get(printed).stringValue("")));
        out().flush();
      }
      if (!shown.path("isRehearsed").booleanValue(false)) {
        boolean isDone =
            printed > 0 && !steps.get(printed - 1).stringValue("").startsWith("failed");
        return isDone ? ExitCode.OK : ExitCode.UNAVAILABLE;
      }
      StateOption.pause(POLL_MILLIS, "the order goes on");
    }
  }

  private static JsonNode certificate(StateOption state, String name) throws CommandFailure {
    for (JsonNode each : state.json("GET", PATH, null).path("certificates")) {
      if (text(each, "name").equals(name)) {
        return each;
      }
    }
    throw new CommandFailure(ExitCode.UNAVAILABLE, name + " has left the configuration");
  }
}
