package io.kamille.launcher.cli;

import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.launcher.client.LocalApi.Reply;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code kamille config}: the configuration of the running appliance. */
@Command(name = "config", description = "Show, change and bring back what the appliance runs.")
final class ConfigCommand extends Subcommand {

  private static final String PATH = "/v1/config";
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final Map<String, String> YAML = Map.of("Accept", "application/yaml");

  /** How a change is made. */
  static final class Change {
    @Option(names = "--comment", paramLabel = "TEXT", description = "Why.")
    private @Nullable String comment;

    @Option(
        names = "--confirm",
        paramLabel = "TIME",
        description = "Put it on trial: it goes back after that time unless you keep it.")
    private @Nullable String confirm;

    @Option(
        names = "--guard",
        paramLabel = "SHARE",
        description =
            "End the trial at once if the share of failed requests rises by more, such as 0.05.")
    private @Nullable String guard;

    @Option(
        names = "--guard-p99",
        paramLabel = "TIME",
        description =
            "End the trial at once if 99 %% of requests take longer than that, such as 800ms.")
    private @Nullable String guardP99;

    private String query() {
      String query =
          Stream.of(
                  parameter("comment", comment),
                  parameter("confirm", confirm),
                  parameter("guard", guard),
                  parameter("guardP99", guardP99))
              .filter(parameter -> !parameter.isEmpty())
              .collect(Collectors.joining("&"));
      return query.isEmpty() ? "" : "?" + query;
    }

    private static String parameter(String name, @Nullable String value) {
      return value == null ? "" : name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
  }

  @Command(description = "Print what runs.")
  void show(@Mixin StateOption state) throws CommandFailure {
    out().print(running(state).content());
    out().flush();
  }

  @Command(description = "List the versions, the newest first.")
  void history(@Mixin StateOption state) throws CommandFailure {
    JsonNode versions = state.json("GET", PATH + "/versions", null).path("versions");
    for (JsonNode version : versions.values()) {
      out()
          .printf(
              Locale.ROOT,
              "%5d  %s  %-16s %s%n",
              version.path("number").intValue(),
              seconds(version.path("time")),
              text(version, "by"),
              text(version, "comment"));
    }
  }

  @Command(description = "Tell what a file would change.")
  void diff(
      @Mixin StateOption state,
      @Parameters(paramLabel = "FILE", description = "The changed configuration.") Path file)
      throws CommandFailure {
    JsonNode outcome = put(state, "?dry_run=true", Map.of(), file);
    out().print(outcome.path("diff").stringValue(""));
    changes(outcome);
  }

  @Command(description = "Put a file in force as the next version.")
  void commit(
      @Mixin StateOption state,
      @Parameters(paramLabel = "FILE", description = "The changed configuration.") Path file,
      @Mixin Change change)
      throws CommandFailure {
    print(put(state, change.query(), matching(running(state)), file));
  }

  @Command(description = "Change what runs in your editor, and put it in force.")
  void edit(@Mixin StateOption state, @Mixin Change change) throws CommandFailure {
    Reply before = running(state);
    Path draft = edited(before.content());
    String text = text(draft);
    if (text.equals(before.content())) {
      out().println("nothing was changed");
    } else {
      try {
        print(put(state, change.query(), matching(before), draft));
      } catch (CommandFailure refused) {
        throw new CommandFailure(
            refused.exitCode(), refused.getMessage() + " Your text is kept in " + draft + ".");
      }
    }
    try {
      Files.deleteIfExists(draft);
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNREADABLE, draft + " stays: " + failed.getMessage());
    }
  }

  /** A file that had this text when the editor began. Only the user may read it. */
  private static Path edited(String text) throws CommandFailure {
    try {
      Path draft = Files.createTempFile("kamille-", ".yaml");
      Files.writeString(draft, text);
      // EDITOR may have arguments, as git reads it.
      Process editor =
          new ProcessBuilder("sh", "-c", editor() + " \"$1\"", "edit", draft.toString())
              .inheritIO()
              .start();
      if (editor.waitFor() != 0) {
        throw new CommandFailure(
            ExitCode.UNAVAILABLE, "the editor failed; your text is kept in " + draft);
      }
      return draft;
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNREADABLE, "no draft: " + failed.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailure(ExitCode.SIGNAL, "interrupted");
    }
  }

  private static String editor() {
    return Stream.of("VISUAL", "EDITOR")
        .map(System.getenv()::get)
        .filter(editor -> editor != null && !editor.isBlank())
        .findFirst()
        .orElse("vi");
  }

  @Command(description = "Read the file again, and those that it includes.")
  void reload(@Mixin StateOption state) throws CommandFailure {
    print(outcome(state.ask("POST", PATH + "/reload", Map.of("If-Match", "*"), null)));
  }

  @Command(description = "Put an older version in force again.")
  void rollback(
      @Mixin StateOption state,
      @Parameters(paramLabel = "VERSION", description = "As history shows it.") int version)
      throws CommandFailure {
    print(post(state, "/rollback", Map.of("to", version)));
  }

  @Command(description = "Keep what is on trial.")
  void keep(@Mixin StateOption state) throws CommandFailure {
    print(post(state, "/trial", Map.of("decision", "keep")));
  }

  @Command(description = "Go back from what is on trial.")
  void revert(@Mixin StateOption state) throws CommandFailure {
    print(post(state, "/trial", Map.of("decision", "revert")));
  }

  private static Reply running(StateOption state) throws CommandFailure {
    return state.successful("GET", PATH, YAML, null);
  }

  private static Map<String, String> matching(Reply running) {
    return Map.of("If-Match", String.valueOf(running.fields().get("etag")));
  }

  private JsonNode post(StateOption state, String target, Map<String, ?> content)
      throws CommandFailure {
    Map<String, String> fields = new LinkedHashMap<>(matching(running(state)));
    fields.put("Content-Type", "application/json");
    return outcome(state.ask("POST", PATH + target, fields, JSON.writeValueAsString(content)));
  }

  private JsonNode put(StateOption state, String query, Map<String, String> fields, Path file)
      throws CommandFailure {
    Map<String, String> all = new LinkedHashMap<>(fields);
    all.put("Content-Type", "application/yaml");
    Reply reply = state.ask("PUT", PATH + query, all, text(file));
    if (reply.status() != 422) {
      return outcome(reply);
    }
    // The process knows the text by the name of its own file.
    Path own = Path.of(state.json("GET", PATH, null).path("file").stringValue(""));
    return outcome(reply, name -> own.endsWith(name) ? file.toString() : name);
  }

  private JsonNode outcome(Reply reply) throws CommandFailure {
    return outcome(reply, name -> name);
  }

  /** Prints each problem of a text that is refused. */
  private JsonNode outcome(Reply reply, UnaryOperator<String> names) throws CommandFailure {
    if (reply.isSuccessful()) {
      return JSON.readTree(reply.content());
    }
    JsonNode errors = JSON.readTree(reply.content()).path("errors");
    failed(errors).forEach(err()::println);
    for (JsonNode error : errors.values()) {
      if (!error.has("node")) {
        err().println(problem(error, names));
      }
    }
    throw StateOption.refused(reply);
  }

  /** As {@code check} tells it. */
  private static Problem problem(JsonNode error, UnaryOperator<String> names) {
    String file = names.apply(error.path("file").stringValue(""));
    return new Problem(
        Problem.Mistake.valueOf(error.path("kind").stringValue("CONFLICT")),
        file,
        new Position(error.path("line").intValue(), error.path("column").intValue(), file),
        text(error, "pointer")
            .replaceFirst("^#/?", "")
            .replaceAll("/([0-9]+)(?=/|$)", "[$1]")
            .replace('/', '.'),
        text(error, "found"),
        text(error, "expected"),
        error.path("nearest").stringValue(null));
  }

  private static String text(Path file) throws CommandFailure {
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      throw new CommandFailure(ExitCode.UNREADABLE, file + " cannot be read");
    }
  }

  private void print(JsonNode outcome) throws CommandFailure {
    changes(outcome);
    List<String> failed = failed(outcome.path("nodes"));
    if (!failed.isEmpty()) {
      throw new CommandFailure(
          ExitCode.UNAVAILABLE,
          "change "
              + outcome.path("number").intValue()
              + " is not in force at "
              + String.join(", at ", failed)
              + ". These nodes try it every minute");
    }
    JsonNode deadline = outcome.path("trialDeadline");
    if (!deadline.isString() && outcome.path("version").intValue() == 0) {
      out().println("it runs");
      err()
          .println(
              "warning: its version cannot be kept, so no rollback finds it. The log says why.");
      return;
    }
    out()
        .println(
            deadline.isString()
                ? "on trial until " + seconds(deadline) + "; keep it: kamille config keep"
                : "version " + outcome.path("version").intValue() + " runs");
  }

  private static List<String> failed(JsonNode nodes) {
    return nodes.values().stream()
        .filter(node -> !text(node, "problem").isEmpty())
        .map(node -> text(node, "node") + ": " + node.path("problem").stringValue())
        .toList();
  }

  /** A time to the second: nobody waits for nanoseconds. */
  private static String seconds(JsonNode time) {
    return Instant.parse(time.stringValue()).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private void changes(JsonNode outcome) {
    for (JsonNode change : outcome.path("changes").values()) {
      out()
          .println(
              text(change, "path")
                  + ": "
                  + text(change, "before")
                  + " → "
                  + text(change, "after")
                  + (change.path("needsRestart").booleanValue(false) ? " (after a restart)" : ""));
    }
  }
}
