package io.kamille.cluster.current;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three nodes whose clocks are hours apart, that stand still for long, some of them with their
 * clocks, and whose messages are late or lost, in one direction or both. No node serves what was
 * purged longer ago than it may be current, but for the moment between a suspension and its next
 * report. The unit is a millisecond.
 */
class CurrentnessSimulationTest {

  private static final long LENGTH = 5_000;
  private static final long STEP = 100;
  private static final long END = 240_000;
  private static final long HOUR = 3_600_000;
  private static final List<String> NAMES = List.of("a", "b", "c");

  private record Message(long at, Node to, boolean isOwn, Runnable content) {}

  private final Map<String, Node> nodes = new TreeMap<>();
  private final PriorityQueue<Message> messages =
      new PriorityQueue<>(Comparator.comparingLong(Message::at));

  /** When each entry was in the logs of a majority. */
  private final List<Long> agreed = new ArrayList<>();

  private SplittableRandom random = new SplittableRandom(0);
  private long now;
  private boolean isCalm;
  private int served;
  private int cutOff;

  private final class Node {

    private final String name;
    private final long ahead = random.nextLong(-HOUR, HOUR);
    private final Currentness currentness;
    private final Map<String, Boolean> hears = new TreeMap<>();
    private long stillUntil;
    private long suspended;
    private boolean isUnaware;
    private long setForward;
    private long appended;
    private long applied;

    Node(String name) {
      this.name = name;
      currentness = new Currentness(name, NAMES, LENGTH, random.nextLong(1, 1L << 40), clock());
    }

    long clock() {
      return now + ahead - suspended;
    }

    void standStill() {
      long length = random.nextLong(LENGTH / 5, 20_000);
      stillUntil = now + length;
      if (random.nextBoolean()) {
        suspended += length;
        isUnaware = true;
      }
    }

    boolean isStill() {
      return now < stillUntil;
    }

    /** It may stand still between any two of its steps. */
    void report() {
      long begun = clock();
      currentness.endIfClockJumped(begun, now + setForward);
      isUnaware = false;
      Map<String, Long> heard = currentness.heard();
      later(
          () -> {
            long length = appended;
            currentness.applied(applied);
            Report report =
                new Report(
                    1,
                    currentness.sends(begun),
                    heard,
                    0,
                    length,
                    applied,
                    0,
                    "",
                    true,
                    false,
                    0,
                    "",
                    "1.2.3");
            currentness.heard(name, report);
            nodes.values().stream()
                .filter(to -> to != this)
                .forEach(to -> send(to, () -> to.currentness.heard(name, report)));
          });
    }

    private void later(Runnable step) {
      messages.add(new Message(now + random.nextLong(50), this, true, step));
    }

    private void send(Node to, Runnable content) {
      if (to.hears.getOrDefault(name, true)) {
        long at = now + random.nextLong(1, isCalm ? 100 : 2_000);
        messages.add(new Message(at, to, false, content));
      }
    }

    /** Passes on what its log has, and what it knows to be agreed upon. */
    void replicate() {
      long length = appended;
      long known = agreed.size();
      for (Node to : nodes.values()) {
        send(
            to,
            () -> {
              to.appended = Math.max(to.appended, length);
              agree();
              to.applied = Math.max(to.applied, Math.min(known, to.appended));
            });
      }
    }

    void serve() {
      if (currentness.untilNanos() - clock() <= 0) {
        cutOff++;
      } else if (!isUnaware) {
        served++;
        long due = agreed.stream().filter(at -> at <= now - LENGTH).count();
        assertThat(applied).as("applied at %s after %s ms", name, now).isGreaterThanOrEqualTo(due);
      }
    }
  }

  private void agree() {
    long of =
        nodes.values().stream()
            .mapToLong(node -> node.appended)
            .sorted()
            .skip(1)
            .findFirst()
            .orElse(0);
    while (agreed.size() < of) {
      agreed.add(now);
    }
  }

  private void deliver() {
    List<Message> held = new ArrayList<>();
    while (!messages.isEmpty() && messages.peek().at() <= now) {
      Message next = messages.remove();
      if (next.to().isStill()) {
        // A machine that is suspended has no network.
        if (next.isOwn() || !next.to().isUnaware) {
          held.add(next);
        }
      } else {
        next.content().run();
      }
    }
    messages.addAll(held);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void noNodeServesWhatWasPurgedLongerAgoThanItMayBeCurrent(int seed) {
    random = new SplittableRandom(seed);
    NAMES.forEach(name -> nodes.put(name, new Node(name)));
    for (; now < END; now += STEP) {
      isCalm = now > END - 40_000;
      deliver();
      for (Node node : nodes.values()) {
        if (isCalm) {
          node.hears.clear();
        } else if (random.nextInt(200) == 0) {
          node.hears.put(NAMES.get(random.nextInt(3)), random.nextInt(3) > 0);
        }
        if (!isCalm && !node.isStill() && random.nextInt(400) == 0) {
          node.standStill();
        } else if (!isCalm && random.nextInt(400) == 0) {
          node.setForward += random.nextLong(HOUR);
        }
        if (!node.isStill()) {
          node.serve();
          if (now % 1_000 == 0) {
            node.report();
            node.replicate();
          }
        }
      }
      Node leader = List.copyOf(nodes.values()).get((int) (now / 30_000 % 3));
      boolean isFirst = nodes.values().stream().allMatch(node -> node.appended <= leader.appended);
      if (!isCalm && !leader.isStill() && isFirst && random.nextInt(10) == 0) {
        leader.appended++;
      }
    }
    assertThat(agreed).hasSizeGreaterThan(20);
    assertThat(served).isGreaterThan(500);
    assertThat(cutOff).isGreaterThan(500);
    assertThat(nodes.values())
        .as("current in calm")
        .allMatch(node -> node.currentness.untilNanos() - node.clock() > 0);
  }
}
