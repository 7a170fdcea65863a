package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

/** A server to be overloaded; a Kamille can be told to shed, and not to, while it runs. */
final class OverloadServer {

  /** The way of a Kamille that sheds. */
  static final String SHEDDING = "kamille";

  /** The way of one that does not. */
  static final String OFF = "off";

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration RELOAD_LIMIT = Duration.ofSeconds(20);
  private static final String RELOADED = "configuration reloaded";

  /** What a change of its way takes. */
  @FunctionalInterface
  private interface Change {
    void to(String way) throws IOException, InterruptedException;
  }

  private final Contestant contestant;
  private final List<String> ways;
  private final Change change;
  private String way;

  private OverloadServer(Contestant contestant, List<String> ways, Change change) {
    this.contestant = contestant;
    this.ways = ways;
    this.change = change;
    this.way = ways.getLast();
  }

  /** One that is as it is. */
  static OverloadServer of(Contestant contestant) {
    return new OverloadServer(contestant, List.of(contestant.name()), _ -> {});
  }

  /**
   * Starts a Kamille that does not shed yet.
   *
   * @throws IOException if it is not built, or does not start
   */
  static OverloadServer kamille(Workbench bench, Checkout checkout, Place place, String target)
      throws IOException {
    var kamille = new Kamille(checkout);
    String missing = kamille.missing();
    if (missing != null) {
      throw new IOException(missing);
    }
    Path directory = bench.directory(kamille.name());
    var process = bench.start(kamille.name(), Core.SERVER, prepare(kamille, directory, place, OFF));
    process.awaitListening(place.port(), START_LIMIT);
    int[] reloads = {0};
    Change reload =
        way -> {
          prepare(kamille, directory, place, way.equals(OFF) ? OFF : target);
          bench.run(Core.OTHERS, List.of("sh", "-c", "kill -HUP " + process.pid()));
          process.awaitPrinted(RELOADED, ++reloads[0], RELOAD_LIMIT);
        };
    var contestant = new Contestant(kamille, process, place.port());
    return new OverloadServer(contestant, List.of(SHEDDING, OFF), reload);
  }

  private static List<String> prepare(Kamille kamille, Path directory, Place place, String target)
      throws IOException {
    List<String> command = kamille.prepare(directory, place);
    Files.writeString(
        directory.resolve("kamille.yaml"),
        "overload:\n  target: " + target + "\n",
        StandardOpenOption.APPEND);
    return command;
  }

  Contestant contestant() {
    return contestant;
  }

  /** What it can be; the last is what it is at first. */
  List<String> ways() {
    return ways;
  }

  /** Changes its way and waits until that is in force. */
  void become(String next) throws IOException, InterruptedException {
    if (!next.equals(way)) {
      change.to(next);
      way = next;
    }
  }
}
