package io.kamille.launcher.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code kamille login}: a link that signs a browser in. */
@Command(
    name = "login",
    description = "Print a link that signs a browser in, once, within a minute.")
final class LoginCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private StateOption state = new StateOption();

  @Override
  public Integer call() throws CommandFailure {
    PrintWriter out = spec.commandLine().getOut();
    out.println(state.json("POST", "/v1/session/codes", null).path("url").stringValue(""));
    return ExitCode.OK;
  }
}
