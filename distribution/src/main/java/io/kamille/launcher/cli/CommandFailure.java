package io.kamille.launcher.cli;

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
}
