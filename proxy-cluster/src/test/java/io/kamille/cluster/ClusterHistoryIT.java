package io.kamille.cluster;

import static io.kamille.core.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cluster.Linearizability.Effect;
import io.kamille.cluster.Linearizability.Operation;
import io.kamille.cluster.config.ClusterConfig;
import io.kamille.cluster.config.ConfigReceipt;
import io.kamille.cluster.config.NodeConfig;
import io.kamille.cluster.engine.Loss;
import io.kamille.cluster.log.LocalPurges;
import io.kamille.cluster.log.PurgeReceipt;
import io.kamille.cluster.log.PurgeReceipt.AtNode;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Purges of every kind and changes of the configuration at all nodes, while nodes end and messages
 * get lost, for -Dkamille.history.rounds. Their history is linearizable. It takes its time, so
 * {@code ./dev test --cluster} alone runs it.
 */
@EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
class ClusterHistoryIT {

  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final int PURGERS = 3;
  private static final int ROUNDS = Integer.getInteger("kamille.history.rounds", 2);
  private static final List<PurgeTarget> TARGETS =
      Stream.of(
              PurgeTarget.url("http://a.test/"),
              PurgeTarget.prefix("http://a.test/of/"),
              PurgeTarget.host("a.test"),
              PurgeTarget.tags(List.of("x", "y")),
              PurgeTarget.of(Scope.GROUP, List.of("http://a.test", "g")))
          .map(Objects::requireNonNull)
          .toList();
  private static final long CHECKER_STACK_BYTES = 1L << 30;

  @TempDir private Path directory;

  private final ConcurrentMap<String, Cluster> nodes = new ConcurrentHashMap<>();

  /** A purge takes a later number; what answers make invalid takes some, too. */
  private final Queue<Operation<Long>> purges = new ConcurrentLinkedQueue<>();

  /** A change is made if it is based on the last one. */
  private final Queue<Operation<Long>> changes = new ConcurrentLinkedQueue<>();

  /** At each node: what was applied there stays applied. */
  private final Map<String, Queue<Operation<Long>>> applied = new TreeMap<>();

  private final Map<String, Accepting> caches = new TreeMap<>();
  private final AtomicLong unsafe = new AtomicLong();
  private final AtomicInteger logged = new AtomicInteger();
  private final AtomicInteger changed = new AtomicInteger();
  private final AtomicBoolean isOver = new AtomicBoolean();

  /** What each number is about, at whatever node it was carried out first. */
  private final Map<Long, String> meant = new ConcurrentHashMap<>();

  private final Queue<String> differing = new ConcurrentLinkedQueue<>();

  /** What answers to unsafe requests have made invalid. */
  private final Queue<String> begun = new ConcurrentLinkedQueue<>();

  private final class Accepting implements LocalPurges, NodeConfig {

    private final Set<String> invalid = ConcurrentHashMap.newKeySet();

    @Override
    public long purge(long number, PurgeTarget target, boolean isSoft) {
      String meaning = target.kind() + " " + target.names() + (isSoft ? " soft" : " hard");
      String before = number == 0 ? null : meant.putIfAbsent(number, meaning);
      if (before != null && !before.equals(meaning)) {
        differing.add(number + " is " + before + " and " + meaning);
      }
      if (target.kind() == Scope.GROUP) {
        invalid.add(target.names().getLast());
      }
      return 1;
    }

    @Override
    public void invalidate(String uri) {
      invalid.add(uri);
    }

    @Override
    public void clear() {}

    @Override
    public void whenKept(Runnable action) {
      action.run();
    }

    @Override
    public String prepare(String change) {
      return "";
    }

    @Override
    public String apply(String change) {
      return "";
    }

    @Override
    public String digest() {
      return "";
    }
  }

  private void join(ThreeNodes settings, String name) {
    try {
      Accepting node = Objects.requireNonNull(caches.get(name), name);
      Cluster cluster =
          new Cluster(
              settings.settings(name), "1.2.3", settings.stateOf(name), node, new MetricRegistry());
      cluster.shareConfig(node);
      cluster.awaitCurrent();
      nodes.put(name, cluster);
    } catch (IOException refused) {
      throw new IllegalStateException(refused);
    }
  }

  @AfterEach
  void close() {
    isOver.set(true);
    nodes.values().parallelStream().forEach(Cluster::close);
  }

  private static <T> T any(List<T> of) {
    return of.get(ThreadLocalRandom.current().nextInt(of.size()));
  }

  private @Nullable Cluster any() {
    return nodes.get(any(NAMES));
  }

  private Cluster node(String name) {
    return Objects.requireNonNull(nodes.get(name), name);
  }

  private void purge() {
    Cluster node = any();
    if (node == null) {
      return;
    }
    long called = System.nanoTime();
    PurgeTarget target = any(TARGETS);
    PurgeReceipt receipt =
        node.purges()
            .purge(target.kind(), target.names(), ThreadLocalRandom.current().nextBoolean());
    long returned = System.nanoTime();
    if (!receipt.isLogged()) {
      return;
    }
    logged.incrementAndGet();
    long number = receipt.number();
    purges.add(new Operation<>(called, returned, last -> last < number ? number : null));
    receipt.nodes().stream()
        .filter(AtNode::isDone)
        .forEach(at -> of(at.node()).add(new Operation<>(called, returned, raised(number))));
  }

  /** As the answer to an unsafe request does: a URL, or a group. */
  private void invalidate() {
    Cluster node = any();
    if (node == null) {
      return;
    }
    long number = unsafe.incrementAndGet();
    String name = number % 2 == 0 ? "http://a.test/" + number : "group-" + number;
    PurgeTarget target =
        number % 2 == 0
            ? PurgeTarget.url(name)
            : PurgeTarget.of(Scope.GROUP, List.of("http://a.test", name));
    try {
      node.purges()
          .begin(List.of(Objects.requireNonNull(target)))
          .toCompletableFuture()
          .get(1, TimeUnit.SECONDS);
      begun.add(name);
    } catch (Exception closed) {
      // Nobody was answered.
    }
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
  }

  private static Effect<Long> raised(long number) {
    return last -> Math.max(last, number);
  }

  private Queue<Operation<Long>> of(String node) {
    return Objects.requireNonNull(applied.get(node), node);
  }

  private void read() {
    Cluster node = any();
    if (node == null) {
      return;
    }
    long called = System.nanoTime();
    boolean wasCurrent = node.isCurrent();
    long number = node.applied();
    if (wasCurrent && node.isCurrent()) {
      of(node.settings().node())
          .add(new Operation<>(called, System.nanoTime(), last -> number >= last ? number : null));
    }
  }

  private void change() {
    Cluster node = any();
    ClusterConfig config = node == null ? null : node.config();
    if (config == null) {
      return;
    }
    long base = config.done();
    long called = System.nanoTime();
    ConfigReceipt receipt = config.change(base, "change");
    long returned = System.nanoTime();
    long number = receipt.number();
    switch (receipt.state()) {
      case IN_FORCE -> {
        changed.incrementAndGet();
        changes.add(
            new Operation<>(
                called, returned, last -> last == base && number == last + 1 ? number : null));
      }
      case STALE ->
          changes.add(new Operation<>(called, returned, last -> last != base ? last : null));
      case NO_QUORUM ->
          changes.add(
              new Operation<>(
                  called, Linearizability.NEVER, last -> last == base ? last + 1 : last));
      case NOT_PREPARED -> {}
    }
  }

  private Thread repeat(Runnable turn) {
    return Thread.startVirtualThread(
        () -> {
          while (!isOver.get()) {
            turn.run();
          }
        });
  }

  private static void more(AtomicInteger count, int many) {
    int before = count.get();
    until(() -> count.get() >= before + many, "the load goes on");
  }

  private boolean isWhole() {
    return nodes.size() == NAMES.size()
        && nodes.values().stream()
            .allMatch(node -> node.isCurrent() && node.engine().members().size() == NAMES.size());
  }

  @Test
  void whatAllNodesSayHasOneOrder() throws Exception {
    ThreeNodes settings = new ThreeNodes(directory);
    NAMES.forEach(name -> applied.put(name, new ConcurrentLinkedQueue<>()));
    NAMES.forEach(name -> caches.put(name, new Accepting()));
    NAMES.parallelStream().forEach(name -> join(settings, name));
    until(this::isWhole, "all are current");
    List<Thread> load = new ArrayList<>();
    for (int i = 0; i < PURGERS; i++) {
      load.add(
          repeat(
              () -> {
                purge();
                read();
              }));
    }
    load.add(repeat(this::change));
    load.add(repeat(this::change));
    load.add(repeat(this::invalidate));
    for (int i = 0; i < ROUNDS; i++) {
      more(changed, 20);
      String leader = Objects.requireNonNull(node("a").position().leader());
      Objects.requireNonNull(nodes.remove(leader)).close();
      more(logged, 20);
      join(settings, leader);
      until(this::isWhole, "it is back");
      try (Loss loss = new Loss(node(NAMES.get(i % NAMES.size())).engine(), true, true)) {
        assertThat(loss).isNotNull();
        until(() -> nodes.values().stream().anyMatch(node -> !node.isCurrent()), "it is cut off");
        more(logged, 20);
      }
      until(this::isWhole, "all are current");
    }
    more(changed, 20);
    more(logged, 20);
    isOver.set(true);
    for (Thread thread : load) {
      thread.join();
    }
    assertThat(differing).isEmpty();
    assertThat(begun).hasSizeGreaterThan(20);
    for (Accepting cache : caches.values()) {
      until(() -> cache.invalid.containsAll(begun), "what was answered is invalid at all nodes");
    }
    judge("purges", purges);
    judge("changes", changes);
    applied.forEach((node, history) -> judge("applied at " + node, history));
  }

  private static void judge(String what, Queue<Operation<Long>> history) {
    AtomicBoolean holds = new AtomicBoolean();
    List<Operation<Long>> all = List.copyOf(history);
    Thread checker =
        new Thread(
            null, () -> holds.set(Linearizability.holds(all, 0L)), "checker", CHECKER_STACK_BYTES);
    checker.start();
    until(() -> !checker.isAlive(), what + " are judged");
    assertThat(all).hasSizeGreaterThan(20);
    assertThat(holds).as(what).isTrue();
  }
}
