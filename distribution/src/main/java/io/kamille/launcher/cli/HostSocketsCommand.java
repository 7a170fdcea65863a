package io.kamille.launcher.cli;

import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.hostsocket.AllowedAddresses;
import io.kamille.core.hostsocket.HostSocketServer;
import io.kamille.core.log.OperationalLog;
import io.kamille.core.setting.HostPort;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code kamille host-sockets}: the helper of a Kamille that has no network of its own. */
@Command(
    name = "host-sockets",
    hidden = true, // for sandboxes alone: docs/operations/run.md shows it
    customSynopsis = {
      "kamille host-sockets --socket FILE [--user NUMBER] --config FILE",
      "kamille host-sockets --socket FILE [--user NUMBER] --listen ADDRESS",
      "            --allow-origin ADDRESS"
    },
    description = {
      "Give sockets of this host to a Kamille without a network.",
      "",
      "It runs in a network namespace without interfaces, and its setting host-sockets",
      "names the same FILE. It may listen on the listeners of the configuration and",
      "connect to its origins, and nowhere else."
    },
    footer = {
      "",
      "Examples:",
      "  kamille host-sockets --socket /run/kamille-host/socket --config /etc/kamille/kamille.yaml",
      "  unshare --net kamille run --config /etc/kamille/kamille.yaml"
    })
final class HostSocketsCommand extends Subcommand implements Callable<Integer> {

  @Option(
      names = "--socket",
      paramLabel = "FILE",
      required = true,
      description = "Where to be asked for sockets.")
  private Path socket = Path.of("");

  @Option(
      names = "--user",
      paramLabel = "NUMBER",
      description = "The user that may ask, besides root and the user of this process.")
  private int user = -1;

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      description = "The configuration with the listeners and origins that are allowed.")
  private @Nullable Path file;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      description = "An address to listen on, as in the configuration. More than once for more.")
  private List<String> listeners = List.of();

  @Option(
      names = "--allow-origin",
      paramLabel = "ADDRESS",
      description = "An origin to connect to, HOST:PORT. More than once for more.")
  private List<String> origins = List.of();

  @Override
  public Integer call() throws CommandFailure, InterruptedException {
    List<HostPort> listen = new ArrayList<>(addresses("--listen", listeners));
    List<HostPort> connect = new ArrayList<>(addresses("--allow-origin", origins));
    if (file != null) {
      Configuration configuration = Running.accepted(ConfigurationFile.read(file), err());
      configuration.listeners().stream().map(ListenerSettings::address).forEach(listen::add);
      configuration.upstreams().values().stream()
          .flatMap(group -> group.origins().stream())
          .map(origin -> origin.url().address())
          .forEach(connect::add);
    }
    if (listen.isEmpty() && connect.isEmpty()) {
      throw misuse("nothing is allowed: give --config, or --listen and --allow-origin");
    }
    return serve(listen, connect);
  }

  private Integer serve(List<HostPort> listen, List<HostPort> connect)
      throws CommandFailure, InterruptedException {
    CountDownLatch toldToStop = Running.stopSignal();
    OperationalLog.install(Level.INFO);
    try (AllowedAddresses allowed = AllowedAddresses.of(listen, connect);
        HostSocketServer server = HostSocketServer.open(socket, user, allowed)) {
      err().println("sockets at " + server.path());
      err().flush();
      toldToStop.await();
    } catch (IOException failed) {
      throw new CommandFailure(ExitCode.UNAVAILABLE, "cannot give sockets: " + failed.getMessage());
    }
    return ExitCode.OK;
  }

  private List<HostPort> addresses(String option, List<String> texts) {
    List<HostPort> addresses = new ArrayList<>();
    for (String text : texts) {
      HostPort address = HostPort.parse(text);
      if (address == null) {
        throw misuse(option + " " + text + ": expected an address such as 127.0.0.1:8080");
      }
      addresses.add(address);
    }
    return addresses;
  }
}
