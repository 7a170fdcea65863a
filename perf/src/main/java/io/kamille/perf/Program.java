package io.kamille.perf;

import java.io.IOException;
import java.nio.file.FileSystemException;
import picocli.CommandLine;

/** How the programs of this module read their command line, and how they fail. */
public final class Program {

  private static final int USAGE = 64;
  private static final int UNAVAILABLE = 69;

  private Program() {}

  /** Runs what the words say; ends the process with a status of sysexits(3) if that fails. */
  public static void run(CommandLine program, String... words) {
    program.setParameterExceptionHandler(
        (wrong, all) -> {
          System.err.println(program.getCommandName() + ": " + wrong.getMessage());
          return USAGE;
        });
    program.setExecutionExceptionHandler(
        (thrown, command, parsed) -> {
          if (!(thrown instanceof IOException failed)) {
            throw thrown;
          }
          System.err.println(program.getCommandName() + ": " + sentence(failed));
          return UNAVAILABLE;
        });
    int status = program.execute(words);
    if (status != 0) {
      System.exit(status);
    }
  }

  /** What went wrong, for people: of a file, the message alone is its name. */
  public static String sentence(IOException why) {
    return why instanceof FileSystemException ? why.toString() : String.valueOf(why.getMessage());
  }
}
