package io.kamille.launcher.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kamille.core.Await;
import io.kamille.core.setting.HostPort;
import io.kamille.launcher.demo.DemoFile;
import io.kamille.launcher.service.Upgrade;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three processes with a disk are killed, stopped, cut off and upgraded for
 * -Dkamille.troubles.seconds, under purges of every kind: {@code ./dev test --cluster}. Skipped
 * where this user may not make namespaces.
 */
@SuppressWarnings("NullAway.Init") // each test starts all
class ClusterTroublesIT {

  /*
   * The origin numbers its responses to each URL. Each site is purged in one way alone, so that no
   * way hides what another one leaves. What a purge says, by the numbers that the origin had begun
   * before it was ordered (its floor):
   *
   *   hard       none of them is served once it was answered 200; with 202, after safeIn
   *   soft       none of them is a fresh hit from then on; none is served 60 s later
   *   post,      none of them is served at the node that was asked once it was answered at once,
   *   group      while all are whole; nor at any node `lease` after all were whole for some seconds
   *
   * A node is healthy unless it is killed, stopped or cut off, until it is current again. No request
   * to one takes a second, but for what this machine itself stood still.
   */
  private enum Site {
    HARD,
    SOFT,
    POST,
    GROUP;

    String host() {
      return name().toLowerCase(Locale.ROOT) + ".test";
    }
  }

  /** A page, and what must hold of it. */
  private static final class Page {
    private final AtomicLong begun = new AtomicLong();
    private final AtomicLong floor = new AtomicLong();
    private final AtomicLong floorIfFresh = new AtomicLong();
    private final Map<String, AtomicLong> floorAtNode = new ConcurrentHashMap<>();

    long floorAt(String node) {
      AtomicLong there = floorAtNode.get(node);
      return Math.max(floor.get(), there == null ? 0 : there.get());
    }

    void raise(long number) {
      raise(floor, number);
    }

    static void raise(AtomicLong floor, long number) {
      floor.accumulateAndGet(number, Math::max);
    }
  }

  /** Something that was made invalid by an answer at that time. */
  private record Told(List<Page> pages, List<Long> floors, long nanos) {}

  private enum Purge {
    URL,
    PREFIX,
    HOST,
    TAG
  }

  private static final int PAGES = 6;
  private static final int READERS = 6;
  private static final int SECONDS = Integer.getInteger("kamille.troubles.seconds", 60);
  private static final int[] ORIGIN_MILLIS = {0, 0, 10, 50, 200};
  private static final long READ_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long HARD_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final long SOFT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);
  private static final long POST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final long SOFT_SECONDS = 61;
  private static final long WHOLE_NANOS = TimeUnit.SECONDS.toNanos(4);
  private static final long LEASE_MILLIS = 5_500;
  private static final long TOLD_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long AT_ONCE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long CALM_NANOS = TimeUnit.SECONDS.toNanos(7);
  private static final long LONGEST_MILLIS = 1_000;
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  private static final List<String> NAMES = List.of("a", "b", "c");
  private static final Pattern LEADER = Pattern.compile("\"leader\":\"(\\w)\"");
  private static final Pattern SAFE_IN = Pattern.compile("\"safeIn\":\"(\\d+)s\"");
  private static final Pattern HIT = Pattern.compile("Cache-Status: .*; hit; ttl=[1-9][0-9]*\r\n");

  @TempDir private Path directory;

  private final Map<Site, List<Page>> pages = new TreeMap<>();
  private final Map<String, KamilleProcess> nodes = new ConcurrentHashMap<>();

  /** Those that have taken the place of these by an upgrade. */
  private final Map<String, ProcessHandle> successors = new ConcurrentHashMap<>();

  /** When each became healthy. */
  private final ConcurrentMap<String, Long> healthy = new ConcurrentHashMap<>();

  private final List<String> faults = new CopyOnWriteArrayList<>();
  private final Queue<String> slow = new ConcurrentLinkedQueue<>();
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final AtomicLong worstMillis = new AtomicLong();
  private final Queue<Told> told = new ConcurrentLinkedQueue<>();
  private final ScheduledExecutorService later = Executors.newScheduledThreadPool(1);
  private final List<Thread> load = new ArrayList<>();
  private ClusterNetwork network;
  private HttpServer origin;
  private volatile boolean isOver;

  /** Since when all are whole; 0 while they are not. */
  private volatile long wholeNanos;

  /** When this process last stood still, and for how long in all. */
  private final AtomicLong stoodMillis = new AtomicLong();

  @BeforeEach
  void start() throws Exception {
    for (Site site : Site.values()) {
      List<Page> all = new ArrayList<>();
      for (int i = 0; i < PAGES; i++) {
        all.add(new Page());
      }
      pages.put(site, all);
    }
    network = new ClusterNetwork(NAMES, 2);
    origin = HttpServer.create(new InetSocketAddress(network.here(), 0), 100);
    origin.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    origin.createContext("/", this::answer);
    origin.start();
    KamilleProcess.install(home(), KamilleProcess.installed(home()));
    ClusterFiles files = new ClusterFiles(directory, "shop");
    List<ClusterFiles.Node> members = new ArrayList<>();
    for (String name : NAMES) {
      String address = network.address(name, 1);
      members.add(
          new ClusterFiles.Node(name, new HostPort(address, 7_800), new HostPort(address, 7_801)));
    }
    files.write(members, Instant.now());
    for (String name : NAMES) {
      Path state = Files.createDirectories(state(name));
      Path file =
          DemoFile.write(
              state,
              network.address(name, 0) + ":8080",
              null,
              "http://" + network.here() + ":" + origin.getAddress().getPort(),
              network.address(name, 0) + ":9090",
              Files.readString(files.file(name + ".yaml")) + "  lease: 5s\n");
      Path own = file.resolveSibling("node.yaml");
      Files.writeString(
          own, Files.readString(own).replace("admin:\n", "admin:\n  allow-remote: on\n"));
      // All nodes have the same text: a path is relative to its file.
      Files.writeString(
          file,
          Files.readString(file)
              .replace(
                  "    capacity: 64MiB\n",
                  "    capacity: 64MiB\n  disk: {path: disk, capacity: 64MiB, admit: always}\n"));
      start(name);
    }
    awaitWhole();
  }

  private Path home() {
    return directory.resolve("home");
  }

  private Path state(String name) {
    return directory.resolve("state-" + name);
  }

  private void start(String name) throws IOException {
    String file = state(name).resolve("kamille.yaml").toString();
    nodes.put(
        name,
        KamilleProcess.installedWithin(
            network.space(name), home(), state(name), "run", "--config", file));
  }

  private KamilleProcess node(String name) {
    return Objects.requireNonNull(nodes.get(name), name);
  }

  @AfterEach
  void stop() throws Exception {
    isOver = true;
    later.shutdownNow();
    nodes.keySet().forEach(this::end);
    if (origin != null) {
      origin.stop(0);
    }
    network.close();
  }

  private void end(String name) {
    ProcessHandle successor = successors.remove(name);
    if (successor != null && successor.destroyForcibly()) {
      successor.onExit().join();
    }
    node(name).close();
  }

  private void signal(String name, String signal) throws Exception {
    ProcessHandle successor = successors.get(name);
    long pid = successor == null ? node(name).processId() : successor.pid();
    new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
  }

  private List<Page> pages(Site site) {
    return Objects.requireNonNull(pages.get(site), site.name());
  }

  private void answer(HttpExchange exchange) throws IOException {
    String host = exchange.getRequestHeaders().getFirst("Host");
    Site site = Site.valueOf(host.substring(0, host.indexOf('.')).toUpperCase(Locale.ROOT));
    if (exchange.getRequestMethod().equals("POST")) {
      if (site == Site.GROUP) {
        exchange.getResponseHeaders().add("Cache-Group-Invalidation", "\"group\"");
      }
      exchange.sendResponseHeaders(204, -1);
      exchange.close();
      return;
    }
    String path = exchange.getRequestURI().getPath();
    Page page = pages(site).get(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)));
    byte[] number = Long.toString(page.begun.incrementAndGet()).getBytes(US_ASCII);
    exchange.getResponseHeaders().add("Cache-Control", "max-age=3600");
    exchange.getResponseHeaders().add("Surrogate-Key", site.name());
    exchange.getResponseHeaders().add("Cache-Groups", "\"group\"");
    pause(TimeUnit.MILLISECONDS.toNanos(ORIGIN_MILLIS[random(ORIGIN_MILLIS.length)]));
    exchange.sendResponseHeaders(200, number.length);
    exchange.getResponseBody().write(number);
    exchange.close();
  }

  private static int random(int bound) {
    return ThreadLocalRandom.current().nextInt(bound);
  }

  private static String anyName() {
    return NAMES.get(random(NAMES.size()));
  }

  private static void pause(long nanos) {
    if (nanos > 0) {
      LockSupport.parkNanos(nanos);
    }
  }

  private void count(String what) {
    counts.computeIfAbsent(what, _ -> new LongAdder()).increment();
  }

  // Requests

  private String ask(String name, int port, String head, String body) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(network.address(name, 0), port), 10_000);
      socket.setSoTimeout(30_000);
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

  private String admin(String name, String head, String body) throws IOException {
    String token = Files.readString(state(name).resolve("admin-token")).strip();
    return ask(
        name,
        9090,
        head
            + " HTTP/1.1\r\nHost: "
            + network.address(name, 0)
            + "\r\nContent-Type: application/json\r\nAuthorization: Bearer "
            + token,
        body);
  }

  private static String statusOf(String answer) {
    return answer.length() < 12 ? "none" : answer.substring(9, 12);
  }

  /** What a client gets; empty if nothing. */
  private String request(String name, String method, Site site, int page) {
    Long before = healthy.get(name);
    long stood = stoodMillis.get();
    long began = System.nanoTime();
    String answer = "";
    String problem = "";
    try {
      String head = method + " /of/" + page + " HTTP/1.1\r\nHost: " + site.host();
      answer = ask(name, 8080, method.equals("POST") ? head + "\r\nContent-Length: 0" : head, "");
    } catch (IOException gone) {
      problem = gone.toString();
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    if (before != null && before.equals(healthy.get(name))) {
      long own = millis - (stoodMillis.get() - stood);
      worstMillis.accumulateAndGet(own, Math::max);
      if (own > LONGEST_MILLIS || !statusOf(answer).startsWith("20")) {
        slow.add(
            Instant.now()
                + " "
                + name
                + ": "
                + method
                + " "
                + site
                + " "
                + page
                + " took "
                + millis
                + " ms, of this machine "
                + (millis - own)
                + "; "
                + problem
                + answer.replace("\r\n", " | "));
      }
      count("request of a healthy node");
    }
    return answer;
  }

  private void readOne(String name) {
    Site site = Site.values()[random(Site.values().length)];
    int number = random(PAGES);
    Page page = pages(site).get(number);
    long floor = page.floorAt(name);
    long floorIfFresh = page.floorIfFresh.get();
    String answer = request(name, "GET", site, number);
    if (statusOf(answer).equals("200")) {
      count("read");
      long got = Long.parseLong(answer.substring(answer.indexOf("\r\n\r\n") + 4));
      boolean isFresh = HIT.matcher(answer).find();
      if (got <= floor || (isFresh && got <= floorIfFresh)) {
        faults.add(
            Instant.now()
                + " "
                + name
                + ": "
                + site
                + " "
                + number
                + " is "
                + got
                + ", purged up to "
                + floor
                + ", soft up to "
                + floorIfFresh
                + "; "
                + answer.replace("\r\n", " | "));
      }
    }
    pause(READ_PAUSE_NANOS);
  }

  // Purges

  private static List<Long> begun(List<Page> pages) {
    return pages.stream().map(page -> page.begun.get()).toList();
  }

  private void purge(boolean isSoft) {
    String name = anyName();
    Purge kind = Purge.values()[random(Purge.values().length)];
    Site site = isSoft ? Site.SOFT : Site.HARD;
    int number = random(PAGES);
    List<Page> about = kind == Purge.URL ? List.of(pages(site).get(number)) : pages(site);
    List<Long> floors = begun(about);
    String what =
        switch (kind) {
          case URL -> "\"url\":\"http://" + site.host() + "/of/" + number + "\"";
          case PREFIX -> "\"prefix\":\"http://" + site.host() + "/of/\"";
          case HOST -> "\"host\":\"" + site.host() + "\"";
          case TAG -> "\"tags\":[\"" + site + "\"]";
        };
    String mode = isSoft ? "soft" : "hard";
    String answer = "";
    try {
      answer = admin(name, "POST /v1/cache/purges", "{" + what + ",\"mode\":\"" + mode + "\"}");
    } catch (IOException away) {
      // As it is of those that are killed.
    }
    String status = statusOf(answer);
    count(mode + " purge by " + kind + ", " + status);
    Matcher safeIn = SAFE_IN.matcher(answer);
    if (status.equals("200")) {
      holds(about, floors, isSoft);
    } else if (status.equals("202") && safeIn.find()) {
      later.schedule(
          () -> holds(about, floors, isSoft), Long.parseLong(safeIn.group(1)), TimeUnit.SECONDS);
    }
    pause(isSoft ? SOFT_PAUSE_NANOS : HARD_PAUSE_NANOS);
  }

  private void holds(List<Page> about, List<Long> floors, boolean isSoft) {
    if (isSoft) {
      for (int i = 0; i < about.size(); i++) {
        Page.raise(about.get(i).floorIfFresh, floors.get(i));
      }
      later.schedule(() -> holds(about, floors, false), SOFT_SECONDS, TimeUnit.SECONDS);
    } else {
      for (int i = 0; i < about.size(); i++) {
        about.get(i).raise(floors.get(i));
      }
    }
  }

  private void post(Site site) {
    String name = anyName();
    int number = random(PAGES);
    List<Page> about = site == Site.GROUP ? pages(site) : List.of(pages(site).get(number));
    List<Long> floors = begun(about);
    long whole = wholeNanos;
    long began = System.nanoTime();
    String answer = request(name, "POST", site, number);
    boolean isAtOnce = System.nanoTime() - began < AT_ONCE_NANOS;
    String status = statusOf(answer);
    count(site + " that invalidates, " + status);
    if (!answer.isEmpty() && (!status.equals("204") || answer.contains("Content-Length"))) {
      faults.add(Instant.now() + " " + name + ": POST is answered by " + answer);
    }
    if (status.equals("204") && isAtOnce && whole != 0 && whole == wholeNanos) {
      count(site + " that invalidates at once");
      for (int i = 0; i < about.size(); i++) {
        Page.raise(
            about.get(i).floorAtNode.computeIfAbsent(name, _ -> new AtomicLong()), floors.get(i));
      }
    }
    if (status.equals("204")) {
      told.add(new Told(about, floors, System.nanoTime()));
    }
    pause(POST_PAUSE_NANOS);
  }

  /** What was told holds at all nodes once these were whole for so long. */
  private void inspect() {
    long began = System.nanoTime();
    pause(TICK_NANOS);
    long now = System.nanoTime();
    stoodMillis.addAndGet(Math.max(0, TimeUnit.NANOSECONDS.toMillis(now - began - 2 * TICK_NANOS)));
    long whole = wholeNanos;
    for (Told each : List.copyOf(told)) {
      if (whole != 0 && now - whole > WHOLE_NANOS && now - each.nanos() > TOLD_NANOS) {
        told.remove(each);
        later.schedule(
            () -> holds(each.pages(), each.floors(), false), LEASE_MILLIS, TimeUnit.MILLISECONDS);
      }
    }
  }

  // Troubles

  private boolean isWhole(String name) {
    try {
      String answer = admin(name, "GET /v1/cluster", "");
      return answer.contains("\"current\":true,\"applied\"")
          && !answer.contains("\"current\":false")
          && answer.contains("\"quorum\":true")
          && !answer.contains("away")
          && admin(name, "GET /v1/status", "").contains("\"clustered\":true");
    } catch (IOException notYet) {
      return false;
    }
  }

  private void awaitWhole() {
    try {
      Await.until(() -> NAMES.stream().allMatch(this::isWhole), "all are current");
    } catch (AssertionError vain) {
      NAMES.forEach(
          name -> {
            List<String> lines = node(name).lines();
            log(name + " says " + lines.subList(Math.max(0, lines.size() - 30), lines.size()));
            try {
              log(admin(name, "GET /v1/cluster", ""));
            } catch (IOException gone) {
              log(gone.toString());
            }
          });
      throw vain;
    }
    NAMES.forEach(name -> healthy.putIfAbsent(name, System.nanoTime()));
    wholeNanos = System.nanoTime();
  }

  private String leader() throws IOException {
    Matcher leader = LEADER.matcher(admin("a", "GET /v1/cluster", ""));
    assertThat(leader.find()).isTrue();
    return leader.group(1);
  }

  private void trouble(int kind, SplittableRandom random) throws Exception {
    String any = random.nextBoolean() ? leader() : NAMES.get(random.nextInt(NAMES.size()));
    String other = NAMES.get((NAMES.indexOf(any) + 1) % NAMES.size());
    long nanos = TimeUnit.MILLISECONDS.toNanos(random.nextLong(2_000, 15_000));
    wholeNanos = 0;
    if (kind > 0) {
      healthy.remove(any);
    }
    switch (kind) {
      case 0 -> {
        count("upgrade");
        ProcessHandle successor =
            ProcessHandle.of(Upgrade.order(state(any).resolve("control"))).orElseThrow();
        ProcessHandle before = successors.put(any, successor);
        if (before == null) {
          assertThat(node(any).awaitEnd()).isZero();
        } else {
          Await.until(() -> !before.isAlive(), "the old process has ended");
        }
      }
      case 1 -> {
        count("kill -9");
        signal(any, "KILL");
        pause(nanos / 3);
        end(any);
        start(any);
      }
      case 2 -> {
        count("suspension");
        signal(any, "STOP");
        pause(nanos);
        signal(any, "CONT");
      }
      case 3 -> {
        count("partition");
        network.cut(any, 1, true);
        pause(nanos);
        network.cut(any, 1, false);
      }
      default -> {
        count("kill -9 of two, one of them cut off");
        healthy.remove(other);
        network.cut(any, 1, true);
        pause(nanos / 3);
        signal(any, "KILL");
        signal(other, "KILL");
        pause(nanos / 3);
        network.cut(any, 1, false);
        end(any);
        end(other);
        start(any);
        start(other);
      }
    }
    awaitWhole();
    pause(CALM_NANOS);
  }

  private void repeat(Runnable turn) {
    load.add(
        Thread.startVirtualThread(
            () -> {
              while (!isOver) {
                turn.run();
              }
            }));
  }

  @Test
  void noReadIsOlderThanItsReceiptAndNoHealthyNodeMakesWait() throws Exception {
    for (int i = 0; i < READERS; i++) {
      String name = NAMES.get(i % NAMES.size());
      repeat(() -> readOne(name));
    }
    repeat(() -> purge(false));
    repeat(() -> purge(true));
    repeat(() -> post(Site.POST));
    repeat(() -> post(Site.GROUP));
    load.add(
        Thread.ofPlatform()
            .start(
                () -> {
                  while (!isOver) {
                    inspect();
                  }
                }));
    pause(CALM_NANOS);
    long seed = Long.getLong("kamille.troubles.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    long began = System.nanoTime();
    for (int i = 0; System.nanoTime() - began < TimeUnit.SECONDS.toNanos(SECONDS); i++) {
      trouble(i % 5, random);
      tell(seed);
    }
    isOver = true;
    for (Thread thread : load) {
      thread.join();
    }
    tell(seed);
    assertThat(faults).isEmpty();
    assertThat(slow).isEmpty();
    assertThat(counts).containsKeys("soft purge by TAG, 200", "POST that invalidates, 204");
  }

  private static void log(String line) {
    System.getLogger("cluster").log(System.Logger.Level.INFO, "troubles: {0}", line);
  }

  private void tell(long seed) {
    log(
        "seed "
            + seed
            + "; "
            + new TreeMap<>(counts)
            + "; "
            + faults.size()
            + " stale, "
            + slow.size()
            + " slow or failed, longest "
            + worstMillis
            + " ms; this machine stood "
            + stoodMillis
            + " ms; "
            + told.size()
            + " wait");
    faults.stream().limit(3).forEach(ClusterTroublesIT::log);
    slow.stream().limit(3).forEach(ClusterTroublesIT::log);
  }
}
