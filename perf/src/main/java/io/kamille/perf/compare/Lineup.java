package io.kamille.perf.compare;

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
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The servers of a comparison, in the order they are asked. */
final class Lineup {

  /** All that can be named; the last three are started only then. */
  static final List<String> NAMES =
      Stream.concat(Stream.of("floor", "kamille"), Peer.others().stream().map(Peer::name)).toList();

  private static final List<Peer> OTHERS = List.of(new TrafficServer(), new Squid(), new Apache());

  private static final Set<Job> OTHERS_DO = EnumSet.of(Job.HIT, Job.PASS, Job.MIX);

  private final List<Contestant> contestants = new ArrayList<>();

  /** Starts whatever is wanted and installed; tells of the others. */
  static Lineup start(Session session, Job job, int connections, List<String> javaOptions)
      throws IOException {
    var lineup = new Lineup();
    for (Peer peer : candidates(session, job)) {
      String missing = peer.missing();
      if (missing != null) {
        System.out.println("left out: " + missing);
        continue;
      }
      int origin = session.origin().port();
      var place = new Place(job, Workbench.freePort(), origin, connections, javaOptions);
      try {
        lineup.contestants.add(Contestant.start(session.bench(), peer, place));
      } catch (IOException e) {
        System.out.println("left out: " + e.getMessage());
      }
    }
    return lineup;
  }

  private static List<Peer> candidates(Session session, Job job) {
    var peers = new ArrayList<Peer>();
    if (job == Job.HIT) {
      peers.add(new Floor());
    }
    peers.addAll(
        List.of(new Kamille(session.checkout()), new Nginx(), new Haproxy(), new Varnish()));
    if (job == Job.COLLAPSE) {
      peers.remove(new Haproxy());
    }
    if (job == Job.DISK) {
      peers.removeAll(List.of(new Haproxy(), new Varnish()));
    }
    if (OTHERS_DO.contains(job) && !session.chosen().texts("--only").isEmpty()) {
      peers.addAll(OTHERS);
    }
    peers.removeIf(peer -> !session.isWanted(peer.name()));
    return peers;
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

  /** Measures one server in one round. */
  @FunctionalInterface
  interface Round {
    Sample measure(Contestant contestant, int round) throws IOException, InterruptedException;
  }

  /**
   * Measures all of them in turn, A B C, A B C: whatever drifts (clock rate, caches, neighbours)
   * meets all alike.
   */
  void rounds(int count, Samples samples, Round each) throws InterruptedException {
    for (int round = 1; round <= count; round++) {
      int current = round;
      forEach(contestant -> samples.add(each.measure(contestant, current)));
    }
  }

  /** Ends all of them. */
  void stop() {
    contestants.forEach(contestant -> contestant.process().stop());
  }
}
