package io.kamille.launcher.cli;

import io.kamille.cluster.current.Report;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.setting.HostPort;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.cli.ClusterCommand.Init;
import io.kamille.launcher.cli.ClusterCommand.UpgradeCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** {@code kamille cluster}: several nodes as one cache. */
@Command(
    name = "cluster",
    description = "Make the files of a cluster, and ask it before an upgrade.",
    subcommands = {Init.class, UpgradeCheck.class})
final class ClusterCommand {

  private ClusterCommand() {}

  /** {@code kamille cluster init}: certificates, a secret and a part of each configuration. */
  @Command(
      name = "init",
      description = {
        "Make certificates, a secret and the part cluster of the configuration of each node.",
        "With the directory of an earlier run, the nodes join that cluster."
      },
      footer = {
        "",
        "Example:",
        "  kamille cluster init --name shop --directory /etc/kamille/cluster \\",
        "      a=10.0.0.1 b=10.0.0.2 c=10.0.0.3"
      })
  static final class Init extends Subcommand implements Callable<Integer> {

    @Option(
        names = "--name",
        paramLabel = "NAME",
        required = true,
        description = "The name of the cluster.")
    private String name = "";

    @Option(
        names = "--directory",
        paramLabel = "DIR",
        required = true,
        description = "Where the files go, here and on each node.")
    private Path directory = Path.of("");

    @Option(
        names = "--port",
        paramLabel = "PORT",
        defaultValue = "7800",
        description = "Where nodes reach one another (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(
        names = "--peer-port",
        paramLabel = "PORT",
        defaultValue = "7801",
        description = "Where they ask for responses (default: ${DEFAULT-VALUE}).")
    private int peerPort;

    @Parameters(
        paramLabel = "NODE=HOST",
        arity = "1..*",
        description = "The name of each node, and its host name or IP address.")
    private List<String> nodes = List.of();

    @Override
    public Integer call() throws CommandFailure {
      if (ClusterSettings.NAME.type().parse(name) == null) {
        throw misuse("--name: " + name + " (expected: at most 64 letters, digits and -_.)");
      }
      List<ClusterFiles.Node> parsed = new ArrayList<>();
      for (String node : nodes) {
        parsed.add(parse(node));
      }
      ClusterFiles files = new ClusterFiles(directory.toAbsolutePath().normalize(), name);
      try {
        List<String> voters = files.write(parsed, Instant.now());
        parsed.forEach(node -> out().println(files.file(node.name() + ".yaml")));
        out().println("voters: " + String.join(", ", voters));
        if (voters.size() == 1 && parsed.size() > 1) {
          err()
              .println(
                  "note: if "
                      + voters.getFirst()
                      + " is away, all nodes are cut off. With three nodes, any one may be away");
        }
      } catch (IOException failed) {
        throw new CommandFailure(ExitCode.UNREADABLE, String.valueOf(failed.getMessage()));
      }
      return ExitCode.OK;
    }

    private ClusterFiles.Node parse(String text) {
      String[] parts = text.split("=", 2);
      String host = parts.length < 2 ? null : HostPort.hostOf(parts[1]);
      // An IP address would be one in its certificate, too.
      boolean isName =
          parts[0].length() <= 64
              && parts[0].matches("(?i)[a-z0-9]+(-+[a-z0-9]+)*(\\.[a-z0-9]+(-+[a-z0-9]+)*)*")
              && !ServerCertificate.isAddress(parts[0]);
      if (host == null || !isName || new HostPort(host, port).isWildcard()) {
        throw misuse(
            text
                + " (expected: NODE=HOST, such as a=10.0.0.1, a=[2001:db8::1] or a=a.example.org."
                + " NODE is a host name of at most 64 characters, and no address)");
      }
      return new ClusterFiles.Node(
          parts[0], new HostPort(host, port), new HostPort(host, peerPort));
    }
  }

  /** {@code kamille cluster upgrade-check}: may the nodes be given this version? */
  @Command(
      name = "upgrade-check",
      description = {
        "Say whether the nodes may be given the version of this command, one after the other.",
        "If one is away or cannot work with it, the exit code is 69."
      })
  static final class UpgradeCheck extends LocalCommand {

    @Override
    JsonNode answer() throws CommandFailure {
      return get("/v1/cluster");
    }

    @Override
    List<String> words(JsonNode cluster) {
      List<String> lines = new ArrayList<>();
      for (JsonNode node : cluster.path("members")) {
        lines.add(
            String.format(
                Locale.ROOT,
                "%s  %s  version %s  level %s",
                text(node, "node"),
                text(node, "state"),
                text(node, "version"),
                text(node, "level")));
      }
      if (objections(cluster, Report.OLDEST_LEVEL, Report.LEVEL).isEmpty()) {
        lines.add("version " + Version.number() + " may come, to one node after the other");
      }
      return lines;
    }

    @Override
    void check(JsonNode cluster) throws CommandFailure {
      List<String> objections = objections(cluster, Report.OLDEST_LEVEL, Report.LEVEL);
      if (!objections.isEmpty()) {
        throw new CommandFailure(
            ExitCode.UNAVAILABLE, "upgrade no node: " + String.join(", ", objections));
      }
    }

    /**
     * Why no node may be given a version.
     *
     * @param cluster as a node sees it
     * @param oldest the oldest level that the version works with
     * @param level its own
     */
    static List<String> objections(JsonNode cluster, int oldest, int level) {
      List<String> all = new ArrayList<>();
      if (!cluster.path("quorum").booleanValue(false)) {
        all.add("there is no majority of the voters");
      }
      int written = cluster.path("level").intValue(0);
      if (written > level) {
        all.add(
            "the log may have entries of level " + written + " (expected: at most " + level + ")");
      }
      for (JsonNode node : cluster.path("members")) {
        String name = text(node, "node");
        int spoken = node.path("level").intValue(0);
        if (!text(node, "state").equals("member")) {
          all.add(name + " is " + text(node, "state"));
        } else if (!node.path("current").booleanValue(false)) {
          all.add(name + " is not current");
        } else if (node.path("diverged").booleanValue(false)) {
          all.add(name + " has diverged");
        } else if (spoken < oldest) {
          all.add(name + " is of level " + spoken + " (expected: at least " + oldest + ")");
        }
      }
      return all;
    }
  }
}
