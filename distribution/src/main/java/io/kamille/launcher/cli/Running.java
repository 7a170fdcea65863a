package io.kamille.launcher.cli;

import io.kamille.admin.api.Operation;
import io.kamille.core.log.OperationalLog;
import io.kamille.core.setting.Problem;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.Machine;
import io.kamille.launcher.appliance.StartFailure;
import io.kamille.launcher.appliance.StateLock;
import io.kamille.launcher.chain.RequestTests;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.service.Inheritance;
import io.kamille.launcher.service.Service;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

/** What all commands that run an appliance share: reading, starting and signals. */
final class Running {

  private static final System.Logger LOG = System.getLogger("kamille.configuration");

  private Running() {}

  /** The configuration, if it was accepted; else prints all problems and fails. */
  static Configuration accepted(ConfigurationReading reading, PrintWriter err)
      throws CommandFailure {
    // Not a switch over types, which has a bootstrap method that each start would run.
    if (reading instanceof ConfigurationReading.Refused refused) {
      refused.problems().forEach(err::println);
      boolean unreadable =
          refused.problems().stream().allMatch(p -> p.kind() == Problem.Mistake.UNREADABLE);
      int count = refused.problems().size();
      throw new CommandFailure(
          unreadable ? ExitCode.UNREADABLE : ExitCode.CONFIGURATION,
          count == 1 ? "1 problem" : count + " problems");
    }
    return ((ConfigurationReading.Accepted) reading).configuration();
  }

  /**
   * The proxy, from its start until it is told to stop.
   *
   * @param versions its configuration, which may be refused, to be read again at SIGHUP
   * @return the {@link ExitCode}
   */
  static int run(VersionedFile versions, PrintWriter err)
      throws CommandFailure, StartFailure, InterruptedException {
    Configuration configuration = accepted(versions.reading(), err);
    Path file = versions.file();
    CountDownLatch toldToStop = stopSignal();
    try (Service service = new Service(toldToStop);
        StateLock _ =
            StateLock.take(
                service.inheritance().isFromPredecessor(),
                configuration.admin().address().isPresent());
        versions;
        Appliance appliance =
            Appliance.start(
                configuration,
                Version.number(),
                service.inheritance(),
                versions::resources,
                Machine.HERE)) {
      Signals.on("USR1", appliance::reopenLogs);
      // Without a file, only a terminal that is gone sends it.
      Signals.on(
          "HUP",
          file == null
              ? toldToStop::countDown
              : () -> service.reload(() -> versions.reload(appliance)));
      appliance.listening().forEach(address -> err.println("listening on " + address));
      appliance.adminListening().ifPresent(address -> err.println("admin on " + address));
      err.flush();
      service.serve(appliance.eventLoops(), appliance.incumbent());
      RequestTests.failed(configuration, String.valueOf(file))
          .forEach(failed -> LOG.log(Level.WARNING, "a test fails: {0}", failed));
      toldToStop.await();
      service.stop(appliance.stopLimit());
      if (service.isSucceeded()) {
        appliance.drainBehindSuccessor();
      } else {
        appliance.stopBeingReady();
        appliance.drain();
      }
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNAVAILABLE, "cannot take over: " + failed.getMessage());
    }
    return ExitCode.OK;
  }

  /** Starts one that takes nobody's place. */
  static Appliance start(
      Configuration configuration, Function<Appliance, List<Operation>> resources)
      throws StartFailure {
    return Appliance.start(
        configuration, Version.number(), Inheritance.none(), resources, Machine.HERE);
  }

  /**
   * Listens for SIGTERM and SIGINT; the first opens the latch, a second one ends the process at
   * once; neither waits for who reads standard error. To be called before anything is printed:
   * whoever has read a line may send a signal.
   */
  static CountDownLatch stopSignal() {
    OperationalLog.begin();
    CountDownLatch told = new CountDownLatch(1);
    Runnable stop =
        () -> {
          if (told.getCount() == 0) {
            Runtime.getRuntime().halt(ExitCode.SIGNAL);
          }
          told.countDown();
        };
    Signals.on("TERM", stop);
    Signals.on("INT", stop);
    return told;
  }
}
