package io.kamille.launcher.cli;

import io.kamille.launcher.appliance.StartFailure;
import java.io.PrintWriter;

/** A command that cannot do what it was asked, with one sentence for the operator. */
final class CommandFailure extends Exception {

  private static final long serialVersionUID = 1L;

  private final int exitCode;

  CommandFailure(int exitCode, String sentence) {
    super(sentence);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }

  /** Prints why a command failed, whatever it threw; returns its {@link ExitCode}. */
  static int report(Exception trouble, PrintWriter err) {
    if (trouble instanceof CommandFailure failure) {
      err.println("kamille: " + failure.getMessage());
      return failure.exitCode();
    }
    if (trouble instanceof StartFailure failure) {
      err.println("kamille: " + failure.getMessage());
      return switch (failure.kind()) {
        case ADDRESS -> ExitCode.UNAVAILABLE;
        case SYSTEM -> ExitCode.SYSTEM;
        case FILE -> ExitCode.UNREADABLE;
      };
    }
    err.println("kamille: a fault of ours; please report it:");
    trouble.printStackTrace(err);
    return ExitCode.FAULT;
  }
}
