package io.kamille.launcher.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kamille version}. */
@Command(name = "version", description = "Print the version and what it runs on.")
final class VersionCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    CommandLine line = spec.commandLine();
    for (String text : new Version().getVersion()) {
      line.getOut().println(text);
    }
  }
}
