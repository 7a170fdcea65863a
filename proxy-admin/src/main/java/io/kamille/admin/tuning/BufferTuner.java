package io.kamille.admin.tuning;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.socket.SendBuffer;
import io.kamille.core.socket.SendBufferAdvisor;
import io.kamille.core.socket.TcpSampler;
import io.kamille.core.socket.TcpSamples;
import io.kamille.core.socket.TunableChannel;
import io.netty.channel.EventLoop;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleSupplier;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Gives each connection the send buffer its path can use: takes what loops saw, estimates, shares
 * the budget and says what is to change. Any thread.
 */
public final class BufferTuner implements SendBufferAdvisor, AutoCloseable {

  /*
   * Loops hand over what they saw and go on; a thread of the tuner's own does the rest, once for
   * each period. The lock is between that thread and the control plane, which looks at the same
   * connections: no loop ever waits for it.
   *
   * A connection that wrote nothing for three periods and holds nothing has no part of the budget,
   * and keeps what it has: it may need it at once. When the policy becomes off, every connection
   * the tuner knows is given back to the kernel; it goes on knowing those that cannot be.
   */
  private static final System.Logger LOG = System.getLogger("kamille.tuning");
  private static final double NANOS_PER_SECOND = 1e9;

  /** Of all loops: at about 3 µs for each, less than 5 ms of processor time. */
  private static final double LOOKS_PER_SECOND = 1500;

  private static final String IDLE = "idle";

  private final ConcurrentLinkedQueue<TcpSamples> seen = new ConcurrentLinkedQueue<>();
  private final List<TcpSampler> samplers = new ArrayList<>();
  private final ClientGroups groups = new ClientGroups();
  private final KernelLimits limits;
  private final DoubleSupplier pressure;
  private final LongSupplier nanoClock;
  private final SendBuffer system;
  private final TuningMetrics metrics;
  private final Thread thread = new Thread(this::run, "kamille-tuner");

  @GuardedBy("this")
  private final Map<TunableChannel, TunedConnection> connections = new HashMap<>();

  /** Connections that were observed at since the last pass. */
  @GuardedBy("this")
  private final Set<TunedConnection> observed = new HashSet<>();

  @GuardedBy("this")
  private final Budget budget = new Budget();

  private final Newcomers newcomers;

  @GuardedBy("this")
  private final Sizing sizing;

  // Written under the lock by whoever configures, read by loops and by the tuner's thread.
  private volatile TuningSettings settings;
  private volatile boolean isMemoryShort;
  private volatile IntConsumer listeners = _ -> {};
  private volatile boolean isClosed;

  /**
   * The tuner of this process, whose figures are in {@code registry}.
   *
   * @param system what a connection has that nobody tuned
   */
  public static BufferTuner open(
      TuningSettings settings, SendBuffer system, MetricRegistry registry) {
    Path proc = Path.of("/proc");
    var tuner =
        new BufferTuner(
            settings,
            system,
            KernelLimits.read(proc),
            new MemoryPressure(proc)::now,
            new TuningMetrics(registry),
            System::nanoTime);
    TuningMetrics.register(registry, tuner::snapshot);
    return tuner;
  }

  /**
   * A tuner that does nothing before {@link #start}.
   *
   * @param system what a connection has that nobody tuned
   * @param pressure of memory: 1 where it begins to be refused
   * @param nanoClock monotonic
   */
  public BufferTuner(
      TuningSettings settings,
      SendBuffer system,
      KernelLimits limits,
      DoubleSupplier pressure,
      TuningMetrics metrics,
      LongSupplier nanoClock) {
    this.settings = settings;
    this.system = system;
    this.limits = limits;
    this.pressure = pressure;
    this.metrics = metrics;
    this.newcomers = new Newcomers(settings.budgetBytes());
    this.sizing = new Sizing(newcomers, limits.tunedBytes());
    this.nanoClock = nanoClock;
    thread.setDaemon(true);
  }

  /** The sampler for another loop's connections. Before {@link #start}. */
  public TcpSampler sampler(EventLoop loop) {
    var sampler = new TcpSampler(loop, this, system, nanoClock);
    samplers.add(sampler);
    return sampler;
  }

  /**
   * Begins, before anything listens.
   *
   * @param listeners told which TCP_NOTSENT_LOWAT accepted sockets shall have from the beginning
   */
  public void start(IntConsumer listeners) {
    announceTo(listeners);
    samplers.forEach(each -> each.start(settings.period(), LOOKS_PER_SECOND / samplers.size()));
    thread.start();
  }

  void announceTo(IntConsumer listeners) {
    this.listeners = listeners;
    announce();
  }

  public TuningSettings settings() {
    return settings;
  }

  /** Goes by other settings, from the next period on. */
  public synchronized void settings(TuningSettings next) {
    boolean wasOn = settings.policy() != TuningPolicy.OFF;
    settings = next;
    announce();
    if (!next.policy().isSizing()) {
      connections.values().forEach(TunedConnection::loseParts);
    }
    if (next.policy() != TuningPolicy.OFF) {
      observed.addAll(connections.values());
    } else if (wasOn) {
      release();
    }
  }

  /** Tells all listeners and loops what holds. */
  public synchronized void announce() {
    boolean isOn = settings.policy() != TuningPolicy.OFF;
    int mark = notSentLowWatermark();
    listeners.accept(mark);
    SendBuffer fromListener =
        new SendBuffer(0, mark, system.lowWatermarkBytes(), system.highWatermarkBytes());
    long regions = regionBytes();
    samplers.forEach(sampler -> sampler.set(isOn, settings.period(), fromListener, regions));
  }

  /** What the sockets of a loop may book for regions without a mark: its part of the budget. */
  @GuardedBy("this")
  private long regionBytes() {
    return budget.bytes(settings.budgetBytes()) / Math.max(1, samplers.size());
  }

  /** TCP_NOTSENT_LOWAT of an accepted socket; 0 for the system's own. Any thread. */
  public int notSentLowWatermark() {
    return settings.policy() == TuningPolicy.OFF
        ? system.notSentLowWatermarkBytes()
        : SendBufferLaw.INITIAL_MARK_BYTES;
  }

  /** Gives all connections back to the kernel. */
  @GuardedBy("this")
  private void release() {
    var changes = new Changes();
    connections.values().forEach(each -> changes.add(each, system));
    changes.send();
  }

  /**
   * {@inheritDoc}
   *
   * <p>What is known of the client's group sets the size, but not the mark: one fast client must
   * not have its neighbours begin with much that waits for them if they do not read.
   */
  @Override
  public Beginning beginning(InetAddress client) {
    TuningSettings now = inForce();
    SendBuffer first = SendBufferLaw.initial(now);
    if (!now.policy().isSizing()) {
      return new Beginning(first, 0);
    }
    long part = newcomers.draw(groups.of(client), now.budgetBytes());
    long size = SendBufferLaw.fixable(0, part, limits);
    return new Beginning(SendBufferLaw.sized(first, size), part);
  }

  @Override
  public void seen(long partBytes) {
    newcomers.seen(partBytes);
  }

  @Override
  public void take(TcpSamples samples) {
    seen.add(samples);
    LockSupport.unpark(thread);
  }

  private void run() {
    long nextNanos = nanoClock.getAsLong() + settings.period().toNanos();
    while (!isClosed) {
      try {
        absorb();
        long now = nanoClock.getAsLong();
        if (now - nextNanos >= 0) {
          nextNanos = now + settings.period().toNanos();
          pass();
        }
      } catch (RuntimeException | Error bug) {
        LOG.log(Level.ERROR, "a look at send buffers fails by a fault of ours", bug);
      }
      if (seen.isEmpty()) {
        LockSupport.parkNanos(nextNanos - nanoClock.getAsLong());
      }
    }
  }

  /** Takes in what loops saw. */
  void absorb() {
    for (TcpSamples samples = seen.poll(); samples != null; samples = seen.poll()) {
      try {
        absorb(samples);
      } finally {
        samples.giveBack();
      }
    }
  }

  private synchronized void absorb(TcpSamples samples) {
    boolean isOn = settings.policy() != TuningPolicy.OFF;
    for (int row = 0; row < samples.size(); row++) {
      TunableChannel channel = samples.channel(row);
      if (samples.isGone(row)) {
        forget(channel);
      } else if (isOn) {
        TunedConnection connection = observe(samples, row);
        // A client that reads slowly says nothing of its neighbours' paths.
        Estimate.Basis basis = connection.estimate().basis();
        if (basis == Estimate.Basis.LOSS || basis == Estimate.Basis.DELIVERY) {
          groups.learn(channel.client(), connection.estimate());
        }
        metrics.record(connection);
      } else if (channel.grantedBytes() == 0) {
        forget(channel);
      } else {
        observe(samples, row);
      }
    }
  }

  @GuardedBy("this")
  private void forget(TunableChannel channel) {
    TunedConnection known = connections.remove(channel);
    if (known != null) {
      observed.remove(known);
    }
  }

  @GuardedBy("this")
  private TunedConnection observe(TcpSamples samples, int row) {
    TunableChannel channel = samples.channel(row);
    TunedConnection known = connections.get(channel);
    if (known == null) {
      known = new TunedConnection(samples, row, groups);
      connections.put(channel, known);
    } else {
      known.observe(samples, row, groups);
    }
    observed.add(known);
    return known;
  }

  /** Shares the budget and says what is to change. */
  void pass() {
    // Before what loops saw is taken in: so a newcomer counts twice rather than not at all.
    long unseen = newcomers.unseenBytes();
    absorb();
    pass(unseen);
  }

  private synchronized void pass(long unseenBytes) {
    long regions = regionBytes();
    budget.adapt(pressure.getAsDouble());
    if (regionBytes() != regions) {
      samplers.forEach(sampler -> sampler.allowRegions(regionBytes()));
    }
    isMemoryShort = budget.isShort();
    TuningSettings now = inForce();
    groups.fade(now.period().toNanos() / NANOS_PER_SECOND);
    if (now.policy() != TuningPolicy.OFF) {
      if (now.policy().isSizing()) {
        observed.addAll(sharing(now, unseenBytes));
      }
      var changes = new Changes();
      observed.forEach(each -> changes.add(each, wanted(each, now)));
      changes.send();
    }
    observed.clear();
  }

  /** While memory is short, all have as little in front of the kernel as they may. */
  private TuningSettings inForce() {
    TuningSettings told = settings;
    long least = told.minWatermarkBytes();
    return isMemoryShort ? told.withWatermarks(least, least) : told;
  }

  /** All that may get something else: what one gets depends on the others. */
  @GuardedBy("this")
  private Collection<TunedConnection> sharing(TuningSettings now, long unseenBytes) {
    long bytes = budget.bytes(now.budgetBytes());
    return sizing.share(
        withActivity(true), withActivity(false), now.budgetBytes(), bytes, unseenBytes);
  }

  @GuardedBy("this")
  private SendBuffer wanted(TunedConnection connection, TuningSettings now) {
    long size =
        now.policy().isSizing()
            ? SendBufferLaw.fixable(connection.asked().sendBufferBytes(), connection.told(), limits)
            : 0;
    return SendBufferLaw.next(connection.asked(), connection.estimate(), size, now);
  }

  @GuardedBy("this")
  private List<TunedConnection> withActivity(boolean isActive) {
    long now = nanoClock.getAsLong();
    long period = settings.period().toNanos();
    return connections.values().stream()
        .filter(each -> each.isActive(now, period) == isActive)
        .toList();
  }

  /** Connections in an order, the first of them. */
  public synchronized List<ConnectionSnapshot> connections(ConnectionOrder order, int limit) {
    long now = nanoClock.getAsLong();
    return connections.values().stream()
        .sorted(order.greatestFirst())
        .limit(limit)
        .map(each -> each.snapshot(settings.policy(), now))
        .toList();
  }

  /** How the budget is shared. */
  public synchronized TuningSnapshot snapshot() {
    List<TunedConnection> sharing = withActivity(true);
    var states = new HashMap<String, Integer>();
    sharing.forEach(
        each ->
            states.merge(each.estimate().basis().name().toLowerCase(Locale.ROOT), 1, Integer::sum));
    states.put(IDLE, connections.size() - sharing.size());
    return new TuningSnapshot(
        settings.policy(),
        "fitted",
        settings.budgetBytes(),
        TuningSettings.HEADROOM,
        settings.period().toMillis(),
        budget.bytes(settings.budgetBytes()),
        budget.pressure(),
        sharing.stream().mapToLong(TunedConnection::partBytes).sum(),
        connections.values().stream().mapToLong(TunedConnection::heldBytes).sum(),
        Sizing.fairness(sharing.stream().mapToDouble(TunedConnection::met)),
        states,
        settings.policy().isSizing()
            ? 0
            : (int) connections.values().stream().filter(each -> each.grantedBytes() > 0).count());
  }

  @Override
  public void close() {
    isClosed = true;
    LockSupport.unpark(thread);
  }

  /** Which send buffers are to change, by the loop that has to do it. */
  private static final class Changes {

    private final Map<TcpSampler, List<TcpSamples.Change>> byLooker = new HashMap<>();

    /** Asks for that buffer, unless the connection was asked for it already. */
    void add(TunedConnection connection, SendBuffer next) {
      if (!next.equals(connection.asked())) {
        connection.asked(next);
        byLooker
            .computeIfAbsent(connection.looker, _ -> new ArrayList<>())
            .add(new TcpSamples.Change(connection.channel, next));
      }
    }

    /** Tells the loops. */
    void send() {
      byLooker.forEach(TcpSampler::apply);
    }
  }
}
