package io.kamille.launcher.appliance;

import io.kamille.admin.AdminSettings;
import io.kamille.cache.rules.Reason;
import io.kamille.core.client.open.ListenerSettings;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.setting.WatchedFiles;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.core.tls.ServerContext;
import io.kamille.core.tls.ServerTls;
import io.kamille.core.tls.TicketSecret;
import io.kamille.core.tls.TlsPolicy;
import io.kamille.core.tls.TlsSettings;
import io.kamille.core.tls.TlsSettings.Source;
import io.kamille.launcher.acme.CertificateKeeper;
import io.kamille.launcher.configuration.Configuration;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The TLS of all listeners and of the control plane, its workers, and what has it read certificates
 * again. Any thread; one reload at a time.
 */
final class TlsListeners implements AutoCloseable {

  /*
   * Files are looked at every ten seconds: a certificate is exchanged by whatever writes files, and
   * nothing has to tell us. One that cannot be used changes nothing and is said once.
   *
   * A file that hangs holds up looks and whatever else takes the monitor. Handshakes have workers
   * of their own, which never take it.
   *
   * A self-signed certificate is made anew when a quarter of its time is left.
   */
  private static final System.Logger LOG = System.getLogger("kamille.tls");
  private static final int WORKERS = 2;
  private static final long RENEW_SECONDS = 10;
  private static final long ROTATION_HOURS = 8;
  private static final int LAST_PART = 4;
  private static final int MOST_TOLD = 3;

  /** Names that no listener of clients can have. */
  private static final String ADMIN = "admin API";

  static final String PEERS = "cluster peers";
  private static final Set<String> NOT_FOR_CLIENTS = Set.of(ADMIN, PEERS);

  /**
   * Whose TLS it is, what is spoken inside, in the words of ALPN, and for which names certificates
   * are ordered.
   */
  private record Endpoint(
      String name, TlsSettings tls, List<String> protocols, List<String> ordered) {

    static Endpoint of(ListenerSettings listener, Configuration configuration) {
      return new Endpoint(
          listener.name(),
          listener.tls(),
          listener.spoken().names(),
          configuration.orderedNames(listener));
    }

    static Endpoint of(AdminSettings admin) {
      return new Endpoint(ADMIN, admin.tls(), List.of("http/1.1"), List.of());
    }

    TlsPolicy policy() throws IOException {
      return tls.policy(protocols);
    }
  }

  /**
   * What is open.
   *
   * @param files that it goes by
   */
  private record Open(Endpoint endpoint, ServerTls tls, WatchedFiles files) {}

  // Changed under the monitor, read by all: a status must not wait for a file that hangs.
  private final Map<String, Open> open = new ConcurrentHashMap<>();
  private final Map<String, String> tickets = new HashMap<>();
  private final Map<String, String> trouble = new HashMap<>();

  private final @Nullable TicketSecret secret;
  private final InstantSource clock;
  private volatile @Nullable CertificateKeeper keeper;
  private final ScheduledThreadPoolExecutor renewals;
  private final ExecutorService workers = Executors.newFixedThreadPool(WORKERS, threads());

  /**
   * None yet.
   *
   * @param secret of all nodes of a cluster, by which clients resume at any; null without one
   */
  TlsListeners(@Nullable TicketSecret secret, InstantSource clock) {
    this(secret, clock, new ScheduledThreadPoolExecutor(1, threads()));
  }

  /**
   * The same.
   *
   * @param renewals does all that may wait for a file, and nothing else; ours from now on
   */
  TlsListeners(
      @Nullable TicketSecret secret, InstantSource clock, ScheduledThreadPoolExecutor renewals) {
    this.secret = secret;
    this.clock = clock;
    this.renewals = renewals;
    repeat("certificates were not looked at", this::renew, RENEW_SECONDS, TimeUnit.SECONDS);
    repeat("certificates may expire", this::warn, 1, TimeUnit.DAYS);
    repeat("keys of tickets stay", this::rotate, ROTATION_HOURS, TimeUnit.HOURS);
  }

  private static ThreadFactory threads() {
    return Thread.ofPlatform().name("kamille-tls").daemon().factory();
  }

  private void repeat(String failed, SteadyTask.Work work, long period, TimeUnit unit) {
    renewals.scheduleWithFixedDelay(new SteadyTask(LOG, failed, work), period, period, unit);
  }

  /**
   * The TLS of a listener, which stays ours; null if it speaks none.
   *
   * @throws StartFailure if its certificates cannot be used
   */
  @Nullable ServerTls open(ListenerSettings settings, Configuration configuration)
      throws StartFailure {
    return open(Endpoint.of(settings, configuration));
  }

  /** Listeners that open from now on have the certificates that this one keeps, too. */
  synchronized void order(CertificateKeeper keeper) {
    this.keeper = keeper;
  }

  /** Goes by the certificates that were ordered meanwhile. */
  synchronized void ordered() {
    open.values().stream()
        .filter(each -> each.endpoint().tls().source() == Source.ACME)
        .forEach(this::update);
  }

  /** Those of files go first: an operator may put one in the place of what is ordered. */
  private List<ServerCertificate> withOrdered(Endpoint settings, List<ServerCertificate> files) {
    List<ServerCertificate> certificates = new ArrayList<>(files);
    if (keeper != null && !settings.ordered().isEmpty()) {
      certificates.addAll(keeper.certificates(settings.ordered()));
    }
    return certificates;
  }

  /** The same for the control plane. */
  @Nullable ServerTls open(AdminSettings settings) throws StartFailure {
    return open(Endpoint.of(settings));
  }

  private synchronized @Nullable ServerTls open(Endpoint settings) throws StartFailure {
    if (!settings.tls().isOn()) {
      return null;
    }
    if (!ServerContext.isNative() && open.isEmpty()) {
      LOG.log(
          Level.WARNING,
          "BoringSSL does not load here: the JDK's TLS stands in, which takes more CPU");
    }
    try {
      WatchedFiles files = settings.tls().files();
      return files.read(() -> open(settings, files));
    } catch (IOException refused) {
      throw new StartFailure(StartFailure.Cause.FILE, String.valueOf(refused.getMessage()));
    }
  }

  private ServerTls open(Endpoint settings, WatchedFiles files) throws IOException {
    List<ServerCertificate> certificates =
        withOrdered(settings, settings.tls().read(clock.instant()));
    ServerTls tls = ServerTls.open(settings.policy(), certificates, workers);
    if (secret != null && !NOT_FOR_CLIENTS.contains(settings.name())) {
      tls.shareTickets(secret, clock);
    }
    takeTickets(settings.name(), tls);
    var listener = new Open(settings, tls, files);
    open.put(settings.name(), listener);
    LOG.log(Level.INFO, "{0}: TLS by {1}", settings.name(), told(certificates));
    warn(listener, clock.instant());
    return tls;
  }

  static Object told(List<ServerCertificate> certificates) {
    return certificates.size() > MOST_TOLD ? certificates.size() + " certificates" : certificates;
  }

  /** An endpoint's files as they were read. */
  private record Read(Open listener, TlsPolicy policy, List<ServerCertificate> certificates) {}

  /**
   * Reads what these settings name, and changes nothing.
   *
   * @return puts it in force, for handshakes from then on
   * @throws IOException with one sentence, if something cannot be used
   */
  synchronized Runnable prepare(Configuration next) throws IOException {
    List<Endpoint> endpoints = new ArrayList<>(List.of(Endpoint.of(next.admin())));
    next.listeners().forEach(listener -> endpoints.add(Endpoint.of(listener, next)));
    List<Read> all = new ArrayList<>();
    for (Endpoint settings : endpoints) {
      Open before = open.get(settings.name());
      if (before != null && settings.tls().isOn()) {
        var listener = new Open(settings, before.tls(), settings.tls().files());
        Read read = listener.files().read(() -> read(listener));
        if (!read.certificates().isEmpty()) {
          ServerTls.check(read.policy(), read.certificates());
        }
        all.add(read);
      }
    }
    return () -> putInForce(all);
  }

  private synchronized void putInForce(List<Read> all) {
    for (Read read : all) {
      open.put(read.listener().endpoint().name(), read.listener());
      try {
        take(read);
      } catch (IOException refused) {
        keep(read.listener(), refused);
      }
    }
  }

  private Read read(Open listener) throws IOException {
    Endpoint settings = listener.endpoint();
    List<ServerCertificate> certificates =
        settings.tls().source() == Source.SELF_SIGNED && !isSpent(listener.tls())
            ? listener.tls().certificates()
            : settings.tls().read(clock.instant());
    return new Read(listener, settings.policy(), certificates);
  }

  /**
   * Whether a certificate of our own making ends soon, or begins later since the clock went back.
   */
  private boolean isSpent(ServerTls tls) {
    Instant now = clock.instant();
    return tls.certificates().stream()
        .filter(ServerCertificate::isSelfSigned)
        .anyMatch(of -> from(of).isAfter(now) || isInLastPart(of, now));
  }

  private static Instant from(ServerCertificate certificate) {
    return certificate.chain().getFirst().getNotBefore().toInstant();
  }

  private static boolean isInLastPart(ServerCertificate certificate, Instant now) {
    Duration lifetime = Duration.between(from(certificate), certificate.notAfter());
    return certificate.notAfter().isBefore(now.plus(lifetime.dividedBy(LAST_PART)));
  }

  private boolean take(Read read) throws IOException {
    Endpoint settings = read.listener().endpoint();
    ServerTls tls = read.listener().tls();
    boolean isOther = tls.update(read.policy(), withOrdered(settings, read.certificates()));
    if (isOther) {
      LOG.log(Level.INFO, "{0}: TLS by {1} from now on", settings.name(), told(tls.certificates()));
      warn(read.listener(), clock.instant());
    }
    trouble.remove(settings.name());
    return isOther;
  }

  private void update(Open listener) {
    try {
      listener.files().read(() -> take(read(listener)));
    } catch (IOException refused) {
      keep(listener, refused);
    }
  }

  /** What failed is read again at the next renewal, and told if it fails in another way. */
  private void keep(Open listener, IOException refused) {
    String name = listener.endpoint().name();
    String why = String.valueOf(refused.getMessage());
    listener.files().forget();
    if (!why.equals(trouble.put(name, why))) {
      LOG.log(Level.ERROR, "{0}: its certificates stay as they were: {1}", name, why);
    }
  }

  private synchronized void warn() {
    open.values().forEach(listener -> warn(listener, clock.instant()));
  }

  /** Of certificates that expire soon; one of our own making is made anew. */
  private static void warn(Open listener, Instant now) {
    for (ServerCertificate certificate : listener.tls().certificates()) {
      Instant from = from(certificate);
      boolean isOfFiles = listener.endpoint().tls().source() == Source.FILES;
      if (isOfFiles && from.isAfter(now)) {
        LOG.log(
            Level.WARNING,
            "{0}: a certificate is not valid before {1}: {2}",
            listener.endpoint().name(),
            from,
            certificate);
      } else if (isOfFiles && isInLastPart(certificate, now)) {
        LOG.log(
            Level.WARNING,
            "{0}: a certificate expires soon or has expired; renew {1}",
            listener.endpoint().name(),
            certificate);
      }
    }
  }

  /** The ticket keys of each endpoint by its name, for the process that comes after us. */
  synchronized Map<String, String> ticketKeys() {
    Map<String, String> keys = new HashMap<>();
    open.forEach((name, listener) -> keys.put(name, listener.tls().ticketKeys()));
    return keys;
  }

  /** Takes the tickets that another process made, at each endpoint that opens from now on. */
  synchronized void takeTickets(Map<String, String> keys) {
    tickets.putAll(keys);
  }

  private void takeTickets(String name, ServerTls tls) {
    String keys = tickets.remove(name);
    if (keys != null) {
      try {
        tls.takeTickets(keys);
      } catch (IllegalArgumentException unknown) {
        LOG.log(Level.WARNING, "{0}: tickets of the process before us are not taken", name);
      }
    }
  }

  /** When the first certificate of a listener expires; null if it speaks no TLS. */
  @Nullable String expires(String name) {
    Open listener = open.get(name);
    return listener == null ? null : listener.tls().expires().toString();
  }

  /** What a handshake for that host shows, and why: some fail because of it. */
  @Nullable Reason explain(String host) {
    ServerCertificate shown = null;
    boolean isOrdered = false;
    for (Open listener : open.values()) {
      boolean isBetter = shown == null || listener.tls().shown(host).isFor(host);
      if (isBetter && !NOT_FOR_CLIENTS.contains(listener.endpoint().name())) {
        shown = listener.tls().shown(host);
        isOrdered = ServerCertificate.covers(listener.endpoint().ordered(), host);
      }
    }
    if (shown == null) {
      return null;
    }
    String so =
        shown.isFor(host) ? "it is for this host" : "it stands in, as none is for this host";
    if (shown.isSelfSigned()) {
      CertificateKeeper ordering = keeper;
      String error = isOrdered && ordering != null ? ordering.error(host) : "";
      so = isOrdered ? "none was issued yet, so no client trusts this" : "no client trusts it";
      so += error.isEmpty() ? "" : ": " + error;
    }
    return new Reason("certificate", "RFC 6066 §3", shown.toString(), so);
  }

  /** Reads again what has changed, and makes anew what would end. */
  synchronized void renew() {
    open.values().stream()
        .filter(each -> isSpent(each.tls()) || each.files().isChanged())
        .forEach(this::update);
  }

  private synchronized void rotate() {
    open.values().forEach(listener -> listener.tls().rotateTicketKeys());
  }

  @Override
  public synchronized void close() {
    renewals.shutdownNow();
    workers.shutdownNow();
    open.values().forEach(listener -> listener.tls().close());
    open.clear();
  }
}
