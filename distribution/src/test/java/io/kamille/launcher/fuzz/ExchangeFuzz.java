package io.kamille.launcher.fuzz;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.launcher.appliance.Appliance;
import io.kamille.launcher.appliance.Machine;
import io.kamille.launcher.appliance.StartFailure;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.fuzz.Wire.Conversation;
import io.kamille.launcher.service.Inheritance;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Spoiled requests and spoiled responses go through a whole appliance, some rounds at once. What
 * the origin saw, what the client got, and what Netty's decoders read in the same octets must agree
 * about where each message begins and ends. Confined to one thread, which has others work.
 */
final class ExchangeFuzz implements AutoCloseable {

  /*
   * A client closes its side behind its octets, so that the proxy has to come to an end with them,
   * and no round waits for a time-out. The origin knows the clients and numbers what it sees of
   * each; both come back to the client, which knows by them whose answer it got. A connection that
   * ends by a reset may have lost answers on their way to the client; those that arrived are held
   * to the same rules.
   *
   * Lanes share the appliance and its connections to the origin, and nothing else. What a round
   * does depends on the seed and its number alone, so it can be repeated alone.
   */
  private static final int LANES = Integer.getInteger("kamille.fuzz.lanes", 8);
  private static final int ENOUGH = 10;

  /** Set to repeat one round alone. */
  private static final long ONLY = Long.getLong("kamille.fuzz.round", 0);

  private static final long ROUND_LIMIT_MILLIS = TimeUnit.MINUTES.toMillis(3);

  /** What one lane does again and again. */
  interface Round {

    /** What disagrees, with the octets that show it, or nothing. */
    String disagreement(Tally tally) throws IOException;
  }

  /** Makes rounds. */
  interface Rounds {
    Round round(SplittableRandom random, long number);
  }

  /** What was counted. Confined to one thread. */
  static final class Tally {
    long exchanges;
    long passed;
    long refused;
    long broken;

    private void add(Tally other) {
      exchanges += other.exchanges;
      passed += other.passed;
      refused += other.refused;
      broken += other.broken;
    }
  }

  private final long seed;
  private final RecordingOrigin origin;
  private final Appliance appliance;
  private final Wire wire;
  private final List<String> disagreements = new ArrayList<>();
  private final Tally total = new Tally();
  private int begun;

  ExchangeFuzz(long seed) throws IOException {
    this.seed = seed;
    origin = RecordingOrigin.open();
    String yaml =
        """
        listeners: ['127.0.0.1:0']
        loops: 2
        limits: {head-timeout: 60s, content-timeout: 60s, half-closed: on}
        upstreams: {site: {origins: ['%s'], retries: 0, connect-timeout: 60s,
          head-timeout: 60s, content-timeout: 60s}}
        routes: [{upstream: site}]
        cache: {memory: {capacity: 16MiB}}
        log: {level: error}
        admin: {address: off}
        """
            .replace("%s", origin.url());
    try {
      appliance =
          Appliance.start(
              configuration(yaml), "fuzz", Inheritance.none(), _ -> List.of(), Machine.HERE);
    } catch (StartFailure failure) {
      throw new AssertionError(failure);
    }
    String address = appliance.listening().getFirst();
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    wire = new Wire(port, origin);
  }

  private static Configuration configuration(String yaml) {
    return switch (ConfigurationFile.parse("fuzz.yaml", yaml.getBytes(StandardCharsets.UTF_8))) {
      case ConfigurationReading.Accepted(Configuration accepted) -> accepted;
      case ConfigurationReading.Refused refusedFile ->
          throw new AssertionError(refusedFile.problems());
    };
  }

  void requests(FuzzBudget budget) {
    run(budget, (random, number) -> new RequestRound(wire, random));
  }

  void responses(FuzzBudget budget) {
    run(budget, (random, number) -> new ResponseRound(wire, origin, random, number));
  }

  private void run(FuzzBudget budget, Rounds rounds) {
    List<Lane> lanes = Stream.generate(() -> new Lane(budget, rounds)).limit(LANES).toList();
    lanes.forEach(Lane::start);
    lanes.forEach(Lane::await);
    origin.faults().forEach(fault -> disagree("the origin got " + fault));
  }

  private synchronized long nextRound(FuzzBudget budget) {
    if (ONLY > 0) {
      return begun++ == 0 ? ONLY : 0;
    }
    return disagreements.size() < ENOUGH && budget.hasNext() ? budget.round() : 0;
  }

  private synchronized void disagree(String what) {
    disagreements.add(what);
  }

  private synchronized void count(Tally tally) {
    total.add(tally);
  }

  /** One round after the other. */
  private final class Lane {

    private final Tally tally = new Tally();
    private final Thread thread;
    private volatile long round;

    Lane(FuzzBudget budget, Rounds rounds) {
      thread = Thread.ofPlatform().daemon().unstarted(() -> run(budget, rounds));
    }

    void start() {
      thread.start();
    }

    private void run(FuzzBudget budget, Rounds rounds) {
      for (round = nextRound(budget); round > 0; round = nextRound(budget)) {
        String disagreement = disagreement(rounds);
        if (!disagreement.isEmpty()) {
          disagree("seed " + seed + ", round " + round + ": " + disagreement);
        }
      }
      count(tally);
    }

    private String disagreement(Rounds rounds) {
      try {
        return rounds.round(new SplittableRandom(seed << 32 ^ round), round).disagreement(tally);
      } catch (IOException | RuntimeException failure) {
        return failure.toString();
      }
    }

    /** Waits for the last round; one that goes on for minutes will never end. */
    void await() {
      try {
        for (long before = -1; thread.isAlive(); ) {
          long now = round;
          if (now == before) {
            disagree("seed " + seed + ", round " + now + " does not end");
            thread.interrupt();
            return;
          }
          before = now;
          thread.join(ROUND_LIMIT_MILLIS);
        }
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", interrupted);
      }
    }
  }

  /** A disagreement with what shows it. */
  static String shown(String fault, String octets, Conversation said, String more) {
    return fault + "\noctets <<" + octets + ">>\ngot <<" + said.got() + ">>\n" + more;
  }

  /** What disagreed, with the octets that show it. */
  synchronized List<String> disagreements() {
    return List.copyOf(disagreements);
  }

  /** Exchanges that went through as they should. */
  synchronized long passed() {
    return total.passed;
  }

  synchronized String summary(String name) {
    return String.join(
        ", ",
        "spoiled " + name,
        total.exchanges + " exchanges",
        total.passed + " passed",
        total.refused + " refused",
        total.broken + " broken off",
        disagreements.size() + " disagreements");
  }

  @Override
  public void close() throws IOException {
    appliance.close();
    origin.close();
  }
}
