package io.kamille.launcher.cli;

import io.kamille.launcher.configuration.ConfigurationOptions;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;

/** {@code run} and {@code check}, the commands of a service manager, without picocli. */
public final class ServiceCommand {

  /*
   * Picocli builds its model by reflection, which takes longer than all the rest of a start. So a
   * line that is certainly a good run or check is understood here. Every other line, with a mistake
   * or a call for help in it, is picocli's: there is one place for messages.
   */
  private static final String CONFIG = "--config";
  private static final String LISTEN = "--listen";
  private static final String ORIGIN = "--origin";
  private static final List<String> WORDS =
      List.of(LISTEN, ORIGIN, "--admin", "--memory", "--loops", "--pacing", "--tls");

  private ServiceCommand() {}

  /** The {@link ExitCode} of the command, or empty if the line is not certainly one of these. */
  public static OptionalInt execute(String... line) {
    Optional<Map<String, String>> options = options(line);
    return options.isEmpty() ? OptionalInt.empty() : execute(line[0], options.get());
  }

  private static OptionalInt execute(String command, Map<String, String> options) {
    String file = options.get(CONFIG);
    boolean isFileAlone = file != null && options.size() == 1;
    PrintWriter err = new PrintWriter(System.err, true, Charset.defaultCharset());
    if (isFileAlone && command.equals("check")) {
      PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());
      return exitCode(
          err,
          () -> {
            CheckCommand.check(Path.of(file), out, err);
            return ExitCode.OK;
          });
    }
    if (isFileAlone && command.equals("run")) {
      Path path = Path.of(file);
      return exitCode(err, () -> Running.run(new VersionedFile(path), err));
    }
    boolean isByWords = file == null && options.containsKey(LISTEN) && options.containsKey(ORIGIN);
    return isByWords && command.equals("run")
        ? exitCode(
            err, () -> Running.run(new VersionedFile(ConfigurationOptions.parse(options)), err))
        : OptionalInt.empty();
  }

  private static OptionalInt exitCode(PrintWriter err, Callable<Integer> command) {
    try {
      return OptionalInt.of(command.call());
    } catch (Exception trouble) {
      return OptionalInt.of(CommandFailure.report(trouble, err));
    }
  }

  /** Options with their values, or empty if anything is unknown, missing or said twice. */
  private static Optional<Map<String, String>> options(String... line) {
    Map<String, String> options = new HashMap<>();
    for (int i = 1; i < line.length; i++) {
      int equals = line[i].startsWith("--") ? line[i].indexOf('=') : -1;
      String name = equals < 0 ? line[i] : line[i].substring(0, equals);
      name = name.equals("-c") ? CONFIG : name;
      boolean isKnown = name.equals(CONFIG) || WORDS.contains(name);
      if (!isKnown || (equals < 0 && ++i == line.length)) {
        return Optional.empty();
      }
      String value = equals < 0 ? line[i] : line[i].substring(equals + 1);
      if (value.isEmpty() || value.startsWith("-") || options.put(name, value) != null) {
        return Optional.empty();
      }
    }
    return options.isEmpty() ? Optional.empty() : Optional.of(options);
  }
}
