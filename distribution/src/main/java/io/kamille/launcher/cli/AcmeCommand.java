package io.kamille.launcher.cli;

import io.kamille.launcher.cli.AcmeCommand.Try;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code kamille acme}: the certificates that a running Kamille orders. */
@Command(
    name = "acme",
    description = "Try whether a certificate can be ordered for a name.",
    subcommands = Try.class)
final class AcmeCommand {

  private static final String PATH = "/v1/certificates";

  private AcmeCommand() {}

  /** {@code kamille acme try}: a whole order, step by step. */
  @Command(
      name = "try",
      description = {
        "Order a certificate at the authority's place for tests, and throw it away.",
        "The running Kamille does so, with its listeners: each step is printed."
      })
  static final class Try implements Callable<Integer> {

    private static final long LOOK_MILLIS = 300;

    @Spec private CommandSpec spec = CommandSpec.create();

    @Mixin private StateOption state = new StateOption();

    @Parameters(paramLabel = "NAME", description = "A name of the configuration.")
    private String name = "";

    @Override
    public Integer call() throws CommandFailure, InterruptedException {
      PrintWriter out = spec.commandLine().getOut();
      String path = PATH + "/" + URLEncoder.encode(name, StandardCharsets.UTF_8) + "/try";
      state.successful("POST", path, Map.of(), null);
      int printed = 0;
      while (true) {
        JsonNode shown = shown();
        JsonNode steps = shown.path("steps");
        for (printed = Math.min(printed, steps.size()); printed < steps.size(); printed++) {
          out.println(steps.get(printed).stringValue("").replaceAll("\\p{Cntrl}", "?"));
          out.flush();
        }
        if (!shown.path("isRehearsed").booleanValue(false)) {
          boolean isDone =
              printed > 0 && !steps.get(printed - 1).stringValue("").startsWith("failed");
          return isDone ? ExitCode.OK : ExitCode.UNAVAILABLE;
        }
        Thread.sleep(LOOK_MILLIS);
      }
    }

    private JsonNode shown() throws CommandFailure {
      for (JsonNode each : state.json("GET", PATH, null).path("certificates")) {
        if (each.path("name").stringValue("").equals(name)) {
          return each;
        }
      }
      throw new CommandFailure(ExitCode.UNAVAILABLE, name + " has left the configuration");
    }
  }
}
