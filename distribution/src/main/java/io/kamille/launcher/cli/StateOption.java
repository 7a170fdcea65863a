package io.kamille.launcher.cli;

import io.kamille.admin.StateDirectory;
import io.kamille.core.http.StatusCode;
import io.kamille.launcher.client.LocalApi;
import io.kamille.launcher.client.LocalApi.Reply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Which running appliance a command talks to. */
final class StateOption {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** The state directory of the service that the packages install. */
  private static final Path OF_SERVICE = Path.of("/var/lib/kamille");

  @Option(
      names = "--state",
      paramLabel = "DIR",
      description =
          "The state directory of the running appliance (default: yours, or that of the service).")
  private @Nullable Path directory;

  /** The state directory: as given, our own where something runs in it, or that of the service. */
  Path directory() {
    if (directory != null) {
      return directory;
    }
    Path own = StateDirectory.path();
    return !hasSocket(own) && (hasSocket(OF_SERVICE) || isPackaged(own)) ? OF_SERVICE : own;
  }

  /** Whether the service is all that can be meant, also while it does not run. */
  private static boolean isPackaged(Path own) {
    return Files.notExists(own) && Files.isDirectory(OF_SERVICE);
  }

  private static boolean hasSocket(Path state) {
    return Files.exists(LocalApi.socket(state));
  }

  /** Asks, and gives the document of a successful answer. */
  JsonNode json(String method, String target, @Nullable Object content) throws CommandFailure {
    String text = content == null ? null : JSON.writeValueAsString(content);
    Map<String, String> fields =
        text == null ? Map.of() : Map.of("Content-Type", "application/json");
    Reply reply = successful(method, target, fields, text);
    return JSON.readTree(reply.content());
  }

  /** Asks, and fails unless the answer is a successful one. */
  Reply successful(
      String method, String target, Map<String, String> fields, @Nullable String content)
      throws CommandFailure {
    Reply reply = ask(method, target, fields, content);
    if (!reply.isSuccessful()) {
      throw refused(reply);
    }
    return reply;
  }

  /** Asks, whatever the answer is. */
  Reply ask(String method, String target, Map<String, String> fields, @Nullable String content)
      throws CommandFailure {
    try {
      return new LocalApi(directory()).ask(method, target, fields, content);
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNAVAILABLE, String.valueOf(failed.getMessage()));
    }
  }

  /** What a problem document says, as a failure of the command. */
  static CommandFailure refused(Reply reply) {
    JsonNode problem = JSON.readTree(reply.content());
    return new CommandFailure(
        switch (reply.status()) {
          case StatusCode.BAD_REQUEST -> ExitCode.USAGE;
          case StatusCode.UNPROCESSABLE_CONTENT -> ExitCode.CONFIGURATION;
          default -> ExitCode.UNAVAILABLE;
        },
        problem.path("detail").stringValue("status " + reply.status()));
  }

  /** Waits before the next look at what goes on in the service. */
  static void pause(long millis, String goesOn) throws CommandFailure {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(ExitCode.SIGNAL, "interrupted; " + goesOn);
    }
  }
}
