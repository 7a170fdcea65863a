package io.kamille.perf.lab;

import io.kamille.perf.compare.Origin;
import io.kamille.perf.host.CpuTime;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.host.Workbench.Core;
import io.kamille.perf.lab.ClusterLoad.Mark;
import io.kamille.perf.lab.ClusterNodes.Node;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadProgram;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.OriginTarget;
import io.kamille.perf.load.OriginTarget.Trait;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.WebAxe4;
import io.kamille.perf.peer.Jvm;
import io.kamille.perf.report.Column;
import io.kamille.perf.report.Figure;
import io.kamille.perf.report.Finding;
import io.kamille.perf.report.Goal;
import io.kamille.perf.report.LineChart;
import io.kamille.perf.report.LineChart.Point;
import io.kamille.perf.report.Report;
import io.kamille.perf.report.Sample;
import io.kamille.perf.report.Samples;
import io.kamille.perf.report.Spread;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.HdrHistogram.AbstractHistogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.json.JsonMapper;

/** Several nodes as one cache: what purges, failures, joins and upgrades take. */
@Command
final class SeveralNodes extends Experiment {

  /** How much, by scale. */
  private record Extent(
      int rounds, int purges, int seconds, int idleSeconds, int hitSeconds, int warmupSeconds) {

    private static Extent of(Scale scale) {
      return switch (scale) {
        case QUICK -> new Extent(1, 10_000, 15, 10, 3, 8);
        case NORMAL -> new Extent(3, 10_000, 60, 60, 4, Jvm.WARMUP_SECONDS);
        case FULL -> new Extent(7, 10_000, 60, 60, 10, Jvm.WARMUP_SECONDS);
      };
    }
  }

  /** What can be left out. */
  enum Part {
    IDLE,
    PURGES,
    FAILOVER,
    FETCH,
    LOAD,
    HITS,
    JOIN,
    UPGRADE,
    GROWTH
  }

  private static final Set<Part> NEEDING_CLUSTER =
      EnumSet.complementOf(EnumSet.of(Part.GROWTH, Part.HITS));

  private static final String CLUSTER = "three nodes";
  private static final String SINGLE = "one node";
  private static final String API = "POST /v1/cache/purges";
  private static final String API_IN_TURN = "the same, at three nodes in turn";
  private static final String METHOD = "method PURGE";
  private static final String LOCAL = "local hit";
  private static final String PEER = "peer hit";
  private static final String BEFORE = "before";

  private static final Figure SECONDS = Figure.of("seconds");
  private static final Figure P50 = Figure.of("p50_ms");
  private static final Figure P99 = Figure.of("p99_ms");
  private static final Figure LONGEST = Figure.of("longest_ms");
  private static final Figure DONE = Figure.of("status_200");
  private static final Figure AWAY = Figure.of("status_202");
  private static final Figure ORDERED = Figure.of("purges");
  private static final Figure FIRST = Figure.of("first_purge_seconds");
  private static final Figure CAUGHT_UP = Figure.of("caught_up_seconds");
  private static final Figure REQUESTS = Figure.of("requests");
  private static final Figure FORWARDED = Figure.of("forwarded");
  private static final Figure FAILED = Figure.of("failed");
  private static final Figure CPU = Figure.of("cpu_micros");
  private static final Figure ALL_CPU = Figure.of("cluster_cpu_micros");
  private static final Figure RESIDENT = Figure.of("resident_bytes");
  private static final Figure MISSES = FORWARDED.per(REQUESTS).times(100);
  private static final Figure CORE = CPU.per(SECONDS.times(1e6)).times(100);
  private static final Figure ORIGIN_RATE = FORWARDED.per(SECONDS);

  private static final List<Column> PURGE_COLUMNS =
      List.of(
          Column.spread("seconds", SECONDS, 2),
          Column.spread("p50 ms", P50, 1),
          Column.spread("p99 ms", P99, 1),
          Column.spread("longest ms", LONGEST, 0),
          Column.sum("200", DONE),
          Column.sum("202", AWAY),
          Column.sum("of", ORDERED));
  private static final List<Column> FAILOVER_COLUMNS =
      List.of(
          Column.spread("first purge after s", FIRST, 2),
          Column.spread("caught up after s", CAUGHT_UP, 2),
          Column.sum("purges meanwhile", ORDERED),
          Column.sum("200 or 202", DONE));
  private static final List<Column> FETCH_COLUMNS =
      List.of(
          Column.spread("origin requests", FORWARDED, 0),
          Column.sum("clients", REQUESTS),
          Column.sum("failed", FAILED));
  private static final List<Column> LOAD_COLUMNS =
      List.of(
          Column.median("s", SECONDS, 1),
          Column.median("requests", REQUESTS, 0),
          Column.median("origin requests", FORWARDED, 0),
          Column.spread("origin requests %", MISSES, 2),
          Column.sum("failed", FAILED));
  private static final List<Column> HIT_COLUMNS =
      List.of(
          Column.spread("CPU µs/request", CPU.per(REQUESTS), 2),
          Column.spread("of all nodes", ALL_CPU.per(REQUESTS), 2),
          Column.ratio("÷ one node", CPU.per(REQUESTS), SINGLE),
          Column.ratio("of all nodes ÷ local hit", ALL_CPU.per(REQUESTS), LOCAL));
  private static final List<Column> IDLE_COLUMNS =
      List.of(
          Column.median("% of a core", CORE, 2),
          Column.median("resident MiB", RESIDENT.times(1.0 / (1 << 20)), 0));

  private static final int NODES = 3;
  private static final int CLIENTS = 500;
  private static final int WRK_CONNECTIONS = 16;
  private static final int PROBES = 64;
  private static final int RATE = 600;
  private static final int FILLING_RATE = 1000;
  private static final int WORKING_SET_MIB = 32;
  private static final int SEED = 1;
  private static final int THINK_MILLIS = 200;
  private static final long FIRST_COLD = 1_000_000_000L;
  private static final Duration FETCH_LIMIT = Duration.ofSeconds(60);
  private static final Duration PURGE_LIMIT = Duration.ofSeconds(20);
  private static final Duration SETTLING = Duration.ofSeconds(5);
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final String AUTHORITY = "127.0.0.1";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Option(
      names = "--only",
      split = ",",
      paramLabel = "PART",
      description = "of ${COMPLETION-CANDIDATES}; all if not said")
  private @Nullable Set<Part> only;

  private final Samples idle = new Samples("", "process");
  private final Samples purges = new Samples("", "way");
  private final Samples failover = new Samples("", "killed");
  private final Samples fetch = new Samples("object", "peers");
  private final Samples load = new Samples("", "nodes");
  private final Samples hits = new Samples("", "hit");
  private final Samples join = new Samples("", "phase");
  private final Samples joinSeconds = new Samples("second", "requests");
  private final Samples upgrade = new Samples("", "phase");
  private final Samples growth = new Samples("nodes");
  private final Map<String, List<Point>> latencies = new LinkedHashMap<>();
  private long cold = FIRST_COLD;

  SeveralNodes() {
    super("cluster", "three nodes as one cache: purges, failover, one fetch, join and leave");
  }

  @Override
  Object[] setting() {
    Extent extent = Extent.of(scale());
    return new Object[] {
      extent.purges(),
      PurgeCallers.CALLERS,
      extent.rounds(),
      CLIENTS,
      THINK_MILLIS,
      RATE,
      WORKING_SET_MIB,
      extent.seconds(),
      WRK_CONNECTIONS,
      extent.hitSeconds(),
      extent.idleSeconds()
    };
  }

  private boolean has(Part part) {
    return only == null || only.contains(part);
  }

  @Override
  void measure() throws IOException, InterruptedException {
    if (has(Part.GROWTH)) {
      for (int nodes : ClusterGrowth.NODES) {
        step("simulate %d nodes", nodes);
        keep("growth.csv", growth, ClusterGrowth.of(nodes));
      }
    }
    try (var bench = Workbench.open()) {
      bench.moveTo(Core.OTHERS);
      Origin origin = Origin.start(bench);
      if (has(Part.HITS)) {
        step("start nodes that keep no copies");
        measureHits(bench, origin);
      }
      if (NEEDING_CLUSTER.stream().anyMatch(this::has)) {
        step("start three nodes");
        measureCluster(bench, origin);
      }
    }
  }

  private void measureCluster(Workbench bench, Origin origin)
      throws IOException, InterruptedException {
    var cluster = ClusterNodes.start(bench, "cluster", Core.ALL, origin.port(), "");
    Node single = ClusterNodes.single(bench, Core.ALL, origin.port());
    if (!cluster.hasPeers()) {
      note("peers off: the nodes do not answer at their peer ports");
    }
    if (has(Part.IDLE)) {
      measureIdle(cluster, single);
    }
    for (int round = 1; round <= Extent.of(scale()).rounds(); round++) {
      if (has(Part.PURGES)) {
        step("purges, round %d", round);
        measurePurges(cluster, round);
      }
      if (has(Part.FETCH)) {
        step("one fetch, round %d", round);
        measureFetch(cluster, origin, 1 << 10, round);
        measureFetch(cluster, origin, 10 << 20, round);
      }
      if (has(Part.FAILOVER)) {
        step("kill the leader, round %d", round);
        measureFailover(cluster, round);
      }
    }
    if (has(Part.LOAD) || has(Part.JOIN) || has(Part.UPGRADE)) {
      measureLoads(cluster, single, origin);
    }
  }

  // What a member costs while nothing is asked

  private void measureIdle(ClusterNodes cluster, Node single)
      throws IOException, InterruptedException {
    step("idle for %d s", Extent.of(scale()).idleSeconds());
    Map<String, Node> idlers = new LinkedHashMap<>();
    Node leader = cluster.leader();
    idlers.put(SINGLE, single);
    idlers.put("leader", leader);
    idlers.put("follower", cluster.without(leader).getFirst());
    Thread.sleep(SETTLING);
    Map<String, CpuTime> before = new LinkedHashMap<>();
    for (var idler : idlers.entrySet()) {
      before.put(idler.getKey(), idler.getValue().process().cpuTime());
    }
    long begin = System.nanoTime();
    Thread.sleep(Duration.ofSeconds(Extent.of(scale()).idleSeconds()));
    double seconds = (System.nanoTime() - begin) / 1e9;
    for (var idler : idlers.entrySet()) {
      var process = idler.getValue().process();
      CpuTime taken = process.cpuTime().minus(before.getOrDefault(idler.getKey(), CpuTime.ZERO));
      keep(
          "idle.csv",
          idle,
          Sample.of("", idler.getKey(), 1)
              .with(SECONDS, seconds)
              .with(CPU, taken.micros())
              .with(RESIDENT, process.memory().residentBytes()));
    }
  }

  // Purges

  private void measurePurges(ClusterNodes cluster, int round)
      throws IOException, InterruptedException {
    int count = Extent.of(scale()).purges();
    List<Node> first = List.of(cluster.nodes().getFirst());
    PurgeCallers byApi = PurgeCallers.run(count, i -> order(first, i));
    keep("purges.csv", purges, sample(API, round, byApi, count));
    PurgeCallers inTurn = PurgeCallers.run(count, i -> order(cluster.nodes(), i));
    keep("purges.csv", purges, sample(API_IN_TURN, round, inTurn, count));
    PurgeCallers byMethod =
        PurgeCallers.run(
            count,
            i ->
                HttpRequest.newBuilder(
                        URI.create(site(cluster.nodes().get(i % NODES)) + "/hit/" + i))
                    .method("PURGE", BodyPublishers.noBody())
                    .timeout(PURGE_LIMIT)
                    .build());
    keep("purges.csv", purges, sample(METHOD, round, byMethod, count));
  }

  private Sample sample(String way, int round, PurgeCallers came, int count) {
    latencies.put(way, percentiles(came.nanos()));
    return Sample.of("", way, round)
        .with(SECONDS, came.seconds())
        .with(P50, came.nanos().getValueAtPercentile(50) / 1e6)
        .with(P99, came.nanos().getValueAtPercentile(99) / 1e6)
        .with(LONGEST, came.nanos().getMaxValue() / 1e6)
        .with(DONE, came.of(200) + came.of(204))
        .with(AWAY, came.of(202))
        .with(ORDERED, count);
  }

  private static List<Point> percentiles(AbstractHistogram nanos) {
    return IntStream.rangeClosed(1, 99)
        .mapToObj(percent -> new Point(percent, nanos.getValueAtPercentile(percent) / 1e6))
        .toList();
  }

  /** A purge of one URL, ordered at one of these nodes. */
  private static HttpRequest order(List<Node> nodes, int number) throws IOException {
    Node node = nodes.get(number % nodes.size());
    String admin = "http://127.0.0.1:" + node.control().port();
    String json = "{\"url\": \"http://example.org/" + number + "\"}";
    return HttpRequest.newBuilder(URI.create(admin + "/v1/cache/purges"))
        .header("Authorization", "Bearer " + node.token())
        .header("Content-Type", "application/json")
        .timeout(PURGE_LIMIT)
        .POST(BodyPublishers.ofString(json))
        .build();
  }

  // The leader is killed

  private void measureFailover(ClusterNodes cluster, int round)
      throws IOException, InterruptedException {
    Node leader = cluster.leader();
    List<Node> others = cluster.without(leader);
    int count = Extent.of(scale()).purges();
    long killed = System.nanoTime();
    cluster.signal(leader, "KILL");
    awaitPurge(others);
    double first = (System.nanoTime() - killed) / 1e9;
    PurgeCallers meanwhile = PurgeCallers.run(count, i -> order(others, i));
    long last = awaitPurge(others);
    long started = System.nanoTime();
    cluster.restart(leader);
    cluster.await(leader, last);
    double caughtUp = (System.nanoTime() - started) / 1e9;
    cluster.awaitWhole();
    keep(
        "failover.csv",
        failover,
        Sample.of("", "the leader", round)
            .with(FIRST, first)
            .with(CAUGHT_UP, caughtUp)
            .with(ORDERED, count)
            .with(DONE, meanwhile.of(200) + meanwhile.of(202)));
  }

  /** Orders a purge at the first node until it is in the log, and returns its number. */
  private static long awaitPurge(List<Node> nodes) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + FETCH_LIMIT.toNanos();
    try (var client = HttpClient.newHttpClient()) {
      while (System.nanoTime() - deadline < 0) {
        HttpResponse<String> answer = client.send(order(nodes, 0), BodyHandlers.ofString());
        if (answer.statusCode() == 200 || answer.statusCode() == 202) {
          return JSON.readTree(answer.body()).path("id").longValue(0);
        }
      }
    }
    throw new IOException("no purge was answered after " + FETCH_LIMIT);
  }

  // One fetch for all

  private void measureFetch(ClusterNodes cluster, Origin origin, int length, int round)
      throws IOException, InterruptedException {
    OriginTarget target = OriginTarget.of(cold++, length).with(Trait.THINK, THINK_MILLIS);
    long before = origin.requests();
    long failed = 0;
    try (var threads = Executors.newCachedThreadPool()) {
      List<Future<LoadResult>> clients = new ArrayList<>();
      for (int i = 0; i < NODES; i++) {
        int count = (CLIENTS + i) / NODES;
        int port = cluster.nodes().get(i).port();
        var client = LoadClient.open(ClusterLoad.settings(port, count).withTimeLimit(FETCH_LIMIT));
        RequestSource requests = RequestSource.always(LoadRequest.get(AUTHORITY, target));
        var left = new AtomicInteger(count);
        clients.add(
            threads.submit(
                () -> {
                  try (client) {
                    var atOnce = Arrivals.even(1e6, () -> left.getAndDecrement() <= 0);
                    return client.run(atOnce, requests);
                  }
                }));
      }
      for (Future<LoadResult> client : clients) {
        failed += client.get().failed();
      }
    } catch (ExecutionException e) {
      throw new IOException("a client broke off: " + e.getCause(), e);
    }
    keep(
        "fetch.csv",
        fetch,
        Sample.of((length >> 10) + " KiB", cluster.hasPeers() ? "on" : "peers off", round)
            .with(FORWARDED, origin.requests() - before)
            .with(REQUESTS, CLIENTS)
            .with(FAILED, failed));
  }

  // WebAxe-4: three nodes beside one, and while nodes leave, join and are upgraded

  private void measureLoads(ClusterNodes cluster, Node single, Origin origin)
      throws IOException, InterruptedException {
    step("fill the caches");
    WebAxe4 ofCluster = workload();
    ClusterLoad.fill(origin, cluster.ports(), ofCluster, FILLING_RATE);
    if (has(Part.LOAD)) {
      WebAxe4 ofSingle = workload();
      List<Integer> one = List.of(single.port());
      ClusterLoad.fill(origin, one, ofSingle, FILLING_RATE);
      for (int round = 1; round <= Extent.of(scale()).rounds(); round++) {
        step("WebAxe-4, round %d", round);
        measureLoad(SINGLE, origin, one, ofSingle, round);
        measureLoad(CLUSTER, origin, cluster.ports(), ofCluster, round);
      }
    }
    if (has(Part.JOIN)) {
      measureJoin(cluster, origin, ofCluster);
    }
    if (has(Part.UPGRADE)) {
      measureUpgrade(cluster, origin, ofCluster);
    }
  }

  private static WebAxe4 workload() {
    return new WebAxe4(AUTHORITY, (long) WORKING_SET_MIB << 20, 0, SEED);
  }

  private Duration counted() {
    return Duration.ofSeconds(Extent.of(scale()).seconds());
  }

  private static Sample sample(String situation, String name, int round, Mark came) {
    return Sample.of(situation, name, round)
        .with(SECONDS, came.nanos() / 1e9)
        .with(REQUESTS, came.asked())
        .with(FORWARDED, came.forwarded())
        .with(FAILED, came.failed());
  }

  private void measureLoad(
      String name, Origin origin, List<Integer> ports, WebAxe4 workload, int round)
      throws IOException {
    try (var client = new ClusterLoad(origin, ports, workload, RATE)) {
      client.during(SETTLING);
      keep("load.csv", load, sample("", name, round, client.during(counted())));
    }
  }

  private void measureJoin(ClusterNodes cluster, Origin origin, WebAxe4 workload)
      throws IOException, InterruptedException {
    Node last = cluster.nodes().getLast();
    List<Integer> ports = cluster.without(last).stream().map(Node::port).toList();
    try (var client = new ClusterLoad(origin, ports, workload, RATE)) {
      client.during(SETTLING);
      phase(client, BEFORE);
      cluster.signal(last, "TERM");
      phase(client, "a node leaves");
      last.process().stop();
      cluster.restart(last);
      cluster.await(last, 0);
      phase(client, "it joins");
    }
  }

  /** Counts, second by second. */
  private void phase(ClusterLoad client, String name) throws IOException {
    step("load: %s", name);
    Mark begin = client.mark();
    for (int i = 0; i < counted().toSeconds(); i++) {
      String second = Integer.toString(joinSeconds.all().size());
      Mark came = client.during(SECOND);
      keep("join-seconds.csv", joinSeconds, sample(second, name, 1, came));
    }
    keep("join.csv", join, sample("", name, 1, client.mark().since(begin)));
  }

  private void measureUpgrade(ClusterNodes cluster, Origin origin, WebAxe4 workload)
      throws IOException {
    try (var client = new ClusterLoad(origin, cluster.ports(), workload, RATE)) {
      client.during(SETTLING);
      step("load before the upgrade");
      keep("upgrade.csv", upgrade, sample("", BEFORE, 1, client.during(counted())));
      Mark begin = client.mark();
      for (Node node : cluster.nodes()) {
        step("upgrade node %s", node.name());
        cluster.upgrade(node);
        cluster.awaitWhole();
      }
      keep("upgrade.csv", upgrade, sample("", "upgrade of all", 1, client.mark().since(begin)));
    }
  }

  // CPU time of hits: steadier on a core without the load

  private void measureHits(Workbench bench, Origin origin)
      throws IOException, InterruptedException {
    var cluster =
        ClusterNodes.start(bench, "no-copies", Core.SERVER, origin.port(), "    copies: none\n");
    Node single = ClusterNodes.single(bench, Core.SERVER, origin.port());
    Map<String, String> paths = new LinkedHashMap<>();
    for (int i = 0; i < PROBES; i++) {
      String path = "/hit/1024?" + i;
      probe(cluster.nodes().getFirst(), path);
      String source = probe(cluster.nodes().getFirst(), path);
      paths.putIfAbsent(source.contains("peer") ? PEER : LOCAL, path);
    }
    String local = paths.getOrDefault(LOCAL, "/hit/1024");
    String peer = paths.get(PEER);
    Extent extent = Extent.of(scale());
    for (int round = 0; round <= extent.rounds(); round++) {
      step("hits, round %d", round);
      measureHits(bench, cluster, single, SINGLE, local, round);
      measureHits(bench, cluster, cluster.nodes().getFirst(), LOCAL, local, round);
      if (peer != null) {
        measureHits(bench, cluster, cluster.nodes().getFirst(), PEER, peer, round);
      }
    }
    single.process().stop();
    cluster.nodes().forEach(node -> node.process().stop());
  }

  /** Asks for that, and returns what Cache-Status says. */
  private static String probe(Node node, String path) throws IOException {
    var url = URI.create(site(node) + path).toURL();
    var connection = (HttpURLConnection) url.openConnection();
    try (var in = connection.getInputStream()) {
      in.readAllBytes();
      return String.join(
          ", ", connection.getHeaderFields().getOrDefault("Cache-Status", List.of()));
    }
  }

  private static String site(Node node) {
    return "http://127.0.0.1:" + node.port();
  }

  private void measureHits(
      Workbench bench, ClusterNodes cluster, Node asked, String hit, String path, int round)
      throws IOException, InterruptedException {
    Extent extent = Extent.of(scale());
    // The node warms up twice, for its own hits and those of a peer.
    int warmup = extent.warmupSeconds() * (hit.equals(SINGLE) ? 2 : 1);
    int seconds = round == 0 ? warmup : extent.hitSeconds();
    CpuTime before = asked.process().cpuTime();
    CpuTime allBefore = cpuTime(cluster);
    LoadProgram.Result came = LoadProgram.wrk(bench, WRK_CONNECTIONS, asked.port(), path, seconds);
    if (came.errors() > 0) {
      throw new IOException(hit + ": " + came.errors() + " requests failed");
    }
    CpuTime taken = asked.process().cpuTime().minus(before);
    CpuTime all = hit.equals(SINGLE) ? taken : cpuTime(cluster).minus(allBefore);
    if (round > 0) {
      keep(
          "hits.csv",
          hits,
          Sample.of("", hit, round)
              .with(REQUESTS, came.requests())
              .with(CPU, taken.micros())
              .with(ALL_CPU, all.micros()));
    }
  }

  private static CpuTime cpuTime(ClusterNodes cluster) throws IOException {
    CpuTime sum = CpuTime.ZERO;
    for (Node node : cluster.nodes()) {
      sum = sum.plus(node.process().cpuTime());
    }
    return sum;
  }

  // The report

  @Override
  List<Finding> findings() {
    return List.of();
  }

  @Override
  List<String> sources() {
    return List.of("perf/src/main/java/io/kamille/perf/lab/SeveralNodes.java");
  }

  @Override
  void report(Report report) {
    section(report, "Purges", purges, "way", PURGE_COLUMNS);
    var latency =
        new LineChart("Purges by " + PurgeCallers.CALLERS + " callers", "percentile", "ms");
    latencies.forEach(latency::line);
    report.plot("purges", latency);
    section(report, "The leader is killed", failover, "killed", FAILOVER_COLUMNS);
    if (!fetch.all().isEmpty()) {
      report.heading("One fetch").table(fetch.wholeTable("peers", "object", FETCH_COLUMNS));
    }
    section(report, "WebAxe-4", load, "nodes", LOAD_COLUMNS);
    section(report, "Join and leave", join, "phase", LOAD_COLUMNS);
    report.plot(
        "join",
        new LineChart("Origin requests while a node leaves and joins", "s", "requests/s")
            .lines(joinSeconds, ORIGIN_RATE));
    section(report, "Upgrade of three nodes", upgrade, "phase", LOAD_COLUMNS);
    section(report, "Hits", hits, "hit", HIT_COLUMNS);
    section(report, "Idle", idle, "process", IDLE_COLUMNS);
    if (!growth.all().isEmpty()) {
      report.heading("Up to 100 nodes, simulated");
      report.table(growth.wholeTable("cluster", "nodes", ClusterGrowth.TRAFFIC));
      report.plot("growth", ClusterGrowth.traffic(growth));
      report.table(growth.wholeTable("cluster", "nodes", ClusterGrowth.KEYS));
      report.plot("spread", ClusterGrowth.spread(growth));
    }
    report.heading("Goals").items(goals().stream().map(goal -> goal.verdict(purges)).toList());
  }

  private static void section(
      Report report, String heading, Samples samples, String title, List<Column> columns) {
    if (!samples.all().isEmpty()) {
      report.heading(heading).table(samples.table(title, "", columns));
    }
  }

  private List<Goal> goals() {
    return List.of(
        goal(5, "10,000 purges by the API in at most 5 s", purges.spread(SECONDS, "", API)),
        goal(150, "99 of 100 purges in at most 150 ms", purges.spread(P99, "", API)),
        goal(4, "the first purge 4 s after the kill", failover.spread(FIRST, "", "the leader")),
        goal(8, "caught up 8 s after the start", failover.spread(CAUGHT_UP, "", "the leader")),
        goal(1, "one fetch of 1 KiB", fetch.spread(FORWARDED, "1 KiB", "on")),
        goal(1, "one fetch of 10 MiB", fetch.spread(FORWARDED, "10240 KiB", "on")),
        goal(
            1.05,
            "origin requests of three nodes ÷ one at most 1.05",
            load.ratio(MISSES, "", CLUSTER, SINGLE)),
        goal(
            3,
            "CPU of a peer hit at most 3 × a local hit",
            hits.ratio(ALL_CPU.per(REQUESTS), "", PEER, LOCAL)),
        goal(
            1.01,
            "CPU of a local hit at most 1.01 × without a cluster",
            hits.ratio(CPU.per(REQUESTS), "", LOCAL, SINGLE)),
        goal(1.5, "an idle leader takes at most 1.5 % of a core", idle.spread(CORE, "", "leader")),
        goal(1.5, "an idle follower, too", idle.spread(CORE, "", "follower")),
        goal(
            70,
            "a follower has at most 70 MiB more",
            idle.difference(RESIDENT.times(1.0 / (1 << 20)), "", "follower", SINGLE)),
        goal(
            0,
            "no failed request during the upgrade",
            upgrade.spread(FAILED, "", "upgrade of all")),
        goal(
            1.02,
            "origin requests during the upgrade at most 1.02 × before",
            upgrade.ratio(MISSES, "", "upgrade of all", BEFORE)));
  }

  private static Goal goal(double limit, String claim, Optional<Spread> measured) {
    return Goal.atMost(limit, claim, _ -> measured);
  }
}
