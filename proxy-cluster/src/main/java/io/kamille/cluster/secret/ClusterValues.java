package io.kamille.cluster.secret;

import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.ClusterEngine.Answer;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The values in the log, opened and sealed. Any thread. */
public final class ClusterValues implements SharedValues {

  private static final System.Logger LOG = System.getLogger("kamille.cluster");

  /** A message with the number of a change that is in the log. */
  public static final byte APPLIED = 5;

  private final ClusterEngine engine;
  private final LoggedValues values;
  private final ClusterSecret secret;
  private final Supplier<Set<String>> nodes;
  private final BooleanSupplier leads;
  private final Duration wait;
  private final AtomicBoolean isTold = new AtomicBoolean();

  /**
   * Those of a log.
   *
   * @param nodes the nodes that are known, members or not
   * @param wait how long nodes are waited for
   */
  public ClusterValues(
      ClusterEngine engine,
      LoggedValues values,
      ClusterSecret secret,
      Supplier<Set<String>> nodes,
      BooleanSupplier leads,
      Duration wait) {
    this.engine = engine;
    this.values = values;
    this.secret = secret;
    this.nodes = nodes;
    this.leads = leads;
    this.wait = wait;
  }

  @Override
  public boolean leads() {
    return leads.getAsBoolean();
  }

  @Override
  public byte @Nullable [] get(String name) {
    byte[] value = values.get(name);
    return value == null ? null : open(name, value);
  }

  /** Null, and said once, if it was sealed by another secret, or by nobody who knows one. */
  private byte @Nullable [] open(String name, byte[] value) {
    byte[] content = secret.open(name, value);
    if (content == null && !isTold.getAndSet(true)) {
      LOG.log(
          Level.WARNING,
          "{0} in the log was sealed by another secret. Give all nodes the same"
              + " cluster.secret-file",
          name);
    }
    return content;
  }

  @Override
  public Map<String, byte[]> under(String prefix) {
    Map<String, byte[]> found = new TreeMap<>();
    values
        .under(prefix)
        .forEach(
            (name, value) -> {
              byte[] content = open(name, value);
              if (content != null) {
                found.put(name, content);
              }
            });
    return found;
  }

  @Override
  public Map<String, Boolean> put(String name, byte @Nullable [] content) throws IOException {
    byte[] entry =
        LoggedValues.entry(name, content == null ? new byte[0] : secret.seal(name, content));
    byte[] answer =
        entry.length > LoggedValues.MOST_OCTETS_OF_ONE
            ? new byte[Long.BYTES]
            : ClusterEngine.append(engine, entry);
    if (answer == null) {
      throw new IOException("no majority of the voters has " + name + " in its log");
    }
    long number = ByteBuffer.wrap(answer).getLong();
    if (number == 0) {
      throw new IOException("the log of the cluster has no room for " + name);
    }
    byte[] question = ClusterEngine.message(APPLIED, ClusterEngine.octets(number));
    Map<String, byte[]> answers = engine.ask(question, wait);
    Set<String> all = new TreeSet<>(nodes.get());
    all.addAll(engine.members());
    Map<String, Boolean> done = new TreeMap<>();
    all.forEach(node -> done.put(node, answers.containsKey(node)));
    return done;
  }

  /** Answers the question of another node, or of this one, from a thread of its own. */
  public void asked(byte[] message, Answer answer) {
    Thread.startVirtualThread(
        () -> {
          engine.hurry();
          try {
            if (message.length == 1 + Long.BYTES
                && values.await(ByteBuffer.wrap(message).getLong(1), wait)) {
              answer.send(new byte[0]);
            }
          } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
          }
        });
  }
}
