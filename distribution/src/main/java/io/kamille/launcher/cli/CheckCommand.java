package io.kamille.launcher.cli;

import io.kamille.cache.memory.Folios;
import io.kamille.core.origin.UpstreamGroup;
import io.kamille.core.origin.names.OriginFile;
import io.kamille.core.setting.Problem;
import io.kamille.core.tls.TlsSettings.CertificateFiles;
import io.kamille.launcher.appliance.Preflight;
import io.kamille.launcher.chain.RequestTests;
import io.kamille.launcher.chain.RouteStations;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.configuration.RouteSettings;
import io.kamille.launcher.configuration.RoutesByHost;
import io.kamille.launcher.configuration.Shadows;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code kamille check}: reads a configuration and says all that is wrong with it, or has no
 * effect.
 */
@Command(name = "check", description = "Name every problem of a configuration file with its place.")
final class CheckCommand extends Subcommand implements Callable<Integer> {

  private static final int KIB = 1024;

  @Option(
      names = {"-c", "--config"},
      paramLabel = "FILE",
      required = true,
      description = "The configuration file.")
  private Path file = Path.of("");

  @Option(
      names = {"-v", "--verbose"},
      description = "Print the stations of each route, in the order in which requests meet them.")
  private boolean isVerbose;

  @Override
  public Integer call() throws CommandFailure {
    Configuration configuration = check(file, out(), err());
    if (isVerbose) {
      out().println("memory: pages of " + Folios.bytes(Path.of("/")) / KIB + " KiB");
      for (RouteSettings route : configuration.routes()) {
        String name = RoutesByHost.nameOf(route);
        out().println(name + ": PURGE → route → " + RouteStations.describe(route, configuration));
      }
    }
    return ExitCode.OK;
  }

  /** Says that the file has no problems, and what goes first; or fails with all of them printed. */
  static Configuration check(Path file, PrintWriter out, PrintWriter err) throws CommandFailure {
    Configuration configuration = Running.accepted(ConfigurationFile.read(file), err);
    List<Problem> problems = new ArrayList<>();
    configuration
        .upstreams()
        .forEach((name, upstream) -> problems.addAll(ofOriginsFile(name, upstream, err)));
    problems.addAll(RequestTests.failed(configuration, file.toString()));
    if (!problems.isEmpty()) {
      Running.accepted(new ConfigurationReading.Refused(problems), err);
    }
    configuration.warnings().forEach(out::println);
    configuration.certificates().forEach(files -> warnIfOutOfTime(files, out));
    String advice = Preflight.here().advice(configuration);
    if (advice != null) {
      out.println("here, " + advice);
    }
    Shadows.of(file.toString(), configuration).forEach(out::println);
    if (!configuration.orderedNames().isEmpty()) {
      out.println("certificates: ordered for " + String.join(", ", configuration.orderedNames()));
    }
    int tests = configuration.tests().size();
    out.println(file + ": no problems" + (tests == 0 ? "" : ", tests passed: " + tests));
    return configuration;
  }

  /** It is no problem for a start, and one for each client, or origin that asks. */
  private static void warnIfOutOfTime(CertificateFiles files, PrintWriter out) {
    try {
      String trouble = files.read().trouble(Instant.now());
      if (trouble != null) {
        out.println("warning: " + files.chain() + ": " + trouble);
      }
    } catch (IOException gone) {
      // It was there a moment ago, when it was read.
    }
  }

  /** One that is not there may come at any time: that is said, and is no problem. */
  private static List<Problem> ofOriginsFile(String name, UpstreamGroup upstream, PrintWriter err) {
    Path origins = upstream.originsFile();
    if (origins == null) {
      return List.of();
    }
    List<Problem> problems = OriginFile.problems(origins, upstream.settings().protocol());
    if (!Files.notExists(origins)) {
      return problems;
    }
    problems.forEach(problem -> err.println(problem + "; it gives " + name + " no origins yet"));
    return List.of();
  }
}
