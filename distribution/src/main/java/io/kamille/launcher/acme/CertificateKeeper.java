package io.kamille.launcher.acme;

import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.SelfSigned;
import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.acme.Issuer.Issued;
import io.kamille.launcher.acme.Issuer.Order;
import io.kamille.launcher.acme.Issuer.Refusal;
import io.kamille.launcher.acme.Issuer.Window;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a certificate for each name: orders it, renews it in time, and says when and why next. A
 * thread of its own does all that blocks; what is public is for any thread.
 */
public final class CertificateKeeper implements AutoCloseable {

  /*
   * One order at a time, for the name that is due for the longest time. A process orders while it
   * holds the lock of the store. The others show the proofs that lie there, and take over the
   * certificates that come: the process that follows this one, or another node. Who leads a cluster
   * may change at any moment, so its nodes never rest for long.
   *
   * Whoever wants something of the thread leaves it in a queue, at which the thread rests, too.
   */
  private static final System.Logger LOG = System.getLogger("kamille.certificates");
  private static final int POLLS_PER_READ = 10;
  private static final Duration TROUBLE = Duration.ofMinutes(1);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);
  private static final Duration LONGEST_REST = Duration.ofHours(1);
  private static final int NAMES_OF_STAND_IN = 100;

  private static final MetricDescriptor ORDERS =
      MetricDescriptor.counter(
          "kamille_acme_orders_total", "Orders of certificates by how they ended.", "outcome");
  private static final MetricDescriptor FAILING =
      MetricDescriptor.gauge("kamille_acme_failing_names", "Names whose last order has failed.");
  private static final MetricDescriptor LIFETIME_LEFT =
      MetricDescriptor.gauge(
          "kamille_acme_lifetime_left_ratio",
          "The share of its lifetime that a certificate has left, of the one with the least; 0 if"
              + " one is missing.");

  /**
   * What is known of one name.
   *
   * @param steps of the last order
   */
  private record Kept(
      @Nullable ServerCertificate certificate, RenewalPlan renewal, List<String> steps) {

    static final Kept NOTHING = new Kept(null, RenewalPlan.NONE, List.of());

    CertificateView view(String name, Instant now, boolean isRehearsed) {
      return CertificateView.of(name, certificate, renewal, steps, now, isRehearsed);
    }

    Kept with(RenewalPlan other) {
      return new Kept(certificate, other, steps);
    }
  }

  private final CertificateStore store;
  private final Prover prover;
  private final Function<AcmeSettings, Issuer> issuers;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final LongAdder issued = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final Map<String, Kept> kept = new ConcurrentHashMap<>();
  private final BlockingQueue<Runnable> asked = new LinkedBlockingQueue<>();
  private final Thread thread =
      Thread.ofPlatform().name("kamille-certificates").daemon().unstarted(this::run);

  // Volatile: set by whoever reloads, starts or hands over, read by the thread.
  private volatile AcmeSettings settings;
  private volatile List<String> names = List.of();
  private volatile boolean answersHttp;
  private volatile boolean isReleased;
  private volatile boolean isEnding;
  private volatile @Nullable String rehearsed;
  private volatile Runnable changed = () -> {};

  // Volatile: set by the thread, read by whoever asks it for something.
  private volatile boolean orders;

  // Confined to the thread.
  private int polls;
  private @Nullable Issuer authority;
  private @Nullable AcmeSettings authorityBy;

  /**
   * Reads what lies in the store. Orders nothing before {@link #start}.
   *
   * @param answersHttp whether a listener in clear text answers challenges
   * @param shared what the nodes of the cluster have; null without one
   * @throws IOException if the store cannot be used
   */
  public static CertificateKeeper open(
      AcmeSettings settings,
      List<String> names,
      boolean answersHttp,
      Challenges challenges,
      @Nullable Supplier<SharedValues> shared,
      MetricRegistry registry)
      throws IOException {
    CertificateStore store = new CertificateStore(settings, shared);
    Prover prover = new Prover(store, challenges);
    prover.refresh();
    var keeper =
        new CertificateKeeper(
            settings,
            store,
            prover,
            of -> new AcmeIssuer(of, new CertificateStore(of, shared), prover),
            InstantSource.system(),
            new SecureRandom());
    keeper.reload(settings, names, answersHttp);
    registry.counting(ORDERS, keeper.issued::sum, "issued");
    registry.counting(ORDERS, keeper.failed::sum, "failed");
    registry.gauge(
        FAILING, () -> keeper.views().stream().filter(of -> !of.error().isEmpty()).count());
    registry.gauge(
        LIFETIME_LEFT,
        () -> keeper.views().stream().mapToDouble(CertificateView::lifetimeLeft).min().orElse(1));
    return keeper;
  }

  CertificateKeeper(
      AcmeSettings settings,
      CertificateStore store,
      Prover prover,
      Function<AcmeSettings, Issuer> issuers,
      InstantSource clock,
      RandomGenerator random) {
    this.settings = settings;
    this.store = store;
    this.prover = prover;
    this.issuers = issuers;
    this.clock = clock;
    this.random = random;
  }

  /** Begins to order; {@code changed} is called whenever {@link #certificates} has changed. */
  public void start(Runnable changed) {
    onChange(changed);
    thread.start();
  }

  void onChange(Runnable changed) {
    this.changed = changed;
  }

  /** Goes by these from now on; a name that waits for an operator is tried again. */
  public void reload(AcmeSettings settings, List<String> names, boolean answersHttp) {
    this.settings = settings;
    this.answersHttp = answersHttp;
    prover.share(settings.isStoreShared() || store.isShared() || isReleased);
    names.forEach(name -> kept.computeIfAbsent(name, _ -> read(name, null)));
    this.names = names;
    kept.keySet().retainAll(names);
    asked.add(() -> names.forEach(name -> change(name, RenewalPlan::resumed)));
  }

  /**
   * The certificates of these names; one of our own making stands for those that are missing.
   *
   * @return at least one; an expired one is among them, for it is better than none
   */
  public List<ServerCertificate> certificates(List<String> wanted) {
    List<ServerCertificate> all = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (String name : wanted) {
      ServerCertificate certificate = of(name).certificate;
      if (certificate == null) {
        missing.add(name);
      } else {
        all.add(certificate);
      }
    }
    missing.removeIf(name -> all.stream().anyMatch(of -> of.isFor(name))); // By a wildcard.
    if (!missing.isEmpty()) {
      List<String> some = missing.subList(0, Math.min(NAMES_OF_STAND_IN, missing.size()));
      all.add(SelfSigned.of(clock.instant(), some));
    }
    return all;
  }

  /** How many names have no certificate yet. */
  public long missing() {
    return kept.values().stream().filter(of -> of.certificate == null).count();
  }

  /** Why the last order for a host failed, with advice; empty if it did not. */
  public String error(String host) {
    return names.stream()
        .filter(name -> ServerCertificate.covers(List.of(name), host))
        .map(name -> of(name).renewal.error())
        .findFirst()
        .orElse("");
  }

  /** What the control plane shows, in the order of the configuration. */
  List<CertificateView> views() {
    Instant now = clock.instant();
    return names.stream().map(name -> of(name).view(name, now, name.equals(rehearsed))).toList();
  }

  /**
   * Orders a new certificate at once, if the bounds allow.
   *
   * @return false if another process orders, or it would be one certificate too many
   */
  boolean renew(String name) {
    if (!orders || of(name).renewal.isUsedUp(clock.instant())) {
      return false;
    }
    asked.add(() -> change(name, renewal -> renewal.asked(clock.instant())));
    return true;
  }

  /**
   * Orders one at the authority's place for tests, and throws it away.
   *
   * @return false if another process orders, another rehearsal is under way, or it would be one
   *     certificate too many
   */
  synchronized boolean rehearse(String name) {
    boolean isReal = settings.equals(settings.forTests());
    if (rehearsed != null || !orders || (isReal && of(name).renewal.isUsedUp(clock.instant()))) {
      return false;
    }
    rehearsed = name;
    steps(name, List.of());
    asked.add(() -> {}); // Wakes the thread.
    return true;
  }

  /**
   * Begins no order any more, because another process takes our place; or does so again.
   *
   * @param isNext whether that process is there; an order under way goes on
   */
  public void handOver(boolean isNext) {
    isReleased = isNext;
    rehearsed = null;
    prover.share(settings.isStoreShared() || store.isShared() || isNext);
    asked.add(() -> {});
  }

  /** Orders no more; waits for so long at most until an order under way has ended. */
  public void finish(Duration atMost) {
    isEnding = true;
    asked.add(() -> {});
    try {
      if (thread.isAlive()) {
        thread.join(atMost);
      }
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends an order under way; its name counts as failed. */
  @Override
  public void close() {
    thread.interrupt();
    finish(CLOSE_LIMIT);
    unlock();
  }

  private void unlock() {
    try {
      store.close();
    } catch (IOException unlocked) {
      LOG.log(Level.DEBUG, "the end of the process unlocks the store, too", unlocked);
    }
  }

  private void run() {
    try {
      new SteadyTask(LOG, "certificates are looked at again", this::takeTurn)
          .repeatUntil(() -> isEnding);
    } finally {
      orders = false;
      unlock();
    }
  }

  private void takeTurn() throws InterruptedException {
    Runnable next = asked.poll(step().toMillis(), TimeUnit.MILLISECONDS);
    if (next != null) {
      next.run();
      doAsked();
    }
  }

  void doAsked() {
    for (Runnable next = asked.poll(); next != null; next = asked.poll()) {
      next.run();
    }
  }

  /** Does one thing, if one is due; says how long to rest until the next one. */
  Duration step() throws InterruptedException {
    try {
      if (!orders()) {
        prover.refresh();
        if (polls++ % POLLS_PER_READ == 0) {
          readAll();
        }
        return Prover.POLL;
      }
      String tried = rehearsed;
      if (tried != null) {
        rehearseNow(tried);
        return Duration.ZERO;
      }
      Duration rest = next(clock.instant());
      return store.isShared() && rest.compareTo(Prover.POLL) > 0 ? Prover.POLL : rest;
    } catch (IOException trouble) {
      orders &= !store.isShared(); // It reads again what it could not keep.
      LOG.log(Level.ERROR, "{0}: nothing is ordered: {1}", store, trouble);
      return TROUBLE;
    } catch (RuntimeException | Error bug) {
      LOG.log(Level.ERROR, "nothing is ordered, by a fault of ours", bug);
      return TROUBLE;
    }
  }

  /** Whether this process orders, which it does once no other one does. */
  private boolean orders() throws IOException {
    if (isReleased) {
      store.close();
      orders = false;
    } else if (!store.lock()) {
      orders = false;
    } else if (!orders) {
      store.closeAll();
      readAll();
      for (String name : names) {
        store.publish(name);
      }
      orders = true;
    }
    return orders;
  }

  private Duration next(Instant now) throws IOException, InterruptedException {
    Instant first = now.plus(LONGEST_REST);
    String due = null;
    for (String name : names) {
      Kept its = kept.get(name);
      if (its == null) {
        continue; // It has just left the configuration.
      }
      Instant when = its.renewal.due(its.certificate, now);
      Instant asks = its.renewal.asks(now);
      if (its.certificate != null && asks.isBefore(when)) {
        when = asks;
      }
      if (when.isBefore(first)) {
        first = when;
        due = name;
      }
    }
    if (due == null || first.isAfter(now)) {
      return Duration.between(now, first).plusMillis(1);
    }
    Kept its = of(due);
    if (its.renewal.due(its.certificate, now).isAfter(now)) {
      ask(due, Objects.requireNonNull(its.certificate), its.renewal, now);
    } else {
      order(due, its, now);
    }
    return Duration.ZERO;
  }

  private void ask(String name, ServerCertificate certificate, RenewalPlan renewal, Instant now)
      throws IOException {
    Window window = null;
    try {
      window = authority(settings).window(certificate.chain().getFirst());
    } catch (Refusal silent) {
      LOG.log(Level.DEBUG, "{0}: no suggestion when to renew: {1}", name, silent.getMessage());
    }
    if (window == null) {
      change(name, of -> of.unsuggested(certificate, now, random));
    } else {
      save(name, certificate, renewal.suggested(window, certificate, now, random));
    }
  }

  private void order(String name, Kept its, Instant now) throws IOException, InterruptedException {
    AcmeSettings by = settings;
    RenewalPlan begun = its.renewal.begun(now, random);
    save(name, its.certificate, begun);
    steps(name, List.of());
    say(name, "a certificate is due, because " + its.renewal.why(its.certificate, now));
    Way challenge = challenge(by, name, begun.failures());
    try {
      Issued made = authority(by).order(order(name, challenge, leaf(its.certificate, now)));
      check(name, made);
      ServerCertificate certificate = store.save(name, made);
      RenewalPlan next = begun.succeeded(certificate, clock.instant(), random);
      issued.increment();
      say(name, "issued until " + certificate.notAfter() + "; the next is due at " + next.chosen());
      save(name, certificate, next);
      changed.run();
    } catch (Refusal | IOException refusal) {
      if (Thread.interrupted()) {
        throw new InterruptedException("an order is cut off by the end of this process");
      }
      failed.increment();
      authority = null; // Whatever it knows of us may be wrong.
      RenewalPlan next = begun.failed(refusal, challenge, name, clock.instant());
      Instant again = next.due(its.certificate, clock.instant());
      String when = again.equals(Instant.MAX) ? "after a reload" : "at " + again;
      step(name, "failed: " + next.error());
      LOG.log(Level.ERROR, "{0}: not issued: {1}; next try {2}", name, next.error(), when);
      save(name, its.certificate, next);
    }
  }

  /** An authority that errs must not end a site: what was there stays. */
  private void check(String name, Issued made) throws Refusal {
    ServerCertificate of = ServerCertificate.of(made.chain(), made.keys().getPrivate(), name);
    Instant now = clock.instant();
    String wrong = "";
    if (!made.chain().getFirst().getPublicKey().equals(made.keys().getPublic())) {
      wrong = "is for another key";
    } else if (!of.names().contains(name)) {
      wrong = "is for " + of.names() + " and not for " + name;
    } else if (of.notBefore().isAfter(now) || !of.notAfter().isAfter(now)) {
      wrong =
          "is valid from "
              + of.notBefore()
              + " to "
              + of.notAfter()
              + " alone: is our clock right?";
    }
    for (int i = 1; i < made.chain().size(); i++) {
      if (!made.chain()
          .get(i - 1)
          .getIssuerX500Principal()
          .equals(made.chain().get(i).getSubjectX500Principal())) {
        wrong = "comes with others that have not signed it"; // No TLS would take them.
      }
    }
    if (!wrong.isEmpty()) {
      throw new Refusal(Refusal.MISUNDERSTOOD, "its certificate " + wrong);
    }
  }

  private void rehearseNow(String name) throws IOException, InterruptedException {
    AcmeSettings by = settings.forTests();
    Way challenge = challenge(by, name, 1);
    try {
      check(name, authority(by).order(order(name, challenge, null)));
      if (by.equals(settings)) { // It knows no place for tests, so this one counts.
        save(name, of(name).certificate, of(name).renewal.counted(clock.instant()));
      }
      say(name, "done: a certificate was issued and thrown away");
    } catch (Refusal refusal) {
      authority = null;
      say(name, "failed: " + Advice.of(refusal, challenge, name));
    } finally {
      rehearsed = null;
    }
  }

  private Order order(String name, Way challenge, @Nullable X509Certificate replaced) {
    return new Order(name, challenge, replaced, step -> say(name, step));
  }

  private static @Nullable X509Certificate leaf(@Nullable ServerCertificate of, Instant now) {
    return of == null || of.notAfter().isBefore(now) ? null : of.chain().getFirst();
  }

  private Issuer authority(AcmeSettings by) {
    Issuer known = authority;
    if (known == null || !by.equals(authorityBy)) {
      known = issuers.apply(by);
      authority = known;
      authorityBy = by;
    }
    return known;
  }

  /** How to prove a name at this try: another way than at the last one, if there is one. */
  private Way challenge(AcmeSettings by, String name, int tries) {
    if (!by.dnsHook().isEmpty() && !ServerCertificate.isAddress(name)) {
      return Way.DNS_01;
    }
    return answersHttp && tries % 2 == 0 ? Way.HTTP_01 : Way.TLS_ALPN_01;
  }

  private void say(String name, String step) {
    LOG.log(Level.INFO, "{0}: {1}", name, step);
    step(name, step);
  }

  private void step(String name, String step) {
    List<String> steps = new ArrayList<>(of(name).steps);
    steps.add(step);
    steps(name, List.copyOf(steps));
  }

  private void steps(String name, List<String> steps) {
    kept.computeIfPresent(name, (_, of) -> new Kept(of.certificate, of.renewal, steps));
  }

  /** On the disk first: what is not there is not done. */
  private void save(String name, @Nullable ServerCertificate certificate, RenewalPlan renewal)
      throws IOException {
    store.save(name, renewal);
    kept.computeIfPresent(name, (_, of) -> new Kept(certificate, renewal, of.steps));
  }

  private void change(String name, UnaryOperator<RenewalPlan> change) {
    kept.computeIfPresent(name, (_, of) -> of.with(change.apply(of.renewal)));
  }

  /** What lies in the store may be another process's work. */
  private void readAll() {
    boolean isNew = false;
    for (String name : names) {
      Kept before = of(name);
      Kept read = read(name, before.certificate);
      isNew |= !Objects.equals(read.certificate, before.certificate);
      kept.replace(name, new Kept(read.certificate, read.renewal, before.steps));
    }
    if (isNew) {
      changed.run();
    }
  }

  private Kept read(String name, @Nullable ServerCertificate known) {
    ServerCertificate certificate = known; // It stays in force if it cannot be read.
    try {
      certificate = store.certificate(name, known);
    } catch (IOException broken) {
      LOG.log(Level.ERROR, "{0}: its certificate cannot be read: {1}", name, broken.getMessage());
    }
    try {
      return new Kept(certificate, store.renewal(name), List.of());
    } catch (IOException broken) {
      LOG.log(Level.ERROR, "{0}: its counts cannot be read: {1}", name, broken.getMessage());
      return new Kept(
          certificate, RenewalPlan.NONE.stopped("its counts cannot be read"), List.of());
    }
  }

  private Kept of(String name) {
    return kept.getOrDefault(name, Kept.NOTHING);
  }
}
