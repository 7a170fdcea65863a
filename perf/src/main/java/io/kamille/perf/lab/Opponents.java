package io.kamille.perf.lab;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.report.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** The other servers that an experiment asks the same as Kamille. */
final class Opponents {

  /** What can be named. */
  static final List<String> NAMES = Peer.others().stream().map(Peer::name).toList();

  private final List<Peer> wanted;
  private final List<Setup> setups = new CopyOnWriteArrayList<>();

  /**
   * How one is configured.
   *
   * @param text of the files it was started with, and its command
   */
  private record Setup(Peer peer, String text) {}

  Opponents(List<String> wanted) {
    this.wanted = Peer.others().stream().filter(peer -> wanted.contains(peer.name())).toList();
  }

  /** All that are wanted, installed or not. */
  List<Peer> wanted() {
    return wanted;
  }

  /** Whether it is installed; says in a sentence what is missing if not. */
  static boolean isPresent(Peer peer, LabRun run) {
    String missing = peer.missing();
    if (missing != null) {
      run.note(peer.name() + " is left out: " + missing);
    }
    return missing == null;
  }

  /** Keeps the files that were written for one and that its command names, and the command. */
  void keep(Peer peer, Path directory, List<String> command) throws IOException {
    var text = new StringBuilder("# " + String.join(" ", command) + "\n");
    var files = new ArrayList<Path>();
    try (Stream<Path> all = Files.list(directory)) {
      all.filter(Files::isRegularFile).sorted().forEach(files::add);
    }
    for (Path file : files) {
      text.append("# ").append(file.getFileName()).append('\n').append(Files.readString(file));
    }
    setups.add(
        new Setup(
            peer,
            text.toString()
                .replace(directory.toString(), "DIRECTORY")
                .replace(Checkout.find().root().toString(), "CHECKOUT")));
  }

  /** Says how those were configured that were started. Any thread. */
  void report(Report report) {
    for (Setup setup : setups) {
      report.heading("Configuration of " + setup.peer().name());
      report.paragraph(setup.peer().version() + ", started so:");
      report.code(setup.text());
    }
  }
}
