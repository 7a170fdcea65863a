package io.kamille.launcher.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The pages of {@code man(1)}, one for each command, from the model of the command line. */
public final class ManualPages {

  /** The column of an option's table that picocli prints last. */
  private static final int DESCRIPTION = 4;

  private final StringBuilder page = new StringBuilder();

  private ManualPages() {}

  /**
   * Writes the pages.
   *
   * @param words the directory, and the date that the pages carry
   * @throws IOException if one cannot be written
   */
  public static void main(String[] words) throws IOException {
    Path directory = Path.of(words[0]);
    CommandLine kamille = KamilleCommand.commandLine();
    write(directory, kamille, words[1]);
    for (CommandLine command : kamille.getSubcommands().values()) {
      if (!command.getCommandName().equals("help")) {
        write(directory, command, words[1]);
      }
    }
  }

  private static void write(Path directory, CommandLine command, String date) throws IOException {
    String name = command.getCommandSpec().qualifiedName("-");
    Files.writeString(directory.resolve(name + ".1"), of(command, date), StandardCharsets.UTF_8);
  }

  /** The page of one command, as roff. */
  static String of(CommandLine command, String date) {
    return new ManualPages().page(command.getCommandSpec(), command.getHelp(), date);
  }

  private String page(CommandSpec command, Help help, String date) {
    String name = command.qualifiedName("-");
    List<String> description = List.of(command.usageMessage().description());
    page.append(
        String.join(
            " ", ".TH", name.toUpperCase(Locale.ROOT), "1", date, "\"Kamille", Version.number()));
    page.append("\"\n");
    section("NAME", name + " - " + String.join(" ", description));
    page.append(".SH SYNOPSIS\n.nf\n").append(text(help.synopsis(0))).append(".fi\n");
    section("DESCRIPTION", String.join("\n", description));
    page.append(".SH OPTIONS\n");
    command.options().forEach(option -> option(help, option));
    if (command.subcommands().size() > 1) {
      page.append(".SH COMMANDS\n");
      command.subcommands().forEach((word, line) -> subcommand(word, line.getCommandSpec()));
    }
    if (!command.usageMessage().exitCodeList().isEmpty()) {
      page.append(".SH EXIT STATUS\n");
      command.usageMessage().exitCodeList().forEach(this::item);
    }
    String footer = String.join("\n", command.usageMessage().footer());
    if (!footer.isBlank()) {
      page.append(".SH NOTES\n.nf\n").append(text(footer.strip())).append("\n.fi\n");
    }
    if (command.parent() != null) {
      page.append(".SH SEE ALSO\n.BR kamille (1)\n");
    }
    return page.toString();
  }

  private void section(String title, String content) {
    page.append(".SH ").append(title).append('\n').append(text(content)).append('\n');
  }

  private void option(Help help, OptionSpec option) {
    if (option.hidden()) {
      return;
    }
    String value = option.arity().max() == 0 ? "" : " " + option.paramLabel();
    String description =
        Stream.of(
                help.createDefaultOptionRenderer()
                    .render(option, help.parameterLabelRenderer(), help.colorScheme()))
            .map(row -> row[DESCRIPTION].toString())
            .collect(Collectors.joining(" "));
    item(String.join(", ", option.names()) + value, description);
  }

  private void subcommand(String word, CommandSpec command) {
    item(word, String.join(" ", command.usageMessage().description()));
  }

  private void item(String term, String content) {
    page.append(".TP\n.B ").append(text(term)).append('\n').append(text(content)).append('\n');
  }

  /**
   * Hyphens and backslashes stay what they are; no line begins with what roff takes for a request.
   */
  private static String text(String content) {
    return Ansi.OFF
        .string(content.replace("%n", "\n").replace("%%", "%"))
        .replace("\\", "\\e")
        .replace("-", "\\-")
        .replaceAll("(?m)^(?=[.'])", "\\\\&");
  }
}
