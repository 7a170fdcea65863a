package io.kamille.cluster.purge;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterPurgesTest {

  private CountDownLatch mayGoOn = new CountDownLatch(0);
  private final BlockingQueue<byte[]> appended = new LinkedBlockingQueue<>();
  private final BlockingQueue<byte[]> asked = new LinkedBlockingQueue<>();

  /** Takes each entry into its log as the first one, and applies none here. */
  private final ClusterEngine engine =
      (ClusterEngine)
          Proxy.newProxyInstance(
              ClusterEngine.class.getClassLoader(),
              new Class<?>[] {ClusterEngine.class},
              (_, method, arguments) ->
                  switch (method.getName()) {
                    case "append" -> {
                      appended.add((byte[]) arguments[0]);
                      mayGoOn.await();
                      yield ByteBuffer.allocate(Long.BYTES).putLong(1).array();
                    }
                    case "ask" -> {
                      asked.add((byte[]) arguments[0]);
                      yield Map.of();
                    }
                    case "members" -> List.of();
                    default -> null;
                  });

  private final LocalPurges local =
      new LocalPurges() {
        @Override
        public long purge(long number, PurgeTarget target, boolean isSoft) {
          return 1;
        }

        @Override
        public void invalidate(String uri) {}

        @Override
        public void clear() {}

        @Override
        public void whenKept(Runnable action) {}
      };

  /** What another node still has would be taken over before. */
  @Test
  void whatAnAnswerMakesInvalidIsKeptOnceItIsCarriedOutHere(@TempDir Path directory)
      throws Exception {
    ClusterState state = state(directory);
    PurgeTarget target = Objects.requireNonNull(PurgeTarget.url("http://a.test/1"));
    try (ClusterPurges purges = purges(state, directory)) {
      CompletableFuture<?> kept = purges.begin(List.of(target)).toCompletableFuture();
      byte[] entry = appended.take();
      asked.take();
      assertThat(kept).isNotDone();
      state.apply(entry);
      assertThat(kept).isDone();
    }
  }

  /** It may still answer for a while after another one has taken its place. */
  @Test
  void whatAProcessThatHasLeftMakesInvalidIsOrderedByTheNextOne(@TempDir Path directory)
      throws Exception {
    ClusterState state = state(directory);
    PurgeTarget target = Objects.requireNonNull(PurgeTarget.url("http://a.test/1"));
    ClusterPurges old = purges(state, directory);
    old.close();
    try (ClusterPurges next = purges(state, directory)) {
      for (int i = 0; i < 2; i++) {
        old.begin(List.of(target)).toCompletableFuture().get(10, TimeUnit.SECONDS);
        next.takeLeft();
        byte[] entry = Objects.requireNonNull(appended.poll(10, TimeUnit.SECONDS));
        assertThat(new String(entry, ISO_8859_1)).contains("a.test/1");
      }
    }
    // Until it was in the log, it would have outlived that process, too.
    assertThat(directory.resolve("purges.left")).doesNotExist();
    assertThat(directory.resolve("purges.taken")).doesNotExist();
  }

  @Test
  void aUrlAndAGroupOfEqualNamesAreTwoOrders(@TempDir Path directory) throws Exception {
    PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://a.test/"));
    PurgeTarget group =
        Objects.requireNonNull(
            PurgeTarget.of(PurgeTarget.Kind.GROUP, List.of("http://a.test/", "invalid")));
    try (ClusterPurges purges = purges(state(directory), directory)) {
      mayGoOn = new CountDownLatch(1);
      purges.begin(List.of(Objects.requireNonNull(PurgeTarget.url("http://a.test/first"))));
      appended.take();
      purges.begin(List.of(url, group));
      mayGoOn.countDown();
      assertThat(new String(appended.take(), ISO_8859_1)).contains("URL", "GROUP");
    }
  }

  private ClusterState state(Path directory) {
    return new ClusterState(local, new PlaceFile(directory.resolve("applied")));
  }

  private ClusterPurges purges(ClusterState state, Path directory) {
    return new ClusterPurges(
        engine,
        state,
        local,
        Duration.ofSeconds(1),
        null,
        directory.resolve("purges"),
        new MetricGroup(new MetricRegistry()));
  }
}
