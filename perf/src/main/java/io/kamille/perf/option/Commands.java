package io.kamille.perf.option;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The commands of a program: found by name and explained.
 *
 * @param program the word behind {@code ./dev}
 */
public record Commands(String program, List<Command> all) {

  private static final int USAGE = 64;
  private static final int UNAVAILABLE = 69;
  private static final Set<String> HELP = Set.of("-h", "--help", "help");

  /** What a program does. */
  @FunctionalInterface
  public interface Action {

    /** Does it. */
    void run() throws IOException, InterruptedException;
  }

  /** Whether that line asks for help and nothing else. */
  public static boolean asksForHelp(List<String> words) {
    return words.isEmpty() || HELP.contains(words.getFirst());
  }

  /** Does it; ends the process with a sentence and a status of sysexits(3) if that fails. */
  public static void orFail(String program, Action action) throws InterruptedException {
    try {
      action.run();
    } catch (IllegalArgumentException e) {
      fail(program, USAGE, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      fail(program, UNAVAILABLE, sentence(e));
    }
  }

  private static void fail(String program, int status, String why) {
    System.err.println(program + ": " + why);
    System.exit(status);
  }

  /**
   * What went wrong. An exception of the file system says the file's name alone, or little more.
   */
  public static String sentence(IOException why) {
    return switch (why) {
      case NoSuchFileException missing -> missing.getFile() + ": no file of this name";
      case AccessDeniedException denied -> denied.getFile() + ": access is denied";
      case FileAlreadyExistsException there -> there.getFile() + ": there is a file of this name";
      case FileSystemException other when other.getReason() == null ->
          other.getFile() + ": cannot be read or written";
      default -> String.valueOf(why.getMessage());
    };
  }

  /** The command of that name. */
  public Optional<Command> named(String name) {
    return all.stream().filter(command -> command.name().equals(name)).findFirst();
  }

  /**
   * Runs the command that the first word names with the others.
   *
   * @throws IllegalArgumentException if there is none of that name, or a word is not understood
   */
  public void run(List<String> words) throws IOException, InterruptedException {
    Command command =
        named(words.getFirst())
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "unknown: "
                            + words.getFirst()
                            + " (expected: "
                            + all.stream().map(Command::name).collect(Collectors.joining(", "))
                            + ")"));
    command.run(words.subList(1, words.size()));
  }

  /** A line for each command, and the options that they have. */
  public String help() {
    var text = new StringBuilder();
    for (Command command : all) {
      text.append(
          String.format(
              Locale.ROOT, "./dev %s %-9s %s%n", program, command.name(), command.help()));
    }
    for (Options options : all.stream().map(Command::options).distinct().toList()) {
      if (!options.help().isEmpty()) {
        text.append("\nOptions of ").append(names(options)).append(":\n");
        text.append(options.help().indent(2));
      }
    }
    return text.toString();
  }

  private String names(Options options) {
    return all.stream()
        .filter(command -> command.options().equals(options))
        .map(Command::name)
        .collect(Collectors.joining(", "));
  }
}
