package io.kamille.perf.compare;

import io.kamille.perf.host.Checkout;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.peer.Apache;
import io.kamille.perf.peer.Floor;
import io.kamille.perf.peer.Haproxy;
import io.kamille.perf.peer.Kamille;
import io.kamille.perf.peer.Nginx;
import io.kamille.perf.peer.Peer;
import io.kamille.perf.peer.Peer.Job;
import io.kamille.perf.peer.Peer.Place;
import io.kamille.perf.peer.Squid;
import io.kamille.perf.peer.TrafficServer;
import io.kamille.perf.peer.Varnish;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The servers of a comparison, in the order they are asked. */
final class Lineup {

  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  /** Started only where they are asked for by name. */
  private static final List<Peer> OTHERS = List.of(new TrafficServer(), new Squid(), new Apache());

  private static final Set<Job> OTHERS_DO = EnumSet.of(Job.HIT, Job.PASS, Job.MIX);

  private final List<Contestant> contestants = new ArrayList<>();

  /**
   * Starts whatever is wanted and installed; tells of the others.
   *
   * @param javaOptions for servers in Java
   */
  static Lineup start(
      Workbench bench,
      Checkout checkout,
      Job job,
      Origin origin,
      ComparisonOptions options,
      List<String> javaOptions) {
    var lineup = new Lineup();
    for (Peer peer : wanted(checkout, job, options)) {
      String missing = peer.missing();
      if (missing != null) {
        System.out.println("left out: " + missing);
        continue;
      }
      try {
        int port = Workbench.freePort();
        var place = new Place(job, port, origin.port(), options.connections(), javaOptions);
        lineup.contestants.add(start(bench, peer, place));
      } catch (IOException e) {
        System.out.println("left out: " + e.getMessage());
      }
    }
    return lineup;
  }

  private static List<Peer> wanted(Checkout checkout, Job job, ComparisonOptions options) {
    var peers = new ArrayList<Peer>();
    if (job == Job.HIT) {
      peers.add(new Floor());
    }
    peers.addAll(List.of(new Kamille(checkout), new Nginx(), new Haproxy(), new Varnish()));
    if (job == Job.COLLAPSE) {
      peers.remove(new Haproxy());
    }
    if (job == Job.DISK) {
      peers.removeAll(List.of(new Haproxy(), new Varnish()));
    }
    if (OTHERS_DO.contains(job)) {
      OTHERS.stream().filter(peer -> options.only().contains(peer.name())).forEach(peers::add);
    }
    if (!options.only().isEmpty()) {
      peers.removeIf(peer -> !options.only().contains(peer.name()));
    }
    return peers;
  }

  private static Contestant start(Workbench bench, Peer peer, Place place) throws IOException {
    List<String> command = peer.prepare(bench.directory(peer.name()), place);
    var child = bench.start(peer.name(), Workbench.Core.SERVER, command);
    child.awaitListening(place.port(), START_LIMIT);
    return new Contestant(peer, child, place.port());
  }

  List<Contestant> contestants() {
    return List.copyOf(contestants);
  }

  /** Something done with one server after another. */
  @FunctionalInterface
  interface Action {
    void on(Contestant contestant) throws IOException, InterruptedException;
  }

  /** Does it with all of them; goes on without those that fail. */
  void forEach(Action action) throws InterruptedException {
    for (Contestant contestant : contestants()) {
      try {
        action.on(contestant);
      } catch (IOException e) {
        System.out.println("left out from here on: " + e.getMessage());
        contestants.remove(contestant);
      }
    }
  }

  /** Ends all of them. */
  void stop() {
    contestants.forEach(contestant -> contestant.process().stop());
  }
}
