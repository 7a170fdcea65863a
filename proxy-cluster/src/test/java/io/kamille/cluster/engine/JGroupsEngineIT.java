package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.engine.ClusterEngine.Answer;
import io.kamille.cluster.engine.ClusterEngine.Listener;
import io.kamille.cluster.engine.ClusterEngine.State;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JGroupsEngineIT {

  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir private Path directory;

  private final Map<String, List<String>> applied = new ConcurrentHashMap<>();

  private final class Node implements Listener, State {
    private final String name;
    private final List<String> own = new CopyOnWriteArrayList<>();

    Node(String name) {
      this.name = name;
      applied.put(name, own);
    }

    @Override
    public void told(String node, byte[] message) {}

    @Override
    public void asked(String node, byte[] message, Answer answer) {
      answer.send((name + " to " + node).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void members(List<String> nodes) {}

    @Override
    public byte[] apply(byte[] entry) {
      own.add(new String(entry, StandardCharsets.UTF_8));
      return new byte[] {(byte) own.size()};
    }

    @Override
    public byte[] save() {
      return new byte[0];
    }

    @Override
    public void load(byte[] saved) {}
  }

  @Test
  void threeNodesKeepOneLog() throws Exception {
    ThreeNodes nodes = new ThreeNodes(directory);
    List<CompletableFuture<JGroupsEngine>> joining =
        List.of("a", "b", "c").stream()
            .map(
                name ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          try {
                            Node node = new Node(name);
                            return JGroupsEngine.join(
                                nodes.settings(name),
                                nodes.stateOf(name),
                                nodes::hosts,
                                node,
                                node);
                          } catch (Exception e) {
                            throw new IllegalStateException(e);
                          }
                        }))
            .toList();
    List<JGroupsEngine> engines = joining.stream().map(CompletableFuture::join).toList();
    while (engines.stream()
        .anyMatch(e -> e.members().size() < 3 || e.position().leader() == null)) {
      Thread.onSpinWait();
    }
    for (int i = 0; i < 20; i++) {
      byte[] answer =
          engines.get(i % 3).append(("entry " + i).getBytes(StandardCharsets.UTF_8), LONG);
      assertThat(answer).containsExactly(i + 1);
      assertThat(engines.get(0).ask(new byte[3], LONG)).hasSize(3);
    }
    engines.forEach(JGroupsEngine::close);
  }
}
