package io.kamille.launcher.cli;

import java.io.PrintWriter;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ScopeType;
import tools.jackson.databind.JsonNode;

/** {@code kamille}: the command line as a whole. */
@Command(
    name = "kamille",
    description = "A caching reverse proxy.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    scope = ScopeType.INHERIT,
    versionProvider = Version.class,
    subcommands = {
      RunCommand.class,
      CheckCommand.class,
      ConfigCommand.class,
      ExplainCommand.class,
      PurgeCommand.class,
      TopCommand.class,
      WarmCommand.class,
      UpgradeCommand.class,
      HostSocketsCommand.class,
      AcmeCommand.class,
      ClusterCommand.class,
      DoctorCommand.class,
      DemoCommand.class,
      TokenCommand.class,
      AuditCommand.class,
      Version.class,
      HelpCommand.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, or told to stop and stopped",
      "64:words on the command line that mean nothing",
      "66:a file that cannot be read or written",
      "69:an address that is taken, no JDK 25, a Kamille that does not run or refuses, or a"
          + " failure",
      "70:a fault of ours",
      "71:too little memory or too few file descriptors",
      "78:a configuration with problems",
      "130:a second SIGTERM or SIGINT"
    })
public final class KamilleCommand extends Subcommand {

  /** The commands of every day; the rare ones stand behind them. */
  private static final List<String> COMMON =
      List.of(
          "run", "check", "config", "explain", "purge", "warm", "top", "upgrade", "doctor", "login",
          "token", "demo");

  private static final List<String> RARE =
      List.of("acme", "audit", "cluster", "version", "completion");

  private KamilleCommand() {}

  /** Runs a command line; returns the {@link ExitCode}. */
  public static int execute(String... arguments) {
    return commandLine().execute(arguments);
  }

  static CommandLine commandLine() {
    CommandLine line = new CommandLine(new KamilleCommand());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setParameterExceptionHandler(KamilleCommand::misunderstood);
    line.setExecutionExceptionHandler(KamilleCommand::failed);
    line.getCommandSpec().exitCodeOnInvalidInput(ExitCode.USAGE);
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, _ -> "");
    line.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, KamilleCommand::groups);
    return line;
  }

  @Command(
      name = "login",
      description = "Print a link that signs a browser in, once, within a minute.")
  void login(@Mixin StateOption state) throws CommandFailure {
    JsonNode code = state.json("POST", "/v1/session/codes", null);
    URI link = URI.create(code.path("url").stringValue(""));
    out().println(link);
    out().flush();
    err().println("It works once, within a minute.");
    if ("127.0.0.1".equals(link.getHost())) {
      String ports = link.getPort() + ":127.0.0.1:" + link.getPort();
      err().println("If your browser is on another machine, run there: ssh -L " + ports + " HOST");
    }
  }

  @Command(
      name = "completion",
      description = {
        "Print a completion script for bash and zsh.",
        "Use it by: source <(kamille completion)"
      })
  void completion() {
    out().print(AutoComplete.bash("kamille", spec().commandLine()));
    out().flush();
  }

  private static String groups(Help help) {
    return group("Commands:", COMMON, help) + group("Rare commands:", RARE, help);
  }

  private static String group(String heading, List<String> names, Help help) {
    StringBuilder lines = new StringBuilder(heading + "\n");
    for (String name : names) {
      Help command = Objects.requireNonNull(help.subcommands().get(name));
      String description = command.commandSpec().usageMessage().description()[0];
      lines.append(String.format(Locale.ROOT, "  %-14s%s%n", name, description));
    }
    return lines.toString();
  }

  private static int misunderstood(CommandLine.ParameterException trouble, String[] arguments) {
    CommandLine line = trouble.getCommandLine();
    PrintWriter err = line.getErr();
    err.println("kamille: " + sentence(trouble));
    if (!CommandLine.UnmatchedArgumentException.printSuggestions(trouble, err)) {
      err.println("Try: " + line.getCommandSpec().qualifiedName() + " --help");
    }
    return ExitCode.USAGE;
  }

  /** Names unknown options alone: what stands behind one may be its value. */
  private static String sentence(CommandLine.ParameterException trouble) {
    if (trouble instanceof CommandLine.UnmatchedArgumentException unmatched) {
      List<String> options =
          unmatched.getUnmatched().stream().filter(word -> word.startsWith("-")).toList();
      if (!options.isEmpty()) {
        return (options.size() == 1 ? "unknown option " : "unknown options ")
            + String.join(", ", options);
      }
    }
    return String.valueOf(trouble.getMessage());
  }

  private static int failed(
      Exception trouble, CommandLine line, CommandLine.ParseResult arguments) {
    return CommandFailure.report(trouble, line.getErr());
  }
}
