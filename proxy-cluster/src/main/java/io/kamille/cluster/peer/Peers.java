package io.kamille.cluster.peer;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.key.CacheKeyProbe;
import io.kamille.cache.rules.Reason;
import io.kamille.cluster.secret.ClusterSecret;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.cluster.settings.PeerSettings;
import io.kamille.cluster.settings.PeerSettings.Copies;
import io.kamille.core.content.Spool;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.ChoiceSettings;
import io.kamille.core.origin.ConnectionSettings;
import io.kamille.core.origin.ForwardingSettings;
import io.kamille.core.origin.ForwardingSettings.Mode;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.PoolSettings;
import io.kamille.core.origin.UpstreamMetrics;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.origin.send.UpstreamHandler;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.setting.WatchedFiles;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.tls.OriginTlsSettings;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Stream;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.StandardConstants;
import org.jspecify.annotations.Nullable;

/** The other nodes as this one asks them, and answers them. Any thread. */
public final class Peers implements AutoCloseable {

  /** What metrics call other nodes, as an upstream. */
  public static final String UPSTREAM = "cluster-peers";

  /*
   * Each node is an upstream with one origin. So pools, HTTP/2, time-outs, health and metrics are
   * those of upstreams, and TLS asks for a certificate for the name of the node. Its responses say
   * nothing of its health: an error may be that of an origin, and clients choose URLs.
   *
   * Requests go as the client sent them, and nothing is added but what PeerFields says. The owner
   * writes X-Forwarded-For and the like, as if the client had come to it.
   *
   * A request waits for a connection as long as the settings say. A handshake may go on for longer:
   * a process that has just begun needs more for its first ones.
   *
   * An owner may take as long as its origin is allowed to, and says meanwhile that it is there. If
   * nothing comes from it, another node is asked, and it is left alone for a while. If it is gone,
   * whoever waits for it is told by the members of the cluster.
   */
  private static final Duration HEAD_TIMEOUT = Duration.ofMinutes(5);
  private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration DIAL_TIMEOUT = Duration.ofSeconds(2);
  private static final HealthPolicy HEALTH =
      new HealthPolicy(3, Double.MAX_VALUE, Duration.ofMillis(250), HealthPolicy.DEFAULTS.check());

  /** What upstreams are made of. */
  public record Parts(
      OriginNames names,
      Connector connector,
      WallClock clock,
      Spool spool,
      MetricRegistry registry) {}

  /**
   * Whom to ask for a request before the origin.
   *
   * @param applied the last purge that may be applied here
   * @param isKept whether the response may be stored here
   */
  record Plan(List<PeerLink> links, long key, long applied, boolean isKept, boolean onlyIfCached) {}

  /**
   * Who owns an object.
   *
   * @param second who is asked if the owner is of no help; null for nobody
   * @param former who has it perhaps, while nodes join or leave; null for nobody
   */
  public record Ownership(String owner, @Nullable String second, @Nullable String former) {}

  private record Table(Owners owners, Map<String, PeerLink> links) {

    int inFlight(PeerNode node) {
      PeerLink link = links.get(node.name());
      return link == null ? 0 : link.origin().inFlight();
    }
  }

  private final ClusterSettings settings;
  private final String loopName;
  private final Parts parts;
  private final UpstreamMetrics metrics;
  private final HotKeys hot = new HotKeys();
  private final HotKeys changed = new HotKeys();
  private final ConcurrentMap<Long, Integer> waiting = new ConcurrentHashMap<>();
  private final long secretHigh;
  private final long secretLow;

  @GuardedBy("this")
  private final WatchedFiles certificates;

  // Volatile: replaced when nodes come and go, read on the loops.
  private volatile Table table;
  // Volatile: set once the cluster has begun.
  private volatile PeerView view = PeerView.NONE;
  // Volatile: set before the cluster has begun, read by whoever tells of nodes.
  private volatile List<EventLoop> loops = List.of();

  private Peers(ClusterSettings settings, Parts parts, ByteBuffer secret) {
    this.settings = settings;
    this.loopName = "kamille-" + settings.name();
    this.parts = parts;
    this.secretHigh = secret.getLong();
    this.secretLow = secret.getLong();
    ClusterSettings.Files files = settings.tls();
    this.certificates =
        new WatchedFiles(
            List.of(
                Objects.requireNonNull(files.certificate()),
                Objects.requireNonNull(files.key()),
                Objects.requireNonNull(files.ca())));
    this.metrics = new UpstreamMetrics(parts.registry(), UPSTREAM, List.of());
    this.table = new Table(owners(List.of()), Map.of());
  }

  /**
   * Knows no other node yet.
   *
   * @param parts stay the caller's
   * @throws IOException with one sentence, if the certificates cannot be used
   */
  public static Peers open(ClusterSettings settings, ClusterSecret secret, Parts parts)
      throws IOException {
    tls(settings, settings.node());
    byte[] key = secret.key("owners of objects", 2 * Long.BYTES);
    return new Peers(settings, parts, ByteBuffer.wrap(key));
  }

  /** What a node calls itself in {@code Cache-Status}. */
  public static String cacheName(String node) {
    return PeerLink.cacheName(node);
  }

  /** Has requests to an origin name this cluster (RFC 8586). */
  public ExchangeHandler marking(ExchangeHandler origin) {
    return exchange -> {
      RequestHead asked = exchange.request().copy();
      asked.fields().add(FieldName.CDN_LOOP.text(), loopName);
      origin.handle(exchange.behind(asked, exchange.reply()));
    };
  }

  /** Whether a node of this cluster has sent that request to an origin, and it comes back. */
  public boolean isLoop(RequestHead request) {
    return request.fields().has(FieldName.CDN_LOOP)
        && request.fields().all(FieldName.CDN_LOOP).stream()
            .flatMap(line -> Stream.of(line.split(",", -1)))
            .anyMatch(each -> each.split(";", 2)[0].strip().equals(loopName));
  }

  /** Goes by what this one says, from now on. */
  public void follow(PeerView next) {
    view = next;
  }

  /**
   * Has these loops connect to each node as it comes. The first handshake of a process takes longer
   * than a request may wait, so that several nodes would ask the origin at once.
   */
  public void connectFrom(List<EventLoop> asking) {
    loops = asking;
  }

  PeerView view() {
    return view;
  }

  /** After so long without a response a node says that it is there; others wait twice as long. */
  long aliveNanos() {
    return settings.peers().connectTimeout().toNanos();
  }

  /** The keys that another node was asked for, and no response has begun. */
  ConcurrentMap<Long, Integer> waiting() {
    return waiting;
  }

  /** Whether this node waits itself for what another one asks of it. */
  boolean waitsFor(RequestHead request) {
    return !waiting.isEmpty() && waiting.containsKey(key(request));
  }

  /**
   * These are the current nodes, this one among them if it is. Who waits for one that is not among
   * them asks another one. Looks up names that are new: blocks, so not on a loop.
   *
   * @throws IOException if the certificates cannot be used; then all stays as it was
   */
  public synchronized void nodes(List<PeerNode> nodes) throws IOException {
    Map<String, PeerLink> last = table.links();
    Map<String, PeerLink> links =
        certificates.isChanged()
            ? certificates.read(() -> links(nodes, Map.of()))
            : links(nodes, last);
    metrics.origins(links.values().stream().map(PeerLink::origin).toList());
    table = new Table(owners(nodes), links);
    last.values().stream().filter(link -> !links.containsValue(link)).forEach(this::close);
  }

  private Map<String, PeerLink> links(List<PeerNode> nodes, Map<String, PeerLink> last)
      throws IOException {
    Map<String, PeerLink> links = new TreeMap<>();
    for (PeerNode node : nodes) {
      PeerLink known = last.get(node.name());
      if (known != null && known.node().address().equals(node.address())) {
        links.put(node.name(), known);
      } else if (!node.name().equals(settings.node())) {
        links.put(node.name(), link(node));
        links.get(node.name()).handler().warm(loops);
      }
    }
    return links;
  }

  /** Whether the certificates were written since connections began to show them. */
  public synchronized boolean isRenewed() {
    return certificates.isChanged();
  }

  private Owners owners(List<PeerNode> nodes) {
    return new Owners(nodes, settings.node());
  }

  private PeerLink link(PeerNode node) throws IOException {
    UpstreamSettings upstream = upstream(settings.peers());
    var url = new OriginUrl(true, node.address().host(), node.address().port());
    Origin origin = upstream.origin(url, 1);
    OriginTls tls = tls(settings, node.name());
    metrics.expect(List.of(origin));
    parts.names().watch(List.of(origin));
    UpstreamHandler handler =
        new UpstreamHandler(
            upstream,
            List.of(origin),
            tls,
            parts.connector(),
            parts.clock(),
            parts.spool(),
            metrics);
    return new PeerLink(node, origin, handler, parts.registry());
  }

  private static OriginTls tls(ClusterSettings settings, String node) throws IOException {
    ClusterSettings.Files files = settings.tls();
    try {
      var valid = new SNIHostName(node);
      assert valid.getType() == StandardConstants.SNI_HOST_NAME;
    } catch (IllegalArgumentException invalid) {
      throw new IOException(
          "cluster.node: " + node + " (expected: a host name, which its certificate is for)",
          invalid);
    }
    OriginTlsSettings tls =
        new OriginTlsSettings(
            Optional.of(Objects.requireNonNull(files.ca(), "cluster.tls.ca")),
            node,
            files.certificate(),
            files.key(),
            true);
    return OriginTls.open(tls, tls.read(), OriginProtocol.H2.offered());
  }

  private static UpstreamSettings upstream(PeerSettings peers) {
    ConnectionSettings connection = ConnectionSettings.DEFAULTS;
    PoolSettings pool = PoolSettings.DEFAULTS;
    return new UpstreamSettings(
        ChoiceSettings.SECTION.defaults(),
        DIAL_TIMEOUT,
        OriginProtocol.H2,
        OriginTlsSettings.DEFAULTS,
        0,
        HEALTH,
        new PoolSettings(
            pool.maxConnections(),
            pool.maxWaiting(),
            peers.connectTimeout(),
            pool.maxIdle(),
            IDLE_TIMEOUT,
            pool.uploadBufferBytes(),
            pool.responseBufferBytes()),
        new ConnectionSettings(
            HEAD_TIMEOUT,
            connection.contentTimeout(),
            connection.tunnelTimeout(),
            connection.continueTimeout(),
            connection.receiveBufferBytes(),
            connection.proxyProtocol()),
        new ForwardingSettings(Mode.PASS, Mode.PASS, null, List.of(), List.of()));
  }

  private void close(PeerLink link) {
    parts.names().forget(List.of(link.origin()));
    link.close();
  }

  @Override
  public synchronized void close() {
    table.links().values().forEach(this::close);
    metrics.close();
  }

  /** Whom to ask for this request; null if the origin is to be asked at once. */
  @Nullable Plan plan(Exchange exchange) {
    RequestHead request = exchange.request();
    PeerView now = view;
    if (!isForPeers(request)
        || exchange.content().length() != 0
        || exchange.client().getAddress() == null
        || !now.isCurrent()) {
      return null;
    }
    long key = key(request);
    long nowNanos = parts.clock().nanos();
    if (changed.has(key, nowNanos)) {
      return null;
    }
    Table known = table;
    PeerNode first =
        request.sender() == Sender.CLIENT
            ? known.owners().nearest(key, nowNanos, null, known::inFlight)
            : null;
    if (first == null || known.owners().isSelf(first)) {
      List<PeerLink> former = links(known, known.owners().former(key, nowNanos));
      return former.isEmpty() ? null : new Plan(former, key, now.begun(), true, true);
    }
    PeerNode second = known.owners().nearest(key, nowNanos, first, known::inFlight);
    return new Plan(links(known, first, second), key, now.begun(), isKept(key, nowNanos), false);
  }

  private static boolean isForPeers(RequestHead request) {
    return (request.method() == Method.GET || request.method() == Method.HEAD)
        && !request.isAuthenticated()
        && request.partition() == null
        && request.authorityStart() < request.authorityEnd();
  }

  /** The links to these, up to the one that is this node. */
  private static List<PeerLink> links(Table known, @Nullable PeerNode... nodes) {
    List<PeerLink> links = new ArrayList<>();
    for (PeerNode node : nodes) {
      PeerLink link = node == null ? null : known.links().get(node.name());
      if (link == null) {
        break;
      }
      links.add(link);
    }
    return links;
  }

  /**
   * What is stored for this target became invalid by an answer that came by this node. Its owner
   * learns of that a moment later, so for a minute it is not asked.
   *
   * @param request as its route makes it
   */
  public void invalidated(RequestHead request) {
    changed.ask(key(request), parts.clock().nanos());
  }

  private boolean isKept(long key, long nowNanos) {
    Copies copies = settings.peers().copies();
    return copies == Copies.ALL || (copies == Copies.HOT && hot.ask(key, nowNanos));
  }

  private long key(RequestHead request) {
    return CacheKeyProbe.of(secretHigh, secretLow).keyOf(request).low();
  }

  // For people

  /**
   * Who owns what this request asks for; null if nobody does.
   *
   * @param request as its route makes it
   */
  public @Nullable Ownership ownership(RequestHead request) {
    long key = key(request);
    long nowNanos = parts.clock().nanos();
    Owners owners = table.owners();
    PeerNode owner = owners.owner(key, nowNanos);
    if (owner == null) {
      return null;
    }
    PeerNode second = owners.nearest(key, nowNanos, owner, _ -> 0);
    PeerNode former = owners.former(key, nowNanos);
    return new Ownership(owner.name(), name(second), owner.equals(former) ? null : name(former));
  }

  private static @Nullable String name(@Nullable PeerNode node) {
    return node == null ? null : node.name();
  }

  /** The step of an explanation that says whom a miss would ask. */
  public Reason explain(RequestHead request) {
    Ownership ownership = isForPeers(request) ? ownership(request) : null;
    boolean isCurrent = view.isCurrent();
    if (ownership == null || !isCurrent) {
      String why = isCurrent ? "no node owns it" : "this node is cut off";
      return new Reason("owner", "cluster.peers", why, "the origin is asked");
    }
    String found =
        "owner " + ownership.owner() + " of " + table.owners().nodes().size() + ", by its hash";
    boolean isOurs = ownership.owner().equals(settings.node());
    String so = isOurs ? "this node asks the origin" : "that node is asked before the origin";
    return new Reason("owner", "cluster.peers", found, so);
  }
}
