package io.kamille.launcher.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.kamille.core.Await;
import io.kamille.core.setting.HostPort;
import io.kamille.launcher.demo.DemoFile;
import io.kamille.launcher.service.Upgrade;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three processes are killed, stopped and upgraded under load: {@code ./dev test --cluster}. */
@SuppressWarnings("NullAway.Init") // each test starts all
class ClusterFaultsIT {

  /*
   * The origin counts the requests for each URL, and answers with the number, some of them late. A
   * purge that was answered says: no response that was begun before it was ordered is served any
   * more, from whatever node.
   *
   *     floor(URL) = what the origin had begun before the purge was ordered
   *     200        it holds for each request that is sent after the answer
   *     202        it holds after safeIn
   *     else       it says nothing
   *
   * A race goes on for -Dkamille.race.seconds.
   */
  private static final int URLS = 8;
  private static final int READERS = 24;
  private static final int PURGERS = 4;
  private static final int RACE_SECONDS = Integer.getInteger("kamille.race.seconds", 60);
  private static final long READ_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long PURGE_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(350);
  private static final int[] ORIGIN_MILLIS = {0, 0, 10, 50, 200};
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final Pattern LEADER = Pattern.compile("\"leader\":\"(\\w)\"");
  private static final Pattern TOKEN = Pattern.compile("kam_([A-Za-z0-9]+)_[A-Za-z0-9_-]+");
  private static final Pattern SAFE_IN = Pattern.compile("\"safeIn\":\"(\\d+)s\"");

  @TempDir private Path directory;

  private final AtomicLongArray begun = new AtomicLongArray(URLS);
  private final AtomicLongArray floors = new AtomicLongArray(URLS);
  private final Map<String, Node> nodes = new TreeMap<>();
  private final List<String> faults = new CopyOnWriteArrayList<>();
  private final Queue<String> failed = new ConcurrentLinkedQueue<>();
  private final AtomicInteger read = new AtomicInteger();
  private final AtomicInteger whole = new AtomicInteger();
  private final AtomicInteger partial = new AtomicInteger();
  private final ScheduledExecutorService later = Executors.newScheduledThreadPool(1);
  private final List<Thread> load = new ArrayList<>();
  private HttpServer origin;
  private volatile boolean isOver;

  /** Its old process carries out no purge any more, its new one none yet. */
  private volatile @Nullable Node upgraded;

  @SuppressWarnings("NullAway.Init") // started at once
  private static final class Node {
    private final Path state;
    private final int site;
    private final int admin;
    private KamilleProcess process;
    private ProcessHandle successor;

    Node(Path state, int site, int admin) {
      this.state = state;
      this.site = site;
      this.admin = admin;
    }

    void start(Path home) throws IOException {
      String file = state.resolve("kamille.yaml").toString();
      process = KamilleProcess.installed(home, state, "run", "--config", file);
    }

    void stop() {
      process.close();
      if (successor != null) {
        successor.destroyForcibly();
      }
    }
  }

  @BeforeEach
  void start() throws Exception {
    origin = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    origin.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    origin.createContext(
        "/",
        exchange -> {
          int url = Integer.parseInt(exchange.getRequestURI().getPath().substring(1));
          byte[] number = Long.toString(begun.incrementAndGet(url)).getBytes(US_ASCII);
          exchange.getResponseHeaders().add("Cache-Control", "max-age=3600");
          exchange.getResponseHeaders().add("Surrogate-Key", "page");
          pause(TimeUnit.MILLISECONDS.toNanos(ORIGIN_MILLIS[random(ORIGIN_MILLIS.length)]));
          exchange.sendResponseHeaders(200, number.length);
          exchange.getResponseBody().write(number);
          exchange.close();
        });
    origin.start();
    List<HostPort> ports = freePorts(NAMES.size() * 4);
    List<ClusterFiles.Node> members = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      members.add(new ClusterFiles.Node(NAMES.get(i), ports.get(4 * i), ports.get(4 * i + 1)));
    }
    KamilleProcess.install(home(), KamilleProcess.installed(home()));
    ClusterFiles files = new ClusterFiles(directory, "shop");
    files.write(members, Instant.now());
    for (int i = 0; i < NAMES.size(); i++) {
      String name = NAMES.get(i);
      Path state = directory.resolve("state-" + name);
      HostPort site = ports.get(4 * i + 2);
      HostPort admin = ports.get(4 * i + 3);
      DemoFile.write(
          Files.createDirectories(state),
          site.toString(),
          null,
          "http://127.0.0.1:" + origin.getAddress().getPort(),
          admin.toString(),
          Files.readString(files.file(name + ".yaml")) + "  lease: 5s\n");
      Node node = new Node(state, site.port(), admin.port());
      node.start(home());
      nodes.put(name, node);
    }
    awaitCurrent("all are current");
  }

  private Path home() {
    return directory.resolve("home");
  }

  private void awaitCurrent(String what) {
    Await.until(() -> nodes.values().stream().allMatch(this::isCurrent), what);
  }

  private static int random(int bound) {
    return ThreadLocalRandom.current().nextInt(bound);
  }

  private static void pause(long nanos) {
    if (nanos > 0) {
      LockSupport.parkNanos(nanos);
    }
  }

  private static List<HostPort> freePorts(int count) throws IOException {
    List<ServerSocket> held = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      held.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
    }
    List<HostPort> ports = new ArrayList<>();
    for (ServerSocket socket : held) {
      ports.add(new HostPort("127.0.0.1", socket.getLocalPort()));
      socket.close();
    }
    return ports;
  }

  @AfterEach
  void stop() {
    isOver = true;
    later.shutdownNow();
    nodes.values().forEach(Node::stop);
    origin.stop(0);
  }

  private static String ask(int port, String head, String body) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(10_000);
      String request =
          head
              + "\r\nConnection: close\r\n"
              + (body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n")
              + "\r\n"
              + body;
      socket.getOutputStream().write(request.getBytes(US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), US_ASCII);
    }
  }

  private static String admin(Node node, String head, String body) throws IOException {
    String token = Files.readString(node.state.resolve("admin-token")).strip();
    return ask(
        node.admin,
        head
            + " HTTP/1.1\r\n"
            + "Host: 127.0.0.1\r\n"
            + "Content-Type: application/json\r\n"
            + "Authorization: Bearer "
            + token,
        body);
  }

  private boolean isCurrent(Node node) {
    try {
      String answer = admin(node, "GET /v1/cluster", "");
      return answer.contains("\"current\":true")
          && answer.contains("\"quorum\":true")
          && !answer.contains("away");
    } catch (IOException notYet) {
      return false;
    }
  }

  private String leader(Node at) throws IOException {
    Matcher leader = LEADER.matcher(admin(at, "GET /v1/cluster", ""));
    assertThat(leader.find()).isTrue();
    return leader.group(1);
  }

  private static String statusOf(String answer) {
    return answer.length() < 12 ? "" : answer.substring(9, 12);
  }

  private Node node(String name) {
    return Objects.requireNonNull(nodes.get(name), name);
  }

  private Node node(int number) {
    return node(NAMES.get(number % NAMES.size()));
  }

  private Node anyNode() {
    List<Node> able = nodes.values().stream().filter(node -> node != upgraded).toList();
    return able.get(random(able.size()));
  }

  private void begin(int count, IntConsumer turn) {
    for (int i = 0; i < count; i++) {
      int number = i;
      load.add(
          Thread.startVirtualThread(
              () -> {
                while (!isOver) {
                  turn.accept(number);
                }
              }));
    }
  }

  /** Each node has its readers: those of a node that stands still wait. */
  private void load() {
    begin(READERS, number -> readOne(node(number)));
    begin(PURGERS, _ -> purge(anyNode(), Kind.URL));
  }

  /** Fetches and purges meet, and there is time to see what is kept after that. */
  private void race() {
    begin(READERS, number -> readOne(node(number)));
    begin(
        1,
        _ -> {
          purge(anyNode(), Kind.values()[random(Kind.values().length)]);
          pause(PURGE_PAUSE_NANOS);
        });
  }

  private void readOne(Node node) {
    int url = random(URLS);
    long floor = floors.get(url);
    pause(READ_PAUSE_NANOS);
    try {
      String answer = ask(node.site, "GET /" + url + " HTTP/1.1\r\nHost: a.test", "");
      if (!statusOf(answer).equals("200")) {
        failed.add(node.state.getFileName() + ": " + answer);
        return;
      }
      read.incrementAndGet();
      long number = Long.parseLong(answer.substring(answer.indexOf("\r\n\r\n") + 4));
      if (number <= floor) {
        faults.add(
            Instant.now()
                + " "
                + node.state.getFileName()
                + ": /"
                + url
                + " is "
                + number
                + ", purged up to "
                + floor
                + "; "
                + answer.replace("\r\n", " | "));
      }
    } catch (IOException | NumberFormatException away) {
      // As it is for those that are killed, or that are cut off in a response.
      failed.add(node.state.getFileName() + ": " + away);
    }
  }

  private enum Kind {
    URL,
    HOST,
    TAG
  }

  /** Whether a majority has it. */
  private boolean purge(Node node, Kind kind) {
    int url = random(URLS);
    long[] floor = IntStream.range(0, URLS).mapToLong(begun::get).toArray();
    Runnable holds =
        () ->
            IntStream.range(0, URLS)
                .filter(each -> kind != Kind.URL || each == url)
                .forEach(each -> floors.accumulateAndGet(each, floor[each], Math::max));
    String target =
        switch (kind) {
          case URL -> "{\"url\":\"http://a.test/" + url + "\"}";
          case HOST -> "{\"host\":\"a.test\"}";
          case TAG -> "{\"tags\":[\"page\"]}";
        };
    try {
      String answer = admin(node, "POST /v1/cache/purges", target);
      switch (statusOf(answer)) {
        case "200" -> {
          whole.incrementAndGet();
          holds.run();
          return true;
        }
        case "202" -> {
          partial.incrementAndGet();
          Matcher safeIn = SAFE_IN.matcher(answer);
          if (safeIn.find()) {
            later.schedule(holds, Long.parseLong(safeIn.group(1)), TimeUnit.SECONDS);
          }
          return true;
        }
        default -> failed.add(kind + " at " + node.state.getFileName() + ": " + answer);
      }
    } catch (IOException away) {
      failed.add(kind + " at " + node.state.getFileName() + ": " + away);
    }
    return false;
  }

  private void end() throws InterruptedException {
    isOver = true;
    for (Thread thread : load) {
      thread.join();
    }
    System.getLogger("cluster")
        .log(
            System.Logger.Level.INFO,
            "cluster: {0} read, {1} not, {2} purges at all nodes, {3} at some",
            read,
            failed.size(),
            whole,
            partial);
    assertThat(faults).isEmpty();
    assertThat(read.get()).isGreaterThan(1_000);
    assertThat(whole.get()).isGreaterThan(100);
  }

  private void awaitLoad(AtomicInteger count, int more) {
    int before = count.get();
    Await.until(() -> count.get() >= before + more, "the load goes on");
  }

  @Test
  void nothingStaleIsServedIfFetchesRaceWithPurges() throws Exception {
    race();
    long began = System.nanoTime();
    while (faults.isEmpty() && System.nanoTime() - began < TimeUnit.SECONDS.toNanos(RACE_SECONDS)) {
      pause(PURGE_PAUSE_NANOS);
    }
    end();
    assertThat(failed).isEmpty();
  }

  @Test
  void noRequestFailsAndNothingStaleIsServedWhileNodesAreUpgraded() throws Exception {
    race();
    begin(1, _ -> purge(anyNode(), Kind.URL));
    for (Node node : nodes.values()) {
      awaitLoad(whole, 100);
      upgraded = node;
      node.successor = ProcessHandle.of(Upgrade.order(node.state.resolve("control"))).orElseThrow();
      upgraded = null;
      assertThat(node.process.awaitEnd()).isZero();
      awaitCurrent("it is back");
    }
    awaitLoad(whole, 100);
    end();
    assertThat(failed).isEmpty();
  }

  @Test
  void nothingStaleIsServedWhileLeadersAreKilled() throws Exception {
    load();
    for (int i = 0; i < 2; i++) {
      awaitLoad(whole, 100);
      String leader = leader(node("a"));
      Node killed = node(leader);
      Node left = node(leader.equals("a") ? "b" : "a");
      killed.process.signal("KILL");
      long began = System.nanoTime();
      Await.until(() -> purge(left, Kind.URL), "a purge is in the log again");
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
      System.getLogger("cluster")
          .log(System.Logger.Level.INFO, "cluster: {0} ms without a leader", millis);
      assertThat(millis).isLessThan(8_000);
      awaitLoad(partial, 20);
      killed.start(home());
      awaitCurrent("it is back");
    }
    end();
  }

  @Test
  void otherVotersThanThoseOfTheLogAreRefused() throws Exception {
    Path state = node("a").state;
    Path log = state.resolve("cluster/log/voter");
    Await.until(() -> Files.exists(log), "it votes");
    Path changed =
        Files.copy(
            state.resolve("kamille.yaml"),
            Files.createDirectory(state.resolve("changed")).resolve("kamille.yaml"));
    Files.writeString(
        changed.resolveSibling("node.yaml"),
        Files.readString(state.resolve("node.yaml"))
            .replaceFirst("voters: .*", "voters: [a, b, d]"));
    try (KamilleProcess check =
        KamilleProcess.start(state, "check", "--config", changed.toString())) {
      check.awaitLine("whose votes the log of this node has");
    }
  }

  @Test
  void aTokenOfOneNodeIsThatOfAllUntilAnyRevokesIt() throws Exception {
    String made = admin(node("a"), "POST /v1/tokens", "{\"name\":\"robot\",\"scope\":\"read\"}");
    assertThat(made).startsWith("HTTP/1.1 201 ");
    Matcher token = TOKEN.matcher(made);
    assertThat(token.find()).isTrue();
    for (Node node : nodes.values()) {
      assertThat(read(node, token.group())).startsWith("HTTP/1.1 200 ");
    }
    String leader = leader(node("a"));
    List<String> followers = NAMES.stream().filter(name -> !name.equals(leader)).toList();
    Node killed = node(followers.getFirst());
    Node left = node(followers.getLast());
    killed.process.signal("KILL");
    Await.until(() -> !isCurrent(left), "one is away");
    assertThat(admin(left, "DELETE /v1/tokens/" + token.group(1), ""))
        .startsWith("HTTP/1.1 202 ")
        .contains("{\"node\":\"" + followers.getFirst() + "\",\"state\":\"away\"}");
    assertThat(read(left, token.group())).startsWith("HTTP/1.1 401 ");
    assertThat(read(node(leader), token.group())).startsWith("HTTP/1.1 401 ");
    killed.start(home());
    Await.until(() -> isCurrent(killed), "it is back");
    assertThat(read(killed, token.group())).startsWith("HTTP/1.1 401 ");
  }

  private static String read(Node node, String token) throws IOException {
    return ask(
        node.admin,
        "GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token,
        "");
  }

  @Test
  void whoeverStoodStillServesNothingThatWasPurged() throws Exception {
    load();
    awaitLoad(whole, 100);
    Node stopped = node("c");
    stopped.process.signal("STOP");
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    Await.until(() -> System.nanoTime() - until >= 0, "20 s are over");
    assertThat(partial.get()).isPositive();
    stopped.process.signal("CONT");
    System.getLogger("cluster").log(System.Logger.Level.INFO, "cluster: c goes on");
    awaitLoad(read, 2_000);
    awaitCurrent("it is back");
    awaitLoad(whole, 100);
    end();
  }
}
