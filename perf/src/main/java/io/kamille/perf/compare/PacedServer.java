package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One Kamille that changes its way of pacing while it runs: the same machine code, the same memory
 * and the same connections, so that nothing differs but the pacing.
 */
public final class PacedServer {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final Duration RELOAD_LIMIT = Duration.ofSeconds(5);
  private static final String RELOADED = "configuration reloaded";

  private final Workbench bench;
  private final Kamille kamille;
  private final Place place;
  private final Path directory;
  private final Child process;
  private String way;
  private int reloads;

  private PacedServer(
      Workbench bench, Kamille kamille, Place place, Path directory, Child process, String way) {
    this.bench = bench;
    this.kamille = kamille;
    this.place = place;
    this.directory = directory;
    this.process = process;
    this.way = way;
  }

  /**
   * Starts it.
   *
   * @throws IOException if it is not built, or does not start
   */
  static PacedServer start(Workbench bench, Checkout checkout, Place place, String way)
      throws IOException {
    return start(bench, new Kamille(checkout), place, way);
  }

  /**
   * Starts this one.
   *
   * @throws IOException if it is not built, or does not start
   */
  public static PacedServer start(Workbench bench, Kamille kamille, Place place, String way)
      throws IOException {
    String missing = kamille.missing();
    if (missing != null) {
      throw new IOException(missing);
    }
    Path directory = bench.directory(kamille.name());
    var command = kamille.withPacing(way).prepare(directory, place);
    var process = bench.start(kamille.name(), Core.SERVER, command);
    process.awaitListening(place.port(), START_LIMIT);
    return new PacedServer(bench, kamille, place, directory, process, way);
  }

  /** Changes the way of pacing and waits until that is in force. */
  public void pace(String next) throws IOException, InterruptedException {
    if (next.equals(way)) {
      return;
    }
    kamille.withPacing(next).prepare(directory, place);
    bench.run(Core.OTHERS, List.of("sh", "-c", "kill -HUP " + process.pid()));
    reloads++;
    process.awaitPrinted(RELOADED, reloads, RELOAD_LIMIT);
    way = next;
  }

  Contestant contestant() {
    return new Contestant(kamille, process, place.port());
  }

  public Child process() {
    return process;
  }

  /**
   * How many polls its loop has made, and how many events they brought.
   *
   * @param polls since the start
   * @param events since the start
   */
  public record Polls(long polls, long events) {

    static Polls parse(String metrics) throws IOException {
      return new Polls(
          value(metrics, "kamille_loop_polls_total"), value(metrics, "kamille_loop_events_total"));
    }

    private static long value(String metrics, String name) throws IOException {
      Matcher matcher =
          Pattern.compile("^" + name + "\\S* ([0-9.eE+]+)$", Pattern.MULTILINE).matcher(metrics);
      if (!matcher.find()) {
        throw new IOException(name + ": not among the metrics");
      }
      return Math.round(Double.parseDouble(matcher.group(1)));
    }
  }

  /** Reads them from the metrics of a server that was started with some. */
  public Polls polls() throws IOException {
    URI metrics = URI.create("http://127.0.0.1:" + kamille.adminPort() + "/metrics");
    try (var in = metrics.toURL().openStream()) {
      return Polls.parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }
}
