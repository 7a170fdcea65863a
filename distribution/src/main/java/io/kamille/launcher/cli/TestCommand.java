package io.kamille.launcher.cli;

import io.kamille.launcher.appliance.PinnedTests;
import io.kamille.launcher.appliance.PinnedTests.Seen;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code kamille test}: runs the tests of a configuration, or writes some from recent traffic. */
@Command(
    name = "test",
    description = "Run the tests of a file, or write some from recent requests.",
    footer = {
      "",
      "Examples:",
      "  kamille test -c kamille.yaml",
      "  kamille test --pin >> kamille.yaml"
    })
final class TestCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private StateOption state = new StateOption();

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "The configuration file whose tests run.")
  private @Nullable Path file;

  @Option(
      names = "--pin",
      description = "Print tests that pass now, from the last requests of the running appliance.")
  private boolean isPin;

  @Override
  public Integer call() throws CommandFailure {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    if (isPin == (file != null)) {
      throw new ParameterException(
          spec.commandLine(),
          "give either --config FILE, to run its tests, or --pin, to write tests");
    }
    if (file == null) {
      out.print(pinned(err));
      out.flush();
    } else if (CheckCommand.check(file, out, err).tests().isEmpty()) {
      out.println(file + ": no tests; kamille test --pin writes some");
    }
    return ExitCode.OK;
  }

  private String pinned(PrintWriter err) throws CommandFailure {
    JsonNode config = state.json("GET", "/v1/config", null);
    byte[] text = config.path("text").stringValue("").getBytes(StandardCharsets.UTF_8);
    Configuration configuration =
        Running.accepted(ConfigurationFile.parse(config.path("file").stringValue(""), text), err);
    List<Seen> traffic = new ArrayList<>();
    JsonNode requests = state.json("GET", "/v1/requests?limit=1000", null).path("requests");
    for (JsonNode request : requests.values()) {
      String query = request.path("query").stringValue("");
      String url = request.path("url").stringValue("") + (query.isEmpty() ? "" : "?" + query);
      String method = request.path("method").stringValue("");
      traffic.add(new Seen(method + " " + url, request.path("status").intValue()));
    }
    return PinnedTests.write(configuration, traffic);
  }
}
