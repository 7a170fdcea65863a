package io.kamille.perf.compare;

import io.kamille.perf.host.Child;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.peer.ControlPlane;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Metrics;
import io.kamille.perf.peer.Peer.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * One Kamille that changes its configuration while it runs: the same machine code, the same memory
 * and the same connections, so that nothing differs but what is compared. Confined.
 */
public final class ChangingKamille {

  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
  private static final Duration RELOAD_LIMIT = Duration.ofSeconds(20);
  private static final String RELOADED = "configuration reloaded";

  private final Workbench bench;
  private final Place place;
  private final Path directory;
  private final Contestant contestant;
  private Kamille current;
  private int reloads;

  private ChangingKamille(
      Workbench bench, Place place, Path directory, Contestant contestant, Kamille first) {
    this.bench = bench;
    this.place = place;
    this.directory = directory;
    this.contestant = contestant;
    this.current = first;
  }

  /**
   * Starts this one.
   *
   * @throws IOException if it is not built, or does not start
   */
  public static ChangingKamille start(Workbench bench, Kamille first, Place place)
      throws IOException {
    String missing = first.missing();
    if (missing != null) {
      throw new IOException(missing);
    }
    Path directory = bench.directory(first.label());
    return new ChangingKamille(
        bench, place, directory, Contestant.start(bench, first, place), first);
  }

  /** Reloads with that configuration and waits until it is in force. */
  public void become(Kamille next) throws IOException, InterruptedException {
    if (next.equals(current)) {
      return;
    }
    next.prepare(directory, place);
    bench.run(Core.OTHERS, List.of("sh", "-c", "kill -HUP " + process().pid()));
    process().awaitPrinted(RELOADED, ++reloads, RELOAD_LIMIT);
    current = next;
  }

  /** Changes the way of pacing. */
  public void pace(String way) throws IOException, InterruptedException {
    become(current.withPacing(way));
  }

  Contestant contestant() {
    return contestant;
  }

  public Child process() {
    return contestant.process();
  }

  /** The metrics of a server that was started with some. */
  public Metrics metrics() throws IOException {
    return new ControlPlane(current.adminPort(), directory, ANSWER_LIMIT).metrics();
  }
}
