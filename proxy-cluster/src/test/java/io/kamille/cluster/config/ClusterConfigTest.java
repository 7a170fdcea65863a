package io.kamille.cluster.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.config.ConfigReceipt.AtNode;
import io.kamille.cluster.config.ConfigReceipt.Outcome;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.core.Await;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of the configuration of several nodes, over a log that is a list. */
class ClusterConfigTest {

  private static final Duration LONG = Duration.ofSeconds(10);

  @TempDir private Path directory;

  private final List<byte[]> log = new ArrayList<>();
  private final Map<String, Node> nodes = new TreeMap<>();
  private boolean hasQuorum = true;

  /** A node: its copy of the log, and what it has put in force. */
  private final class Node implements ClusterEngine, NodeConfig {

    private final String name;
    private final ConfigChanges changes = new ConfigChanges();
    private final List<String> inForce = new CopyOnWriteArrayList<>();
    private final ClusterConfig config;
    private volatile String problem = "";
    private volatile String unusable = "";

    Node(String name) {
      this.name = name;
      config =
          new ClusterConfig(
              this,
              changes,
              new PlaceFile(directory.resolve(name)),
              this,
              LONG,
              Duration.ofMillis(1));
      nodes.put(name, this);
    }

    byte[] take(byte[] entry) {
      try (var in = new DataInputStream(new ByteArrayInputStream(entry))) {
        assertThat(in.readByte()).isEqualTo(ConfigChanges.KIND);
        return changes.read(in).get();
      } catch (IOException impossible) {
        throw new UncheckedIOException(impossible);
      }
    }

    @Override
    public String prepare(String change) {
      return problem;
    }

    @Override
    public String apply(String change) {
      if (change.equals(unusable)) {
        return "cannot use " + change;
      }
      inForce.add(change);
      return "";
    }

    @Override
    public String digest() {
      return inForce.toString();
    }

    @Override
    public Position position() {
      return new Position(log.size(), log.size(), 1, "a");
    }

    @Override
    public long logBytes() {
      return 0;
    }

    @Override
    public List<String> members() {
      return List.copyOf(nodes.keySet());
    }

    @Override
    public void tell(byte[] message) {}

    @Override
    public Map<String, byte[]> ask(byte[] message, Duration limit) {
      Map<String, CompletableFuture<byte[]>> asked = new ConcurrentHashMap<>();
      nodes.forEach(
          (each, node) -> {
            CompletableFuture<byte[]> answer = new CompletableFuture<>();
            asked.put(each, answer);
            node.config.asked(message, answer::complete);
          });
      Map<String, byte[]> answers = new TreeMap<>();
      asked.forEach(
          (each, answer) ->
              answers.put(each, answer.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS).join()));
      return answers;
    }

    @Override
    public byte @Nullable [] append(byte[] entry, Duration limit) {
      synchronized (log) {
        if (!hasQuorum) {
          return null;
        }
        log.add(entry);
        byte[] answer = new byte[0];
        for (Node node : nodes.values()) {
          answer = node.take(entry);
        }
        return answer;
      }
    }

    @Override
    public void vote() {}

    @Override
    public void hurry() {}

    @Override
    public void close() {
      config.close();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  @AfterEach
  void close() {
    nodes.values().forEach(Node::close);
  }

  @Test
  void aChangeIsInForceAtAllNodes() {
    Node a = new Node("a");
    Node b = new Node("b");
    ConfigReceipt receipt = a.config.change(0, "one");
    assertThat(receipt)
        .isEqualTo(
            new ConfigReceipt(
                Outcome.IN_FORCE, 1, List.of(new AtNode("a", ""), new AtNode("b", ""))));
    assertThat(a.inForce).containsExactly("one");
    assertThat(b.inForce).containsExactly("one");
  }

  @Test
  void whatOneNodeCannotDoNoNodeDoes() {
    Node a = new Node("a");
    Node b = new Node("b");
    b.problem = "no such certificate";
    ConfigReceipt receipt = a.config.change(0, "one");
    assertThat(receipt.state()).isEqualTo(Outcome.NOT_PREPARED);
    assertThat(receipt.nodes()).contains(new AtNode("b", "no such certificate"));
    assertThat(a.inForce).isEmpty();
    assertThat(log).isEmpty();
  }

  @Test
  void withoutAQuorumNothingChanges() {
    Node a = new Node("a");
    hasQuorum = false;
    assertThat(a.config.change(0, "one").state()).isEqualTo(Outcome.NO_QUORUM);
    assertThat(a.inForce).isEmpty();
  }

  @Test
  void oneThatIsBasedOnAnOlderChangeIsRefused() {
    Node a = new Node("a");
    Node b = new Node("b");
    a.config.change(0, "one");
    assertThat(b.config.change(0, "two").state()).isEqualTo(Outcome.STALE);
    assertThat(b.config.change(1, "two").state()).isEqualTo(Outcome.IN_FORCE);
    assertThat(a.inForce).containsExactly("one", "two");
  }

  /** Two hundred changes from two nodes at once: one order, and none is lost. */
  @Test
  void changesFromTwoNodesAtOnceHaveOneOrder() {
    Node a = new Node("a");
    Node b = new Node("b");
    List<CompletableFuture<Void>> callers =
        List.of(a, b).stream()
            .map(
                node ->
                    CompletableFuture.runAsync(
                        () -> {
                          for (int i = 0; i < 100; i++) {
                            while (node.config.change(node.config.done(), node + " " + i).state()
                                != Outcome.IN_FORCE) {
                              Thread.onSpinWait();
                            }
                          }
                        }))
            .toList();
    callers.forEach(CompletableFuture::join);
    assertThat(a.changes.last()).isEqualTo(200);
    assertThat(a.inForce.getLast()).isEqualTo(b.inForce.getLast());
    for (Node node : List.of(a, b)) {
      assertThat(node.inForce).doesNotHaveDuplicates();
      assertThat(node.inForce.stream().filter(change -> change.startsWith("b")))
          .isSortedAccordingTo(
              (one, other) ->
                  Integer.parseInt(one.substring(2)) - Integer.parseInt(other.substring(2)));
    }
  }

  @Test
  void aNodeThatWasAwayTakesTheLastChange() {
    Node a = new Node("a");
    Node b = new Node("b");
    a.config.change(0, "one");
    b.close();
    nodes.remove("b");
    a.config.change(1, "two");
    Node again = new Node("b");
    log.forEach(again::take);
    a.config.change(2, "three");
    assertThat(b.inForce).containsExactly("one");
    assertThat(again.inForce).doesNotContain("one").endsWith("three");
  }

  @Test
  void aChangeThatFailedIsTriedAgain() {
    Node a = new Node("a");
    Node b = new Node("b");
    b.unusable = "one";
    assertThat(a.config.change(0, "one").nodes())
        .containsExactly(new AtNode("a", ""), new AtNode("b", "cannot use one"));
    b.unusable = "";
    Await.until(() -> b.inForce.equals(List.of("one")), "it has healed");
    assertThat(a.config.change(1, "two").nodes()).contains(new AtNode("b", ""));
    assertThat(b.inForce).containsExactly("one", "two");
  }

  /** It would take back what came after it. */
  @Test
  void aChangeThatFailedIsNotTriedBehindALaterOne() {
    Node a = new Node("a");
    Node b = new Node("b");
    b.unusable = "one";
    a.config.change(0, "one");
    assertThat(a.config.change(1, "two").nodes()).contains(new AtNode("b", ""));
    b.unusable = "";
    for (int i = 2; i < 10; i++) {
      a.config.change(i, "change " + i);
    }
    assertThat(b.inForce).doesNotContain("one").startsWith("two").endsWith("change 9");
  }

  @Test
  void theNextProcessTriesAChangeThatFailed() {
    Node a = new Node("a");
    Node b = new Node("b");
    a.config.change(0, "one");
    b.unusable = "two";
    a.config.change(1, "two");
    b.close();
    nodes.remove("b");
    Node again = new Node("b");
    log.forEach(again::take);
    Await.until(() -> again.inForce.equals(List.of("two")), "it has healed");
  }

  @Test
  void aNodeThatMissedManyTakesTheLastOfASnapshot() throws Exception {
    Node a = new Node("a");
    Node b = new Node("b");
    a.config.change(0, "first");
    b.close();
    nodes.remove("b");
    for (int i = 1; i <= ConfigChanges.KEPT + 1; i++) {
      a.config.change(i, "change " + i);
    }
    Node again = new Node("b");
    ByteArrayOutputStream saved = new ByteArrayOutputStream();
    a.changes.save(new DataOutputStream(saved));
    again.changes.load(new DataInputStream(new ByteArrayInputStream(saved.toByteArray())));
    ConfigReceipt receipt = a.config.change(ConfigChanges.KEPT + 2, "last");
    assertThat(receipt.nodes()).contains(new AtNode("a", ""), new AtNode("b", ""));
    assertThat(again.inForce).doesNotContain("change 1").endsWith("last");
  }

  @Test
  void aRepeatedEntryChangesNothing() {
    Node a = new Node("a");
    a.config.change(0, "one");
    byte[] answer = a.take(log.getFirst());
    assertThat(answer).endsWith((byte) 1);
    a.config.change(1, "two");
    assertThat(a.take(log.getFirst())).endsWith((byte) 1);
    assertThat(a.changes.last()).isEqualTo(2);
  }
}
