package io.kamille.cluster;

import static io.kamille.core.Await.until;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.purge.PurgeTarget.Scope;
import io.kamille.cache.rules.Tags;
import io.kamille.cluster.engine.Loss;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.cluster.log.LocalPurges;
import io.kamille.cluster.log.PurgeReceipt;
import io.kamille.cluster.log.PurgeReceipt.AtNode;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.tls.Certificates;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jgroups.Version;
import org.jgroups.stack.IpAddress;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Three nodes on loopback, in one process. Tests that take their time run by {@code ./dev test
 * --cluster} alone.
 */
class ClusterIT {

  private static Path directory;
  private static ThreeNodes settings;
  private static final Map<String, Cluster> nodes = new ConcurrentSkipListMap<>();
  private static final Map<String, List<String>> purged = new ConcurrentHashMap<>();
  private static volatile String refused = "";

  @BeforeAll
  static void begin(@TempDir Path temporary) throws Exception {
    directory = temporary;
    settings = new ThreeNodes(directory);
    // One has seen all voters before the others did, and votes already.
    Path log = Files.createDirectories(settings.stateOf("b").resolve("log"));
    Files.write(log.resolve("metadata.raft"), new byte[16]);
    Files.createFile(log.resolve("entries.raft"));
    Files.createFile(log.resolve("voter"));
  }

  /** Each test begins with all three, whatever the one before has done. */
  @BeforeEach
  void start() {
    refused = "";
    join("a", "b", "c");
    until(ClusterIT::isWhole, "all are current");
  }

  @AfterAll
  static void end() {
    nodes.values().parallelStream().forEach(Cluster::close);
    nodes.clear();
  }

  private static boolean isWhole() {
    return nodes.values().stream()
        .allMatch(node -> node.isCurrent() && node.hasQuorum() && members(node).size() == 3);
  }

  /** Those of them that are away. */
  private static void join(String... names) {
    Stream.of(names)
        .filter(name -> !nodes.containsKey(name))
        .map(name -> Thread.startVirtualThread(() -> nodes.put(name, started(name))))
        .toList()
        .forEach(ClusterIT::ended);
  }

  private static void ended(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  private static List<String> members(Cluster node) {
    return node.nodes().stream()
        .filter(each -> !each.state().equals("away"))
        .map(NodeView::node)
        .toList();
  }

  private static Cluster started(String name) {
    try {
      Cluster cluster =
          new Cluster(
              settings.settings(name),
              "1.2.3",
              settings.stateOf(name),
              new Purged(purgedAt(name)),
              new MetricRegistry());
      cluster.awaitCurrent();
      return cluster;
    } catch (IOException refused) {
      throw new IllegalStateException(refused);
    }
  }

  /** A cache that takes down what it is told. */
  private record Purged(List<String> names) implements LocalPurges {

    @Override
    public long purge(long number, PurgeTarget target, boolean isSoft) {
      if (target.names().contains(refused)) {
        throw new AssertionError("the cache is no good");
      }
      names.addAll(target.names());
      return 1;
    }

    @Override
    public void invalidate(String uri) {
      names.add("invalid " + uri);
    }

    @Override
    public void clear() {
      names.add("all");
    }

    @Override
    public void whenKept(Runnable action) {
      action.run();
    }
  }

  private static Cluster node(String name) {
    return Objects.requireNonNull(nodes.get(name), name);
  }

  private static PurgeReceipt purge(String node, String uri) {
    return node(node).purges().purge(Scope.URL, List.of(uri), false);
  }

  private static void close(String... names) {
    for (String name : names) {
      node(name).close();
      nodes.remove(name);
    }
  }

  private static String leader() {
    return nodes.keySet().stream()
        .filter(name -> name.equals(node(name).position().leader()))
        .findFirst()
        .orElseThrow();
  }

  private static long seconds(long sinceNanos) {
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - sinceNanos);
  }

  private static List<String> purgedAt(String node) {
    return purged.computeIfAbsent(node, _ -> new CopyOnWriteArrayList<>());
  }

  private static boolean has(String node, String uri) {
    return purgedAt(node).contains(uri);
  }

  @Test
  void aPurgeIsDoneAtAllNodes() {
    PurgeReceipt receipt = purge("b", "http://a.test/1");
    assertThat(receipt.isComplete()).isTrue();
    assertThat(receipt.safeIn()).isZero();
    assertThat(receipt.nodes()).extracting(AtNode::node).containsExactly("a", "b", "c");
    assertThat(nodes.keySet()).allMatch(node -> has(node, "http://a.test/1"));
  }

  @Test
  void aPurgeOfAsManyGroupsAsAnOriginMayNameIsDoneAtAllNodes() {
    List<String> names = new ArrayList<>(List.of("http://a.test"));
    for (int i = 0; i < Tags.LIMIT; i++) {
      names.add("group-" + i);
    }
    assertThat(node("b").purges().purge(Scope.GROUP, names, false).isComplete()).isTrue();
    assertThat(nodes.keySet()).allMatch(node -> has(node, "group-" + (Tags.LIMIT - 1)));
  }

  @Test
  void aPurgeAsLongAsAnEntryMayBeIsDoneAtAllNodes() {
    List<String> names = new ArrayList<>(List.of("http://a.test"));
    for (int i = 0; i < 128; i++) {
      names.add("n".repeat(1_019) + i);
    }
    assertThat(node("b").purges().purge(Scope.GROUP, names, false).isComplete()).isTrue();
    assertThat(nodes.keySet()).allMatch(node -> has(node, names.getLast()));
  }

  @EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
  @Test
  void aLogThatIsFullGivesWayToWhatItHasMade() throws IOException {
    node("a").values().put("kept", "v".getBytes(US_ASCII));
    assertThat(purge("a", "http://a.test/before").isComplete()).isTrue();
    close("c");
    delete(settings.stateOf("c"));
    purgedAt("c").clear();
    List<String> names = new ArrayList<>(List.of("http://a.test"));
    for (int i = 0; i < 50; i++) {
      names.add("n".repeat(2_000) + i);
    }
    long before = node("a").log().snapshot();
    long bytes = node("a").log().bytes();
    int entry = 100_000;
    for (int i = 0; node("a").log().snapshot() == before; i++) {
      assertThat(i).isLessThan((8 << 20) / entry + 1);
      bytes = node("a").log().bytes();
      assertThat(bytes).isLessThan(8 << 20);
      assertThat(node("a").purges().purge(Scope.GROUP, names, false).isLogged()).isTrue();
    }
    assertThat(bytes).as("it was full").isGreaterThan((8 << 20) - 20 * entry);
    assertThat(node("a").log().bytes()).isLessThan(8 << 20);
    long number = node("a").applied();
    join("c");
    until(() -> node("c").isCurrent(), "c is current");
    assertThat(node("c").applied()).isEqualTo(number);
    assertThat(purgedAt("c")).contains("http://a.test/before", names.getLast());
    assertThat(node("c").values().get("kept")).isEqualTo("v".getBytes(US_ASCII));
    node("a").values().put("kept", null);
  }

  @Test
  void whatAnAnswerMakesInvalidIsRemovedAtANodeThatWasAway() throws Exception {
    close("c");
    List<PurgeTarget> targets = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      targets.add(Objects.requireNonNull(PurgeTarget.url("http://a.test/item/" + i % 100)));
    }
    for (PurgeTarget target : targets) {
      node("a").purges().begin(List.of(target));
    }
    node("a").purges().begin(targets.subList(0, 100)).toCompletableFuture().get(5, SECONDS);
    join("c");
    until(() -> node("c").isCurrent(), "c is current");
    assertThat(purgedAt("c")).contains("invalid http://a.test/item/0");
    assertThat(purgedAt("c").stream().filter(name -> name.endsWith("/item/99")).count())
        .as("equal ones that wait are one")
        .isBetween(1L, 4L);
  }

  @Test
  void whatNoReaderTakesIsNotWritten() {
    for (String name : List.of("http://a.test/" + "u".repeat(70_000), "no URL")) {
      assertThatThrownBy(() -> purge("a", name)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> node("a").engine().append(new byte[] {99}, Duration.ofSeconds(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(purge("a", "http://a.test/goes-on").isComplete()).isTrue();
  }

  @Test
  void whoeverCannotApplyAnEntrySaysSoAndJoinsOnceItCan() throws IOException {
    assertThat(purge("a", "http://a.test/refused").isComplete()).isTrue();
    Path applied = settings.stateOf("c").resolve("applied");
    long number = node("c").applied();
    until(() -> new PlaceFile(applied).read().number() == number, "c has noted it");
    close("c");
    Files.delete(applied);
    refused = "http://a.test/refused";
    join("c");
    for (int i = 0; i < 2; i++) {
      String reason = "an entry of the log cannot be applied: the cache is no good";
      until(() -> node("c").problem().equals(reason), "c says why");
      assertThat(purge("a", "http://a.test/without-c").isLogged()).isTrue();
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(600));
    }
    refused = "";
    until(ClusterIT::isWhole, "c is back");
    until(() -> node("c").problem().isEmpty(), "c has no problem");
  }

  @Test
  void aValueIsAtAllNodesOnceItIsAnswered() throws IOException {
    byte[] content = "of a".getBytes(US_ASCII);
    assertThat(node("a").values().put("t/1", content))
        .isEqualTo(Map.of("a", true, "b", true, "c", true));
    assertThat(nodes.values()).allMatch(each -> Arrays.equals(each.values().get("t/1"), content));
    assertThat(nodes.values()).filteredOn(each -> each.values().leads()).hasSize(1);
    assertThatThrownBy(() -> node("b").values().put("t/2", new byte[10 << 20]))
        .hasMessageStartingWith("the log of the cluster has no room for t/2");
    node("c").values().put("t/1", null);
    assertThat(nodes.values()).allMatch(each -> each.values().under("t/").isEmpty());
  }

  @Test
  void whoeverReturnsPurgesWhatItHasMissedBeforeItIsCurrent() throws IOException {
    close("c");
    assertThat(node("a").values().put("missed", "x".getBytes(US_ASCII)))
        .isEqualTo(Map.of("a", true, "b", true, "c", false));
    PurgeReceipt receipt = purge("a", "http://a.test/away");
    assertThat(receipt.isLogged()).isTrue();
    assertThat(receipt.isComplete()).isFalse();
    assertThat(receipt.safeIn()).isEqualTo(settings.settings("a").lease());
    assertThat(receipt.nodes())
        .filteredOn(at -> !at.isDone())
        .extracting(AtNode::node)
        .containsExactly("c");
    join("c");
    until(() -> node("c").isCurrent(), "c is current");
    assertThat(purgedAt("c")).containsOnlyOnce("http://a.test/away");
    assertThat(node("c").values().get("missed")).isNotNull();
    assertThat(purge("c", "http://a.test/back").isComplete()).isTrue();
  }

  @EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
  @Test
  void aPurgeWithoutQuorumIsDoneHereAndElsewhereLater() throws Exception {
    close("b", "c");
    PurgeReceipt receipt = purge("a", "http://a.test/alone");
    assertThat(receipt.isLogged()).isFalse();
    assertThat(receipt.isComplete()).isFalse();
    assertThat(receipt.nodes())
        .filteredOn(AtNode::isDone)
        .extracting(AtNode::node)
        .containsExactly("a");
    assertThat(has("a", "http://a.test/alone")).isTrue();
    PurgeTarget group =
        new PurgeTarget(Scope.GROUP, List.of("http://a.test", "g"), List.of(), Tags.NONE);
    node("a").purges().begin(List.of(group)).toCompletableFuture().get(2, SECONDS);
    until(() -> !node("a").isCurrent(), "the one that is left is cut off");
    // Somebody is there, and does not find it: it leaves, and joins again.
    try (ServerSocket deaf =
        new ServerSocket(settings.port("b"), 10, InetAddress.getLoopbackAddress())) {
      assertThat(deaf.isBound()).isTrue();
      until(() -> members(node("a")).isEmpty(), "it has left");
      until(() -> !members(node("a")).isEmpty(), "it has joined again");
    }
    // The process that was asked ends before there is a majority.
    close("a");
    join("a", "b", "c");
    until(() -> has("b", "http://a.test/alone") && has("c", "http://a.test/alone"), "logged");
    until(() -> has("b", "g") && has("c", "g"), "what an answer made invalid is logged, too");
    until(() -> node("a").purges().waiting() == 0, "nothing waits");
  }

  /** Its kernel accepts connections, as after SIGSTOP. */
  @EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
  @Test
  void aProcessThatStandsStillKeepsNobodyUp() throws IOException {
    close("c");
    try (ServerSocket deaf =
        new ServerSocket(settings.port("c"), 100, InetAddress.getLoopbackAddress())) {
      assertThat(deaf.isBound()).isTrue();
      long began = System.nanoTime();
      while (seconds(began) < 15) {
        long ordered = System.nanoTime();
        assertThat(purge("a", "http://a.test/deaf").isLogged()).isTrue();
        assertThat(seconds(ordered)).isLessThan(2);
      }
    }
  }

  @EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
  @ParameterizedTest
  @CsvSource({"true, false", "false, true", "true, true"})
  void whoeverHearsNobodyOrIsNotHeardIsCutOff(boolean isDeaf, boolean isDumb) throws Exception {
    try (Loss loss = new Loss(node("c").engine(), isDeaf, isDumb)) {
      assertThat(loss).isNotNull();
      until(() -> !node("c").isCurrent(), "c is cut off");
      until(() -> purge("a", "http://a.test/lost-way").isLogged(), "a majority has a purge");
      until(() -> node("a").isCurrent() && node("b").isCurrent(), "the others are current");
      assertThat(node("c").isCurrent() && !has("c", "http://a.test/lost-way")).isFalse();
    }
    until(ClusterIT::isWhole, "all are current");
    assertThat(has("c", "http://a.test/lost-way")).isTrue();
  }

  @EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
  @Test
  void theSecondOfOneNameIsRefusedAndSaysWhoHasIt() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    try (Cluster second =
        new Cluster(
            settings.settings("a", port, settings.hosts()),
            "1.2.3",
            directory.resolve("second"),
            new Purged(purgedAt("second")),
            new MetricRegistry())) {
      until(() -> !second.problem().isEmpty(), "it is refused");
      assertThat(second.problem())
          .isEqualTo(
              "127.0.0.1:"
                  + settings.port("a")
                  + " has the name a already. Give this node another one");
      assertThat(second.isCurrent()).isFalse();
      assertThat(purge("b", "http://a.test/two").isComplete()).isTrue();
    }
  }

  /** A real file system of its own, if this user may mount one. */
  @EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
  @Test
  void aNodeWhoseDiskIsFullLeavesAndReturns() throws Exception {
    close("c");
    String state = settings.stateOf("c").toString();
    assumeThat(run("mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", state))
        .as("whether this user may mount")
        .isZero();
    try {
      join("c");
      until(ClusterIT::isWhole, "all are current");
      Path fill = settings.stateOf("c").resolve("fill");
      Files.write(fill, new byte[6 << 20]);
      until(() -> purge("a", "http://a.test/full").isLogged(), "a majority has a purge");
      until(() -> node("c").problem().contains("is full. Free 16 MiB"), "c says so");
      until(() -> !node("c").isCurrent(), "c is cut off");
      Files.delete(fill);
      until(ClusterIT::isWhole, "c is back");
      assertThat(has("c", "http://a.test/full")).isTrue();
    } finally {
      close("c");
      assertThat(run("umount", "--lazy", state)).isZero();
    }
  }

  private static int run(String... command) throws Exception {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
  }

  @Test
  void withoutItsLeaderAPurgeWaitsForSeconds() {
    String leader = leader();
    close(leader);
    long began = System.nanoTime();
    String left = nodes.keySet().iterator().next();
    assertThat(purge(left, "http://a.test/no-leader").isLogged()).isTrue();
    assertThat(seconds(began)).isLessThan(4);
  }

  @EnabledIfSystemProperty(named = "kamille.slow", matches = "true")
  @Test
  void aVoterWithoutItsLogForgetsNothing() throws IOException {
    assertThat(purge("a", "http://a.test/kept").isComplete()).isTrue();
    long number = node("a").applied();
    close("a", "b", "c");
    delete(settings.stateOf("b").resolve("log"));
    delete(settings.stateOf("c").resolve("log"));
    join("b", "c");
    assertThat(nodes.values()).noneMatch(Cluster::hasQuorum).noneMatch(Cluster::isCurrent);
    assertThat(purge("b", "http://a.test/two-without").isLogged()).isFalse();
    // The only one that knows is not a majority: an operator has to say what holds.
    join("a");
    assertThat(node("a").applied()).isEqualTo(number);
    assertThat(nodes.values()).noneMatch(Cluster::hasQuorum);
    close("a", "b", "c");
    Path earlier = settings.stateOf("a").resolve("earlier");
    Files.move(settings.stateOf("a").resolve("log"), earlier);
    for (String node : List.of("a", "b", "c")) {
      delete(settings.stateOf(node).resolve("log"));
      purgedAt(node).clear();
    }
    start();
    assertThat(purge("a", "http://a.test/anew").isComplete()).isTrue();
    // Of this one it was said that it was not in a log.
    until(() -> node("b").purges().waiting() == 0, "nothing waits");
    assertThat(purgedAt("a"))
        .startsWith("all")
        .containsExactlyInAnyOrder("all", "http://a.test/two-without", "http://a.test/anew");
    theLogOfAnEarlierClusterCutsItsNodeOff(settings.stateOf("a").resolve("log"), earlier);
  }

  private static void theLogOfAnEarlierClusterCutsItsNodeOff(Path log, Path earlier)
      throws IOException {
    close("a");
    delete(log);
    Files.move(earlier, log);
    join("a");
    assertThat(node("a").isCurrent()).isFalse();
    assertThat(purge("b", "http://a.test/without-a").isLogged()).isTrue();
    assertThat(node("b").isCurrent() && node("c").isCurrent()).isTrue();
    assertThat(node("a").isCurrent()).isFalse();
    close("a");
    delete(log);
    join("a");
    until(ClusterIT::isWhole, "all are current");
    assertThat(has("a", "http://a.test/without-a")).isTrue();
  }

  @Test
  void aVoterThatHasLostItsDiskTakesTheLogOfTheOthers() throws IOException {
    close("b");
    delete(settings.stateOf("b"));
    assertThat(purge("a", "http://a.test/lost").isLogged()).isTrue();
    join("b");
    until(() -> node("b").isCurrent(), "b is current");
    assertThat(has("b", "http://a.test/lost")).isTrue();
    until(() -> Files.exists(settings.stateOf("b").resolve("log/voter")), "it votes again");
    close("c");
    assertThat(purge("b", "http://a.test/with-its-vote").isLogged()).isTrue();
  }

  @Test
  void aDamagedLogIsPutAside() throws IOException {
    assertThat(purge("a", "http://a.test/spoiled").isComplete()).isTrue();
    close("b");
    Path log = settings.stateOf("b").resolve("log");
    try (RandomAccessFile entries =
        new RandomAccessFile(log.resolve("entries.raft").toFile(), "rw")) {
      entries.seek(60);
      entries.write(new byte[] {1, 2, 3, 4, 5});
    }
    join("b");
    until(() -> node("b").isCurrent(), "b is current");
    try (Stream<Path> states = Files.list(settings.stateOf("b"))) {
      assertThat(states).anyMatch(file -> file.toString().contains("log.damaged-"));
    }
  }

  private static void delete(Path directory) throws IOException {
    if (Files.notExists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  @Test
  void strangersAreNoMembersAndKeepNobodyOut() throws Exception {
    Certificates others = new Certificates("cluster");
    List<Socket> open = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      Socket stranger = new Socket(InetAddress.getLoopbackAddress(), settings.port("a"));
      open.add(stranger);
      switch (i % 4) {
        case 0 -> stranger.getOutputStream().write(new byte[] {0x16, 3, 1, 2, 0, 1});
        case 1 -> stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
        case 2 -> stranger.getOutputStream().write(new byte[] {0x7F, -1, -1, -1, 0, 0, 0, 9});
        default -> {}
      }
    }
    refused(Certificates.server(others.ecdsa("a"), others.authority()), "TLSv1.3");
    refused(
        Certificates.server(settings.authority().expired("a"), settings.authority().authority()),
        "TLSv1.3");
    refused(
        Certificates.server(settings.authority().ecdsa("a"), settings.authority().authority()),
        "TLSv1.2");
    close("c");
    join("c");
    until(() -> node("c").isCurrent(), "c is current");
    assertThat(members(node("a"))).containsExactly("a", "b", "c");
    assertThat(purge("a", "http://a.test/strangers").isComplete()).isTrue();
    for (Socket stranger : open) {
      stranger.close();
    }
  }

  /** Else it could have others reserve whatever it says. */
  @Test
  void ofAMemberWhoseMessageIsTooLongTheConnectionEnds() throws Exception {
    int limit = 8 << 20;
    try (SSLSocket member = greeting("a")) {
      new DataOutputStream(member.getOutputStream()).writeInt(limit);
      member.setSoTimeout(100);
      assertThatThrownBy(() -> member.getInputStream().read())
          .as("its content is awaited")
          .isInstanceOf(SocketTimeoutException.class);
    }
    for (int length : new int[] {limit + 1, Integer.MAX_VALUE}) {
      try (SSLSocket member = greeting("a")) {
        new DataOutputStream(member.getOutputStream()).writeInt(length);
        member.setSoTimeout(10_000);
        assertThat(member.getInputStream().readAllBytes()).hasSizeLessThan(10);
      }
    }
    assertThat(purge("a", "http://a.test/too-long").isComplete()).isTrue();
  }

  /** Who has a certificate, and speaks as JGroups does. */
  private static SSLSocket greeting(String node) throws Exception {
    SSLContext context =
        Certificates.server(settings.authority().ecdsa("d"), settings.authority().authority());
    InetAddress loopback = InetAddress.getLoopbackAddress();
    SSLSocket member =
        (SSLSocket) context.getSocketFactory().createSocket(loopback, settings.port(node));
    IpAddress address = new IpAddress(loopback, member.getLocalPort());
    DataOutputStream out = new DataOutputStream(member.getOutputStream());
    out.write("bela".getBytes(US_ASCII));
    out.writeShort(Version.version);
    out.writeShort(address.serializedSize());
    address.writeTo(out);
    return member;
  }

  private static void refused(SSLContext context, String protocol) throws IOException {
    try (SSLSocket socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), settings.port("a"))) {
      socket.setEnabledProtocols(new String[] {protocol});
      assertThatThrownBy(
              () -> {
                socket.startHandshake();
                // With TLS 1.3 the other side says no after the handshake of this one.
                assertThat(socket.getInputStream().read()).isEqualTo(-2);
              })
          .isInstanceOf(IOException.class);
    }
  }
}
