package io.kamille.cluster;

import io.kamille.cluster.config.ClusterConfig;
import io.kamille.cluster.config.NodeConfig;
import io.kamille.cluster.current.Currentness;
import io.kamille.cluster.current.Report;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.ClusterEngine.Answer;
import io.kamille.cluster.engine.ClusterEngine.Position;
import io.kamille.cluster.engine.JGroupsEngine;
import io.kamille.cluster.engine.MemberAddresses;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.cluster.log.ClusterPurges;
import io.kamille.cluster.log.LocalPurges;
import io.kamille.cluster.log.LogState;
import io.kamille.cluster.peer.PeerNode;
import io.kamille.cluster.peer.PeerView;
import io.kamille.cluster.peer.Peers;
import io.kamille.cluster.secret.ClusterSecret;
import io.kamille.cluster.secret.ClusterValues;
import io.kamille.cluster.secret.SharedValues;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.cluster.settings.ClusterSettings.WhenCutOff;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.metric.MetricGroup;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.HostPort;
import io.kamille.core.tls.PemFile;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** This node as one of several: its membership, how current it is, and its purges. Any thread. */
public final class Cluster implements PeerView, AutoCloseable {

  private static final System.Logger LOG = System.getLogger("kamille.cluster");
  private static final int REMEMBERED = 200;
  // What is told.
  private static final byte REPORT = 1;
  private static final byte RETURNS = 3;
  // What is asked, beside 1 and 2 of ClusterPurges, 3 and 4 of ClusterConfig, 5 of ClusterValues.
  private static final byte STORED = 6;
  private static final Duration REPORT_PERIOD = Duration.ofSeconds(2);
  private static final int REPORTS_PER_LEASE = 5;
  private static final Duration POLL = Duration.ofMillis(5);

  private final ClusterSettings settings;
  private final String version;
  private final Path directory;
  private final LocalPurges local;
  private final PlaceFile applied;
  private final LogState state;
  private final Currentness currentness;
  private final ClusterEngine engine;
  private final ClusterPurges purges;
  private final ClusterValues values;
  private volatile @Nullable ClusterConfig config;
  private volatile @Nullable Peers peers;
  private final Map<String, PeerNode> asked = new TreeMap<>();
  private final MetricGroup exported;
  private final LongAdder leaderChanges = new LongAdder();
  private final ConcurrentMap<String, Heard> reports = new ConcurrentHashMap<>();

  /** Until when nodes keep their places that are replaced by their next processes. */
  private final ConcurrentMap<String, Long> returning = new ConcurrentHashMap<>();

  private final ScheduledThreadPoolExecutor reporter =
      new ScheduledThreadPoolExecutor(
          1, Thread.ofPlatform().name("kamille-cluster").daemon().factory());
  private final SteadyTask reporting =
      new SteadyTask(LOG, "a report of this node was not sent", this::report);
  private final long beganNanos = System.nanoTime();
  private volatile long currentSinceNanos;
  private volatile boolean goesOn;
  private volatile boolean isDraining;
  private final AtomicBoolean isClosed = new AtomicBoolean();
  private final Set<String> strangers = ConcurrentHashMap.newKeySet();
  // Volatile: written by the reports, read by whoever asks whether this node leads.
  private volatile long leaderTerm;
  private boolean wasCurrent;
  private @Nullable String lastLeader;

  record Heard(Report report, long nanos) {}

  /**
   * Joins.
   *
   * @param version of this release
   * @param directory where the log lies
   * @throws IOException if a file cannot be read, or the address cannot be had
   */
  public Cluster(
      ClusterSettings settings,
      String version,
      Path directory,
      LocalPurges local,
      MetricRegistry registry)
      throws IOException {
    // The log has the URLs of purges.
    Files.createDirectories(
        directory,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Path certificate = Objects.requireNonNull(settings.tls().certificate());
    ClusterSecret secret =
        ClusterSecret.read(Objects.requireNonNull(settings.secretFile(), "cluster.secret-file"));
    Instant ends = PemFile.certificates(certificate).getFirst().getNotAfter().toInstant();
    this.settings = settings;
    this.version = version;
    this.directory = directory;
    this.local = local;
    applied = new PlaceFile(directory.resolve("applied"));
    state = new LogState(local, applied);
    currentness =
        new Currentness(
            settings.node(),
            settings.voters(),
            settings.lease().toNanos(),
            new SplittableRandom().nextLong(1, Long.MAX_VALUE / 2),
            System.nanoTime());
    EngineEvents events = new EngineEvents();
    engine =
        JGroupsEngine.join(
            settings, directory.resolve("log"), new MemberAddresses(settings), state, events);
    exported = new MetricGroup(registry);
    purges =
        new ClusterPurges(
            engine,
            state,
            local,
            settings.purgeWait(),
            settings.whenCutOff() == WhenCutOff.SERVE ? null : settings.lease(),
            directory.resolve("purges"),
            exported);
    values =
        new ClusterValues(
            engine, state.values(), secret, state::nodes, this::leads, settings.purgeWait());
    export(ends);
    events.follow(purges);
    long period = Math.min(REPORT_PERIOD.toNanos(), settings.lease().toNanos() / REPORTS_PER_LEASE);
    reporter.scheduleWithFixedDelay(reporting, 0, period, TimeUnit.NANOSECONDS);
  }

  private void export(Instant ends) {
    for (String state : ClusterMetrics.STATES) {
      exported.gauge(
          ClusterMetrics.MEMBERS,
          () -> nodes().stream().filter(each -> each.state().equals(state)).count(),
          state);
    }
    exported.gauge(
        ClusterMetrics.IS_LEADER, () -> settings.node().equals(engine.position().leader()) ? 1 : 0);
    exported.gauge(ClusterMetrics.IS_CURRENT, () -> isCurrent() ? 1 : 0);
    exported.gauge(ClusterMetrics.HAS_QUORUM, () -> hasQuorum() ? 1 : 0);
    exported.gauge(ClusterMetrics.APPLIED, this::applied);
    exported.counting(ClusterMetrics.UNREAD, state::unread);
    exported.gauge(ClusterMetrics.BEHIND, () -> engine.position().behind());
    exported.gauge(ClusterMetrics.LOG_BYTES, engine::logBytes);
    exported.gauge(
        ClusterMetrics.CERTIFICATE_LEFT,
        () -> ends.getEpochSecond() - Instant.now().getEpochSecond());
    exported.counting(ClusterMetrics.LEADER_CHANGES, leaderChanges::sum);
  }

  /** What the engine tells. */
  private final class EngineEvents implements ClusterEngine.Listener {

    // Null until it is made: the engine may tell of members before.
    private volatile @Nullable ClusterPurges follower;

    void follow(ClusterPurges purges) {
      follower = purges;
    }

    @Override
    public void told(String node, byte[] message) {
      try {
        byte[] content = new byte[message.length - 1];
        System.arraycopy(message, 1, content, 0, content.length);
        if (message[0] == REPORT) {
          Report report = Report.of(content);
          Heard before = reports.put(node, new Heard(report, System.nanoTime()));
          if (isOfOurLog(node, report)) {
            currentness.heard(node, report);
          }
          boolean isNew = before == null || before.report().isCurrent() != report.isCurrent();
          if (isNew && !isClosed.get()) {
            reporter.execute(Cluster.this::tellPeers);
          }
        } else if (message[0] == RETURNS) {
          returning.put(node, System.nanoTime() + settings.lease().toNanos());
        }
      } catch (IOException | IndexOutOfBoundsException unknown) {
        LOG.log(Level.WARNING, "node {0} is not understood: {1}", node, unknown.getMessage());
      }
    }

    /** The numbers of another log say nothing about this one. */
    private boolean isOfOurLog(String node, Report report) {
      long own = state.log();
      boolean isOurs = own == 0 || report.log() == 0 || own == report.log();
      if (!isOurs && strangers.add(node)) {
        LOG.log(
            Level.WARNING,
            "node {0} has another log than this node. At the one that is older, stop Kamille and"
                + " delete cluster/log in the state directory",
            node);
      }
      return isOurs;
    }

    @Override
    public void asked(String node, byte[] message, Answer answer) {
      ClusterPurges asked = follower;
      try {
        if (message[0] == ClusterValues.APPLIED) {
          if (asked != null) {
            values.asked(message, answer);
          }
        } else if (message[0] == STORED) {
          String url = new String(message, 1, message.length - 1, StandardCharsets.UTF_8);
          Thread.startVirtualThread(
              () -> answer.send(new byte[] {(byte) (local.stores(url) ? 1 : 0)}));
        } else if (message[0] >= ClusterConfig.PREPARE) {
          ClusterConfig changed = config;
          if (changed != null) {
            changed.asked(message, answer);
          }
        } else if (asked != null) {
          asked.asked(message, answer);
        }
      } catch (IOException unknown) {
        LOG.log(Level.WARNING, "node {0} is not understood: {1}", node, unknown.getMessage());
      }
    }

    @Override
    public void members(List<String> nodes) {
      currentness.keep(nodes);
      if (reports.size() > REMEMBERED) {
        reports.keySet().retainAll(nodes);
        strangers.retainAll(nodes);
      }
      LOG.log(Level.INFO, "members of {0}: {1}", settings.name(), String.join(" ", nodes));
      if (follower != null && !isClosed.get()) {
        reporter.execute(reporting);
      }
    }
  }

  /** Tells the others how far we are, and checks whether we are current. */
  private void report() {
    long now = System.nanoTime();
    if (currentness.endIfClockJumped(
        now, TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()))) {
      LOG.log(Level.WARNING, "this machine was suspended, or its clock was set forward");
    }
    // Before the position: see Currentness.
    Map<String, Long> heard = currentness.heard();
    Position position = engine.position();
    noteApplied(position);
    if (position.leader() != null && !position.leader().equals(lastLeader)) {
      leaderChanges.add(lastLeader == null ? 0 : 1);
      lastLeader = position.leader();
    }
    boolean isCurrent = currentness.untilNanos() - now > 0;
    noteCurrent(isCurrent, now);
    ClusterConfig changed = config;
    Report report =
        new Report(
            Report.LEVEL,
            currentness.sends(now),
            heard,
            state.log(),
            position.appended(),
            state.applied(),
            changed == null ? 0 : changed.done(),
            changed == null ? "" : changed.digest(),
            isCurrent,
            isDraining,
            isCurrent ? currentMillis() : 0,
            Optional.ofNullable(settings.peers().address()).map(HostPort::toString).orElse(""),
            version);
    tellPeers();
    engine.tell(ClusterEngine.message(REPORT, report.octets()));
    if (isCurrent || isFirstStart(now)) {
      engine.vote();
    }
    makeKnown(position);
    purges.takeLeft();
  }

  /** Whether all voters are there, and none of them has an entry. */
  private boolean isFirstStart(long now) {
    return settings.voters().stream()
        .map(reports::get)
        .allMatch(
            heard ->
                heard != null
                    && now - heard.nanos() < settings.lease().toNanos()
                    && heard.report().appended() == Position.NOT_KNOWN);
  }

  /**
   * Takes this node down in the log. A leader does so once in its term: what it has inherited is
   * agreed upon with this entry.
   */
  private void makeKnown(Position position) {
    boolean leadsAnew = settings.node().equals(position.leader()) && position.term() != leaderTerm;
    if (position.leader() != null
        && !isDraining
        && (leadsAnew || !state.nodes().contains(settings.node()))
        && purges.known(settings.node(), true)
        && leadsAnew) {
      leaderTerm = position.term();
    }
  }

  /** Whether this node orders the entries, and has all that were before it did. */
  private boolean leads() {
    Position position = engine.position();
    return settings.node().equals(position.leader()) && position.term() == leaderTerm;
  }

  /** Only a node that all know of: purges do not wait for another one. */
  private void noteApplied(Position position) {
    if (state.nodes().contains(settings.node())) {
      currentness.applied(position.applied());
    }
  }

  private void noteCurrent(boolean isCurrent, long now) {
    if (isCurrent != wasCurrent) {
      wasCurrent = isCurrent;
      currentSinceNanos = goesOn ? currentSinceNanos : now;
      goesOn = false;
      LOG.log(
          isCurrent ? Level.INFO : Level.WARNING,
          isCurrent
              ? "this node knows all purges of " + settings.name()
              : "this node is cut off from a majority of the voters of " + settings.name());
    }
  }

  /** What the process before us had stored after so long is stored here. */
  public void goOn(long currentMillis) {
    currentSinceNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(currentMillis);
    goesOn = true;
  }

  /** How long this node has been current. */
  public long currentMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - currentSinceNanos);
  }

  /** Waits until this node knows all purges, as long as the settings allow; whether it does. */
  public boolean awaitCurrent() {
    long deadline = beganNanos + settings.startWait().toNanos();
    while (!isCurrent() && System.nanoTime() - deadline < 0) {
      noteApplied(engine.position());
      LockSupport.parkNanos(POLL.toNanos());
    }
    if (!isCurrent()) {
      LOG.log(
          Level.WARNING,
          "this node starts without a majority of the voters of {0}, and is cut off",
          settings.name());
    }
    return isCurrent();
  }

  /** Has other nodes asked for what they own, from now on. */
  public void follow(Peers asking) {
    asking.follow(this);
    peers = asking;
    reporter.execute(reporting);
  }

  /** Tells who may be asked now, if that has changed. On the thread of the reports. */
  private void tellPeers() {
    Peers asking = peers;
    if (asking == null) {
      return;
    }
    Map<String, PeerNode> now = places(engine.members(), reports, asked, this::isReturning);
    if (now.equals(asked) && !asking.isRenewed()) {
      return;
    }
    asked.clear();
    asked.putAll(now);
    try {
      asking.nodes(List.copyOf(now.values()));
    } catch (IOException unusable) {
      LOG.log(Level.ERROR, "other nodes cannot be asked: {0}", unusable.getMessage());
    }
  }

  /** Who may be asked; one that returns is taken for what it was until it is current again. */
  static Map<String, PeerNode> places(
      List<String> members,
      Map<String, Heard> reports,
      Map<String, PeerNode> last,
      Predicate<String> isReturning) {
    Map<String, PeerNode> now = new TreeMap<>();
    Set<String> names = new TreeSet<>(members);
    names.addAll(last.keySet());
    for (String name : names) {
      Heard heard = reports.get(name);
      PeerNode before = last.get(name);
      HostPort address = heard == null ? null : HostPort.parse(heard.report().peers());
      if (heard != null
          && address != null
          && heard.report().isCurrent()
          && members.contains(name)) {
        Report report = heard.report();
        long since = heard.nanos() - TimeUnit.MILLISECONDS.toNanos(report.currentMillis());
        boolean isSame =
            before != null
                && before.address().equals(address)
                && before.isDraining() == report.isDraining()
                && since - before.sinceNanos() < REPORT_PERIOD.toNanos();
        now.put(name, isSame ? before : new PeerNode(name, address, since, report.isDraining()));
      } else if (before != null && isReturning.test(name)) {
        now.put(name, before);
      }
    }
    return now;
  }

  private boolean isReturning(String name) {
    Long until = returning.get(name);
    return until != null && System.nanoTime() - until < 0;
  }

  /** Follows the changes of the configuration from now on, and makes them. */
  public ClusterConfig shareConfig(NodeConfig node) {
    ClusterConfig shared =
        new ClusterConfig(
            engine,
            state.config(),
            new PlaceFile(directory.resolve("config")),
            node,
            settings.purgeWait(),
            ClusterConfig.AGAIN);
    config = shared;
    return shared;
  }

  /** The changes of the configuration of all nodes; null if each has its own. */
  public @Nullable ClusterConfig config() {
    return config;
  }

  /** Whether this node has missed no purge. */
  @Override
  public boolean isCurrent() {
    return currentness.untilNanos() - System.nanoTime() > 0;
  }

  /** Until when what is stored may be served, by {@link System#nanoTime}. */
  public long untilNanos() {
    return currentness.untilNanos();
  }

  /** The purges of all nodes. */
  public ClusterPurges purges() {
    return purges;
  }

  @Override
  public long begun() {
    return state.begun();
  }

  /** Small values that all nodes have. */
  public SharedValues values() {
    return values;
  }

  /** The number of the last purge that is applied here. */
  @Override
  public long applied() {
    return state.applied();
  }

  public ClusterSettings settings() {
    return settings;
  }

  ClusterEngine engine() {
    return engine;
  }

  /** Why this node takes no part, or has purged more than it was told; else empty. */
  public String problem() {
    String problem = engine.problem();
    return problem.isEmpty() && state.unread() > 0
        ? state.unread()
            + " purges could not be carried out. All that was stored here is purged instead"
        : problem;
  }

  /** How far the log has come here. */
  public Position position() {
    return engine.position();
  }

  /** Which nodes have something stored for a URL, of those that answer in time; waits for them. */
  public Map<String, Boolean> stored(String url) {
    Map<String, Boolean> nodes = new TreeMap<>();
    engine
        .ask(
            ClusterEngine.message(STORED, url.getBytes(StandardCharsets.UTF_8)),
            settings.purgeWait())
        .forEach((node, answer) -> nodes.put(node, answer.length == 1 && answer[0] == 1));
    return nodes;
  }

  /** What the log has come to here. */
  public LogView log() {
    Position position = engine.position();
    return new LogView(
        position.leader(),
        position.term(),
        position.appended() == Position.NOT_KNOWN ? null : position.appended(),
        position.applied(),
        engine.logBytes(),
        state.saved(),
        state.lastEntries());
  }

  /** Whether a majority of the voters are members. */
  public boolean hasQuorum() {
    List<String> members = engine.members();
    long voters = settings.voters().stream().filter(members::contains).count();
    return voters > settings.voters().size() / 2 && engine.position().leader() != null;
  }

  /** All nodes that are known, by name. */
  public List<NodeView> nodes() {
    List<String> members = engine.members();
    Set<String> names = new TreeSet<>(settings.voters());
    names.addAll(state.nodes());
    names.addAll(members);
    String leader = engine.position().leader();
    Heard leading = leader == null ? null : reports.get(leader);
    String shared = leading == null ? "" : leading.report().configDigest();
    long now = System.nanoTime();
    List<NodeView> nodes = new ArrayList<>();
    for (String name : names) {
      Heard heard = reports.get(name);
      Report report = heard == null ? null : heard.report();
      boolean isMember = members.contains(name);
      nodes.add(
          new NodeView(
              name,
              !isMember ? "away" : report != null && report.isDraining() ? "draining" : "member",
              settings.voters().contains(name),
              name.equals(leader),
              isMember && report != null && report.isCurrent(),
              report == null ? 0 : report.applied(),
              report == null ? 0 : report.config(),
              isMember && report != null && differ(report.configDigest(), shared),
              report == null ? "" : report.version(),
              report == null ? 0 : report.level(),
              report == null ? "" : report.peers(),
              heard == null ? -1 : (now - heard.nanos()) / 1e9));
    }
    return nodes;
  }

  /** For how much longer a node that is away may serve what it has stored. */
  public Duration currentnessLeft(String node) {
    Heard heard = reports.get(node);
    long lastNanos = heard == null ? beganNanos : heard.nanos();
    return settings.lease().minusNanos(System.nanoTime() - lastNanos);
  }

  private static boolean differ(String digest, String leading) {
    return !digest.isEmpty() && !leading.isEmpty() && !digest.equals(leading);
  }

  /** Owns nothing new from now on. */
  public void drain() {
    isDraining = true;
    if (!isClosed.get()) {
      reporter.execute(reporting);
    }
  }

  /** Leaves for the next process of this node: others go on asking this node for its objects. */
  public void giveWay() {
    engine.tell(new byte[] {RETURNS});
    close();
  }

  /**
   * Leaves. What is stored may be served as long as this node is current. Closing again does
   * nothing.
   */
  @Override
  public void close() {
    if (isClosed.getAndSet(true)) {
      return;
    }
    exported.close();
    reporter.shutdownNow();
    purges.close();
    ClusterConfig changed = config;
    if (changed != null) {
      changed.close();
    }
    if (isDraining && !settings.voters().contains(settings.node())) {
      purges.known(settings.node(), false);
    }
    engine.close();
    applied.close();
  }
}
