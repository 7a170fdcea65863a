package io.kamille.cluster.config;

import io.kamille.cluster.config.ConfigReceipt.AtNode;
import io.kamille.cluster.config.ConfigReceipt.Outcome;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.ClusterEngine.Answer;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.cluster.engine.PlaceFile.Place;
import io.kamille.core.loop.SteadyTask;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Changes of the configuration of all nodes, from this node and to it. Any thread. */
public final class ClusterConfig implements AutoCloseable {

  /*
   * A change is prepared at all members first. If one cannot put it in force, nobody does. Then it
   * is appended, with the number of the change that it is based on: if another one came first, the
   * log refuses it. Each node puts the last change in force, on a thread of its own, and notes which
   * it was. A change says all that is to be, so one that was away needs the last one alone.
   *
   * A change that cannot be put in force here is tried again every minute, until another one comes.
   * It is not noted, so the next process tries it, too.
   */
  private static final System.Logger LOG = System.getLogger("kamille.cluster");

  /** After so long a change that failed here is tried again. */
  public static final Duration AGAIN = Duration.ofMinutes(1);

  private static final Duration PREPARE_LIMIT = Duration.ofSeconds(10);

  /** The longest change, in octets. */
  public static final int LIMIT_BYTES = ConfigChanges.LIMIT_BYTES;

  /** The problem of a node that has said nothing in time. */
  public static final String SILENT = "does not answer";

  /** A message with a change that is to be prepared. */
  public static final byte PREPARE = 3;

  /** A message with the number of a change that is in the log. */
  public static final byte IN_FORCE = 4;

  private final ClusterEngine engine;
  private final ConfigChanges changes;
  private final PlaceFile file;
  private final NodeConfig node;
  private final Duration wait;
  private final Duration again;
  private final SplittableRandom random = new SplittableRandom();
  private final Thread follower;
  private Place done;

  /** The last change, if it failed here; confined to the follower. */
  private ConfigChanges.@Nullable Change failed;

  private String problem = "";

  /**
   * Begins to follow the log.
   *
   * @param file where is noted how far the configuration of this node has come
   * @param wait how long nodes are waited for
   * @param again see {@link #AGAIN}
   */
  public ClusterConfig(
      ClusterEngine engine,
      ConfigChanges changes,
      PlaceFile file,
      NodeConfig node,
      Duration wait,
      Duration again) {
    this.again = again;
    this.engine = engine;
    this.changes = changes;
    this.file = file;
    this.node = node;
    this.wait = wait;
    done = file.read();
    SteadyTask following = new SteadyTask(LOG, "changes of the cluster wait", this::follow);
    follower =
        Thread.ofVirtual().name("kamille-config").start(() -> following.repeatUntil(() -> false));
  }

  /** The number of the last change that is in force here, or could not be. */
  public synchronized long done() {
    return changes.numberOf(done);
  }

  /** A digest of all that nodes share, as it is in force here. */
  public String digest() {
    return node.digest();
  }

  /**
   * Changes the configuration of all nodes; waits for them.
   *
   * @param base the number of the change that this one is based on
   */
  public ConfigReceipt change(long base, String change) {
    byte[] content = change.getBytes(StandardCharsets.UTF_8);
    Map<String, byte[]> prepared =
        engine.ask(ClusterEngine.message(PREPARE, content), PREPARE_LIMIT);
    List<AtNode> nodes = nodes(prepared);
    if (nodes.stream().anyMatch(at -> !at.problem().isEmpty())) {
      return new ConfigReceipt(Outcome.NOT_PREPARED, 0, nodes);
    }
    long id;
    synchronized (random) {
      id = random.nextLong();
    }
    byte[] answer = ClusterEngine.append(engine, ConfigChanges.entry(id, base, content));
    if (answer == null) {
      return new ConfigReceipt(Outcome.NO_QUORUM, 0, nodes);
    }
    long number = ByteBuffer.wrap(answer).getLong();
    if (number == 0) {
      return new ConfigReceipt(Outcome.STALE, 0, nodes);
    }
    byte[] question = ClusterEngine.message(IN_FORCE, ClusterEngine.octets(number));
    return new ConfigReceipt(Outcome.IN_FORCE, number, nodes(engine.ask(question, wait)));
  }

  /** What the members have answered, and those that have not. */
  private List<AtNode> nodes(Map<String, byte[]> answers) {
    List<AtNode> nodes = new ArrayList<>();
    engine.members().stream()
        .filter(member -> !answers.containsKey(member))
        .forEach(member -> nodes.add(new AtNode(member, SILENT)));
    new TreeMap<>(answers)
        .forEach(
            (name, problem) ->
                nodes.add(new AtNode(name, new String(problem, StandardCharsets.UTF_8))));
    return nodes;
  }

  /** Answers the question of another node, or of this one, from a thread of its own. */
  public void asked(byte[] message, Answer answer) {
    Thread.startVirtualThread(() -> answer.send(answer(message).getBytes(StandardCharsets.UTF_8)));
  }

  private String answer(byte[] message) {
    if (message[0] == PREPARE) {
      String change = new String(message, 1, message.length - 1, StandardCharsets.UTF_8);
      return done(() -> node.prepare(change));
    }
    engine.hurry();
    return outcome(ByteBuffer.wrap(message).getLong(1));
  }

  /** Waits until a change or a later one is in force, or cannot be, as long as those who ask do. */
  private synchronized String outcome(long number) {
    long deadline = System.nanoTime() + wait.toNanos();
    long left = wait.toMillis();
    try {
      while (done() < number && left > 0) {
        wait(left);
        left = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return done() < number ? "not in force yet" : problem;
  }

  // The way from the log

  private void follow() throws InterruptedException {
    ConfigChanges.Change next = changes.after(place(), again);
    if (next != null) {
      make(next);
    } else if (failed != null) {
      make(failed);
    }
  }

  private void make(ConfigChanges.Change change) {
    Place place = new Place(change.log(), change.number());
    String why = done(() -> node.apply(change.text()));
    if (why.isEmpty()) {
      if (change.equals(failed)) {
        LOG.log(Level.INFO, "change {0} of the cluster is in force after all", change.number());
      }
      failed = null;
      file.write(place);
    } else {
      if (!change.equals(failed)) {
        LOG.log(Level.ERROR, "change {0} of the cluster: {1}", change.number(), why);
      }
      failed = change;
    }
    synchronized (this) {
      done = place;
      problem = why;
      notifyAll();
    }
  }

  /** Does it; what goes wrong is a problem, too. */
  private static String done(Supplier<String> action) {
    try {
      return action.get();
    } catch (RuntimeException fault) {
      return String.valueOf(fault);
    }
  }

  private synchronized Place place() {
    return done;
  }

  @Override
  public void close() {
    follower.interrupt();
  }
}
