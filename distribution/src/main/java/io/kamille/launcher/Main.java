package io.kamille.launcher;

import io.kamille.core.log.OperationalLog;
import io.kamille.launcher.cli.KamilleCommand;
import io.kamille.launcher.cli.ServiceCommand;
import io.kamille.launcher.cli.Signals;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Where the process begins. */
public final class Main {

  private Main() {}

  /**
   * Runs the command line and exits with what it says ({@link io.kamille.launcher.cli.ExitCode}).
   */
  public static void main(String[] arguments) {
    System.setProperty("java.util.logging.manager", OperationalLog.Manager.class.getName());
    if (arguments.length > 0 && arguments[0].equals("run")) {
      Signals.hold("HUP", "USR1");
    }
    nameChannels();
    System.setErr(OperationalLog.standardError());
    int exitCode =
        ServiceCommand.execute(arguments).orElseGet(() -> KamilleCommand.execute(arguments));
    OperationalLog.finish();
    System.exit(exitCode);
  }

  /**
   * Netty would look through all network interfaces for what makes the names of its channels unique
   * in the world; a number by chance does.
   */
  private static void nameChannels() {
    byte[] machine = new byte[8];
    new SecureRandom().nextBytes(machine);
    System.setProperty("io.netty.machineId", HexFormat.ofDelimiter(":").formatHex(machine));
    System.setProperty("io.netty.processId", Integer.toString((int) ProcessHandle.current().pid()));
  }
}
