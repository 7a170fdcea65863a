package io.kamille.launcher;

import io.kamille.launcher.cli.KamilleCommand;

/** Where the process begins. */
public final class Main {

  private Main() {}

  /**
   * Runs the command line and exits with what it says ({@link io.kamille.launcher.cli.ExitCode}).
   */
  public static void main(String[] arguments) {
    System.exit(KamilleCommand.execute(arguments));
  }
}
