package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.Apache;
import io.kamille.perf.peer.Haproxy;
import io.kamille.perf.peer.Nginx;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.peer.Squid;
import io.kamille.perf.peer.TrafficServer;
import io.kamille.perf.peer.Varnish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The other servers that an experiment asks the same as Kamille. Confined. */
final class Opponents {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  /** Toward the origin, which thinks: more than any of the rates needs at once. */
  private static final int ORIGIN_CONNECTIONS = 4096;

  private static final List<Peer> KNOWN =
      List.of(
          new Nginx(),
          new Haproxy(),
          new Varnish(),
          new TrafficServer(),
          new Squid(),
          new Apache());

  /** What can be named. */
  static final Set<String> NAMES = KNOWN.stream().map(Peer::name).collect(Collectors.toSet());

  /** One that runs. */
  record Opponent(Peer peer, int port, Child process) implements AutoCloseable {

    /** What its meters say, its children's included. */
    PacedTarget.Reading read() throws IOException {
      return PacedTarget.Reading.ofAll(process);
    }

    @Override
    public void close() {
      process.stop();
    }
  }

  /**
   * How one is configured.
   *
   * @param text of the file it was started with
   */
  record Setup(String name, String version, String text) {}

  private final List<String> wanted;
  private final List<Setup> setups = new ArrayList<>();

  Opponents(List<String> wanted) {
    this.wanted = List.copyOf(wanted);
  }

  /** Those that are wanted and installed; a sentence for each of the others. */
  List<Peer> present(LabRun run) {
    var present = new ArrayList<Peer>();
    for (String name : wanted) {
      Peer peer = KNOWN.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
      String missing = peer.missing();
      if (missing != null) {
        run.note(name + " is left out: " + missing);
      } else {
        present.add(peer);
      }
    }
    return present;
  }

  /** How many are wanted, present or not. */
  int count() {
    return wanted.size();
  }

  /** Starts one as a cache in memory before that origin. */
  Opponent start(Workbench bench, Peer peer, int originPort, int connections) throws IOException {
    Path directory = bench.directory(peer.name());
    int port = Workbench.freePort();
    int allowed = connections + ORIGIN_CONNECTIONS;
    var place = new Place(Job.MIX, port, originPort, allowed, List.of());
    List<String> command = peer.prepare(directory, place);
    keep(peer, directory, command);
    Child process = bench.start(peer.name(), Core.SERVER, command);
    process.awaitListening(port, START_LIMIT);
    return new Opponent(peer, port, process);
  }

  /** The files that were written for it and that its command names, and the command itself. */
  synchronized void keep(Peer peer, Path directory, List<String> command) throws IOException {
    var text = new StringBuilder("# " + String.join(" ", command) + "\n");
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        text.append("# ").append(file.getFileName()).append('\n').append(Files.readString(file));
      }
    }
    setups.add(
        new Setup(
            peer.name(),
            peer.version(),
            text.toString()
                .replace(directory.toString(), "DIRECTORY")
                .replace(Checkout.find().root().toString(), "CHECKOUT")));
  }

  /** How those were configured that were started. Any thread. */
  synchronized List<Setup> setups() {
    return List.copyOf(setups);
  }
}
