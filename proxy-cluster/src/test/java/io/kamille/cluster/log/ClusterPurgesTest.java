package io.kamille.cluster.log;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.core.Await;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClusterPurgesTest {

  private static final int NEARLY_LONGEST = 100_000;

  /** Whether an entry is in the log just as it is given up. */
  private volatile boolean takesTheLast;

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
                    case "append" -> append((byte[]) arguments[0]);
                    case "ask" -> {
                      asked.add((byte[]) arguments[0]);
                      yield Map.of();
                    }
                    case "members" -> List.of();
                    default -> null;
                  });

  private byte @Nullable [] append(byte[] entry) {
    appended.add(entry);
    try {
      mayGoOn.await();
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
      if (!takesTheLast) {
        return null;
      }
    }
    int count = orders(entry).size();
    ByteBuffer numbers = ByteBuffer.allocate(count * Long.BYTES);
    LongStream.rangeClosed(1, count).forEach(numbers::putLong);
    return numbers.array();
  }

  private static List<PurgeOrder> orders(byte[] entry) {
    return PurgeOrder.read(Arrays.copyOfRange(entry, 1 + Long.BYTES, entry.length));
  }

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
    LogState state = state(directory);
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
    LogState state = state(directory);
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
  void aPurgeAtAProcessThatLeavesIsAnsweredAtOnceAndOrderedByTheNextOne(@TempDir Path directory)
      throws Exception {
    LogState state = state(directory);
    ClusterPurges old = purges(state, directory);
    mayGoOn = new CountDownLatch(1);
    CompletableFuture<PurgeReceipt> first = new CompletableFuture<>();
    Thread.startVirtualThread(() -> first.complete(old.purge(Scope.TAG, List.of("first"), false)));
    appended.take();
    old.close();
    assertThat(first.get(4, TimeUnit.SECONDS).status()).isEqualTo(503);
    PurgeReceipt second =
        assertTimeoutPreemptively(
            Duration.ofSeconds(4), () -> old.purge(Scope.TAG, List.of("second"), false));
    assertThat(second.status()).isEqualTo(503);
    assertThat(old.hasLeft()).isTrue();
    assertThat(List.of(text(asked.take()), text(asked.take())))
        .as("purged at this node meanwhile")
        .satisfiesExactly(
            one -> assertThat(one).contains("first"), two -> assertThat(two).contains("second"));
    mayGoOn.countDown();
    try (ClusterPurges next = purges(state, directory)) {
      next.takeLeft();
      StringBuilder ordered = new StringBuilder();
      while (!ordered.toString().contains("first") || !ordered.toString().contains("second")) {
        ordered.append(text(Objects.requireNonNull(appended.poll(10, TimeUnit.SECONDS))));
        asked.take();
      }
    }
  }

  @Test
  void whatTheLogTakesDuringTheEndStaysInTheFile(@TempDir Path directory) throws Exception {
    takesTheLast = true;
    mayGoOn = new CountDownLatch(1);
    ClusterPurges purges = purges(state(directory), directory);
    purges.begin(List.of(url("http://a.test/1")));
    assertThat(asked.take()[0]).isEqualTo(ClusterPurges.AT_ONCE);
    purges.close();
    assertThat(asked.take()[0]).isEqualTo(ClusterPurges.APPLIED);
    assertThat(file(directory, "purges")).hasSize(1);
    assertThat(directory).isDirectoryNotContaining("glob:**.new");
  }

  private static String text(byte[] octets) {
    return new String(octets, ISO_8859_1);
  }

  @Test
  void aUrlAndAGroupOfEqualNamesAreTwoOrders(@TempDir Path directory) throws Exception {
    PurgeTarget url = Objects.requireNonNull(PurgeTarget.url("http://a.test/"));
    PurgeTarget group =
        Objects.requireNonNull(PurgeTarget.of(Scope.GROUP, List.of("http://a.test/", "invalid")));
    try (ClusterPurges purges = purges(state(directory), directory)) {
      mayGoOn = new CountDownLatch(1);
      purges.begin(List.of(Objects.requireNonNull(PurgeTarget.url("http://a.test/first"))));
      appended.take();
      purges.begin(List.of(url, group));
      mayGoOn.countDown();
      assertThat(new String(appended.take(), ISO_8859_1)).contains("URL", "GROUP");
    }
  }

  private static PurgeTarget url(String url) {
    return Objects.requireNonNull(PurgeTarget.url(url));
  }

  /** From now on the log takes nothing more. */
  private void hold(ClusterPurges purges) throws InterruptedException {
    mayGoOn = new CountDownLatch(1);
    purges.begin(List.of(url("http://a.test/first")));
    appended.take();
  }

  /** What goes into the log once it takes more, up to the last of that number. */
  private List<PurgeOrder> goOn(int count) throws InterruptedException {
    mayGoOn.countDown();
    List<PurgeOrder> orders = new ArrayList<>();
    while (orders.size() < count) {
      orders.addAll(orders(Objects.requireNonNull(appended.poll(10, TimeUnit.SECONDS))));
    }
    assertThat(orders).hasSize(count);
    return orders;
  }

  private static List<PurgeOrder> file(Path directory, String name) throws IOException {
    return PurgeOrder.read(Files.readAllBytes(directory.resolve(name)));
  }

  @ParameterizedTest
  @CsvSource({"0, 1000", "1, 1000 1", "1000, 1000 1000"})
  void whatAnEntryHasNoRoomForGoesIntoTheNextOne(
      int beyond, String entries, @TempDir Path directory) throws Exception {
    try (ClusterPurges purges = purges(state(directory), directory)) {
      hold(purges);
      List<String> names = new ArrayList<>();
      for (int i = 0; i < ClusterPurges.ENTRY_LIMIT + beyond; i++) {
        names.add("http://a.test/" + i);
        purges.begin(List.of(url(names.getLast())));
      }
      mayGoOn.countDown();
      List<PurgeOrder> orders = new ArrayList<>();
      for (String size : entries.split(" ", -1)) {
        List<PurgeOrder> entry = orders(appended.take());
        assertThat(entry).hasSize(Integer.parseInt(size));
        orders.addAll(entry);
      }
      assertThat(orders).extracting(order -> order.names().getFirst()).isEqualTo(names);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 4 1", "1, 3 2"})
  void anEntryIsNoLongerThanTheLimit(int beyond, String entries, @TempDir Path directory)
      throws Exception {
    int order = (1 << 17) / 4;
    try (ClusterPurges purges = purges(state(directory), directory)) {
      hold(purges);
      for (int i = 0; i < 5; i++) {
        // Each "ü" has two octets.
        String name = i + "ü".repeat((order - 30) / 2) + "x".repeat(i == 0 ? 1 + beyond : 1);
        purges.begin(List.of(PurgeTarget.tags(List.of(name))));
      }
      mayGoOn.countDown();
      for (String size : entries.split(" ", -1)) {
        byte[] entry = appended.take();
        assertThat(orders(entry)).hasSize(Integer.parseInt(size));
        assertThat(entry).hasSizeLessThanOrEqualTo(1 + Long.BYTES + (1 << 17));
      }
    }
  }

  /** What its order has of that length, among names of 1,000 characters. */
  private static List<String> names(Scope kind, List<String> first, int octets) {
    List<String> names = new ArrayList<>(first);
    while (length(kind, names) < octets - 1_002) {
      names.add(String.valueOf(1_000 + names.size()).repeat(250));
    }
    names.add("x".repeat(octets - length(kind, names) - 2));
    assertThat(length(kind, names)).isEqualTo(octets);
    return names;
  }

  private static int length(Scope kind, List<String> names) {
    return PurgeOrder.octets(List.of(new PurgeOrder(0, kind, names, false, 0))).length;
  }

  @Test
  void aPurgeThatNoEntryHasRoomForIsRefused(@TempDir Path directory) throws Exception {
    try (ClusterPurges purges = purges(state(directory), directory)) {
      List<String> longest = names(Scope.TAG, List.of(), PurgeOrder.LIMIT_OCTETS);
      assertThat(purges.purge(Scope.TAG, longest, false).isLogged()).isTrue();
      assertThat(orders(appended.take()).getFirst().names()).isEqualTo(longest);
      List<String> beyond = names(Scope.TAG, List.of(), PurgeOrder.LIMIT_OCTETS + 1);
      assertThatThrownBy(() -> purges.purge(Scope.TAG, beyond, false))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("131072 octets at the most");
      assertThat(purges.waiting()).isZero();
      assertThat(purges.purge(Scope.TAG, List.of("next"), false).isLogged()).isTrue();
      assertThat(orders(appended.take()).getFirst().names()).containsExactly("next");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void ofGroupsThatNoEntryHasRoomForTheWholeOriginIsPurged(int beyond, @TempDir Path directory)
      throws Exception {
    List<String> origin = List.of("http://a.test/");
    List<String> groups = names(Scope.GROUP, origin, PurgeOrder.LIMIT_OCTETS + beyond);
    try (ClusterPurges purges = purges(state(directory), directory)) {
      purges.begin(List.of(Objects.requireNonNull(PurgeTarget.of(Scope.GROUP, groups))));
      assertThat(orders(appended.take()))
          .singleElement()
          .returns(Scope.GROUP, PurgeOrder::kind)
          .returns(beyond == 0 ? groups : origin, PurgeOrder::names);
    }
  }

  @Test
  void ifVeryManyWaitFurtherOnesAreThoseOfTheirOrigin(@TempDir Path directory) throws Exception {
    try (ClusterPurges purges = purges(state(directory), directory)) {
      hold(purges);
      for (int i = 0; i < ClusterPurges.WAITING_LIMIT; i++) {
        purges.begin(List.of(url("http://a.test/" + i)));
      }
      for (int i = 0; i < 3 * ClusterPurges.WAITING_LIMIT; i++) {
        purges.begin(List.of(url("http://b.test/" + i)));
        assertThat(purges.waiting()).isEqualTo(ClusterPurges.WAITING_LIMIT + 1);
      }
      List<PurgeOrder> orders = goOn(ClusterPurges.WAITING_LIMIT + 1);
      assertThat(orders.removeLast())
          .returns(Scope.GROUP, PurgeOrder::kind)
          .returns(List.of("http://b.test/"), PurgeOrder::names);
      assertThat(orders).extracting(PurgeOrder::kind).containsOnly(Scope.URL);
      assertThat(orders).extracting(PurgeOrder::names).doesNotHaveDuplicates();
    }
  }

  @Test
  void ofWhatFindsNoRoomOneThatPurgesEverythingTakesThePlace(@TempDir Path directory)
      throws Exception {
    try (ClusterPurges purges = purges(state(directory), directory)) {
      hold(purges);
      BlockingQueue<PurgeReceipt> receipts = new LinkedBlockingQueue<>();
      IntFunction<Runnable> ordering =
          i -> () -> receipts.add(purges.purge(Scope.URL, List.of("http://a.test/" + i), false));
      for (int i = 0; i < ClusterPurges.QUEUE_LIMIT; i++) {
        Thread.startVirtualThread(ordering.apply(i));
      }
      Await.until(() -> purges.waiting() == ClusterPurges.QUEUE_LIMIT, "all wait");
      Thread beyond = Thread.startVirtualThread(ordering.apply(ClusterPurges.QUEUE_LIMIT));
      Await.until(
          () -> beyond.getState() == Thread.State.TIMED_WAITING, "it waits for its receipt");
      for (int i = 0; i < ClusterPurges.QUEUE_LIMIT; i++) {
        CompletionStage<?> kept = purges.begin(List.of(url("http://b" + i + ".test/")));
        assertThat(purges.waiting()).isEqualTo(ClusterPurges.QUEUE_LIMIT + 1);
        if (i == 0) {
          kept.toCompletableFuture().get(10, TimeUnit.SECONDS);
          assertThat(file(directory, "purges")).last().returns(Scope.ALL, PurgeOrder::kind);
        }
      }
      List<PurgeOrder> orders = goOn(ClusterPurges.QUEUE_LIMIT + 1);
      assertThat(orders.removeLast().kind()).isEqualTo(Scope.ALL);
      assertThat(orders).extracting(PurgeOrder::kind).containsOnly(Scope.URL);
      assertThat(orders).extracting(PurgeOrder::names).doesNotHaveDuplicates();
      for (int i = 0; i <= ClusterPurges.QUEUE_LIMIT; i++) {
        assertThat(Objects.requireNonNull(receipts.poll(10, TimeUnit.SECONDS)).isLogged()).isTrue();
      }
      // What is stored from now on is purged anew.
      purges.begin(List.of(url("http://b0.test/")));
      assertThat(goOn(1).getFirst().names()).contains("http://b0.test/");
    }
  }

  @Test
  void ifTheFileIsFullTheNextProcessPurgesEverything(@TempDir Path directory) throws Exception {
    ClusterPurges purges = purges(state(directory), directory);
    hold(purges);
    begin(purges, 1, ClusterPurges.UNLOGGED_LIMIT);
    List<PurgeOrder> atTheLimit = file(directory, "purges");
    assertThat(atTheLimit).hasSize(ClusterPurges.UNLOGGED_LIMIT);
    assertThat(atTheLimit).extracting(PurgeOrder::kind).doesNotContain(Scope.ALL);
    int from = ClusterPurges.UNLOGGED_LIMIT;
    for (int to : new int[] {from + 1, 2 * from}) {
      begin(purges, from, to);
      List<PurgeOrder> kept = file(directory, "purges");
      assertThat(kept.removeLast().kind()).isEqualTo(Scope.ALL);
      assertThat(kept).isEqualTo(atTheLimit);
    }
    purges.close();
    mayGoOn.countDown();
    appended.clear();
    try (ClusterPurges next = purges(state(directory), directory)) {
      List<PurgeOrder> orders = goOn(ClusterPurges.UNLOGGED_LIMIT + 1);
      assertThat(orders.removeLast().kind()).isEqualTo(Scope.ALL);
      assertThat(orders).isEqualTo(atTheLimit);
      Await.until(() -> next.waiting() == 0, "none waits");
      Await.until(() -> directory.resolve("purges").toFile().length() == 0, "the file is empty");
    }
  }

  @Test
  void aFileOfVeryLongNamesIsFullEarlierAndSoIsAMessage(@TempDir Path directory) throws Exception {
    try (ClusterPurges purges = purges(state(directory), directory)) {
      hold(purges);
      int most = ClusterPurges.UNLOGGED_LIMIT_CHARS / NEARLY_LONGEST;
      begin(purges, longest(0, 2 * most));
      List<PurgeOrder> kept = file(directory, "purges");
      assertThat(kept).hasSizeBetween(most, most + 2);
      assertThat(kept.removeLast().kind()).isEqualTo(Scope.ALL);
      assertThat(kept).extracting(PurgeOrder::kind).doesNotContain(Scope.ALL);
      begin(purges, longest(2 * most, 2 * most + 9));
      assertThat(file(directory, "purges")).hasSize(kept.size() + 1);
      Await.until(() -> asked.stream().anyMatch(ClusterPurgesTest::isEverything), "all are told");
      assertThat(asked)
          .allMatch(message -> message.length <= 1 + ClusterPurges.AT_ONCE_LIMIT_OCTETS);
    }
  }

  private static boolean isEverything(byte[] message) {
    return PurgeOrder.read(Arrays.copyOfRange(message, 1, message.length)).stream()
        .anyMatch(order -> order.kind() == Scope.ALL);
  }

  /** Groups of origins, each nearly as long as an order may be. */
  private static List<PurgeTarget> longest(int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(i -> names(Scope.GROUP, List.of("http://a" + i + ".test/"), NEARLY_LONGEST + 64))
        .map(names -> Objects.requireNonNull(PurgeTarget.of(Scope.GROUP, names)))
        .toList();
  }

  private static void begin(ClusterPurges purges, List<PurgeTarget> targets) throws Exception {
    purges.begin(targets).toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  /** One of each origin, until they are kept. */
  private static void begin(ClusterPurges purges, int from, int to) throws Exception {
    List<PurgeTarget> targets =
        IntStream.range(from, to).mapToObj(i -> url("http://a" + i + ".test/")).toList();
    purges.begin(targets).toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  @Test
  void howeverManyAProcessThatHasLeftMakesInvalidTheNextOneOrdersIt(@TempDir Path directory)
      throws Exception {
    ClusterPurges old = purges(state(directory), directory);
    old.close();
    try (ClusterPurges next = purges(state(directory), directory)) {
      begin(old, 0, ClusterPurges.UNLOGGED_LIMIT + 1);
      next.takeLeft();
      assertThat(goOn(ClusterPurges.UNLOGGED_LIMIT + 1))
          .last()
          .returns(Scope.ALL, PurgeOrder::kind);
      begin(old, 0, 1);
      next.takeLeft();
      assertThat(goOn(1).getFirst().names()).contains("http://a0.test/");
    }
  }

  private LogState state(Path directory) {
    return new LogState(local, new PlaceFile(directory.resolve("applied")));
  }

  private ClusterPurges purges(LogState state, Path directory) {
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
