package io.kamille.core.socket;

import io.kamille.core.socket.SendBufferAdvisor.Beginning;
import io.kamille.core.socket.TcpSamples.Change;
import io.kamille.core.socket.TcpSamples.Waiting;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.unix.Socket;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the connections of one loop for an advisor, and sets their send buffers as it says.
 * Confined to the loop, but for what says any thread.
 */
public final class TcpSampler {

  /*
   * A connection is due for a look when it wrote since the last one, or when octets waited for its
   * client then. In each period those due at its beginning are looked at once, some at a time with
   * a rest between, so that no turn of the loop gets long. A connection that is idle costs nothing.
   *
   * A look costs about 3 µs with what follows from it. So a loop looks at no more than so many in a
   * second; the others wait for the next period, in the order in which they became due. Connections
   * that are young come first: what they are allowed is a guess until their second look. Three
   * quarters of the looks are for them at the most.
   *
   * Two sets of rows go to the advisor and come back. While it has both, nothing is looked at: an
   * advisor that is late makes the looks fewer and nothing grow.
   */
  private static final System.Logger LOG = System.getLogger("kamille.tuning");
  private static final int SETS = 2;
  private static final long REST_MILLIS = 10;
  private static final int LEAST_LOOKS = 4;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final int SCRATCH_BYTES = 16;
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final EventLoop loop;
  private final SendBufferAdvisor advisor;
  private final LongSupplier nanoClock;
  private final ArrayDeque<TunableChannel> young = new ArrayDeque<>();
  private final ArrayDeque<TunableChannel> due = new ArrayDeque<>();
  private final ArrayDeque<TcpSamples> free = new ArrayDeque<>(SETS);
  private final WaitingOctets octets = new WaitingOctets();
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);
  private final SendBuffer system;
  private final UnmarkedRegions regions = new UnmarkedRegions();
  private SendBuffer inherited;
  private long periodNanos;
  private double looksPerSecond;
  private Consumer<Consumer<TunableChannel>> connections = _ -> {};
  private boolean isOn;
  private int dueInVain;

  /** Parts of connections that the rows at hand show for the first time. */
  private long seenBytes;

  /**
   * A sampler that does not look yet.
   *
   * @param system what a connection has that nobody tuned
   * @param nanoClock monotonic
   */
  public TcpSampler(
      EventLoop loop, SendBufferAdvisor advisor, SendBuffer system, LongSupplier nanoClock) {
    this.loop = loop;
    this.advisor = advisor;
    this.system = system;
    this.inherited = system;
    this.nanoClock = nanoClock;
    for (int i = 0; i < SETS; i++) {
      free.add(new TcpSamples(this));
    }
  }

  /**
   * Whose send buffers it may set: lends the connections of the loop, on the loop. Before {@link
   * #start}; once.
   */
  public void connections(Consumer<Consumer<TunableChannel>> connections) {
    this.connections = connections;
  }

  /**
   * Begins its rounds. Any thread; once.
   *
   * @param looksPerSecond at most
   */
  public void start(Duration period, double looksPerSecond) {
    loop.execute(
        () -> {
          periodNanos = period.toNanos();
          this.looksPerSecond = looksPerSecond;
          loop.schedule(this::round, periodNanos, TimeUnit.NANOSECONDS);
        });
  }

  /**
   * Looks from now on, or no more. Any thread. Connections that wrote before it looked are due at
   * once, because one within a long response may not write again for long.
   *
   * @param inherited what accepted sockets have from their listening socket, but for the size
   * @param regionBytes what sockets of this loop may book for regions that go without a mark
   */
  public void set(boolean isOn, Duration period, SendBuffer inherited, long regionBytes) {
    loop.execute(
        () -> {
          regions.allow(regionBytes);
          boolean begins = isOn && !this.isOn;
          this.isOn = isOn;
          this.periodNanos = period.toNanos();
          this.inherited = inherited;
          if (begins) {
            connections.accept(this::beDueIfItHasWritten);
          }
        });
  }

  /**
   * Sets other send buffers; those of closed connections are passed over. What became of it is in
   * the next look. Any thread.
   */
  public void apply(List<Change> changes) {
    loop.execute(
        () -> {
          for (Change change : changes) {
            change.channel().apply(change.buffer());
            beDue(change.channel());
          }
        });
  }

  private void beDueIfItHasWritten(TunableChannel channel) {
    if (channel.hasWritten) {
      beDue(channel);
    }
  }

  private void beDue(TunableChannel channel) {
    if (!channel.isDue) {
      channel.isDue = true;
      (channel.isYoung() ? young : due).add(channel);
    }
  }

  /** What sockets of this loop may book for regions that go without a mark. Any thread. */
  public void allowRegions(long bytes) {
    loop.execute(() -> regions.allow(bytes));
  }

  UnmarkedRegions regions() {
    return regions;
  }

  /** A connection has begun. */
  public TunableChannel opened(Channel channel, InetAddress client, String protocol) {
    return new TunableChannel(
        this, channel, client, protocol, NUMBERS.incrementAndGet(), inherited);
  }

  /** A connection that is not due yet is about to write. */
  void writes(TunableChannel channel) {
    if (!isOn) {
      channel.apply(system);
      return;
    }
    if (!channel.hasBegun) {
      channel.hasBegun = true;
      Beginning beginning = advisor.beginning(channel.client());
      channel.begin(beginning.buffer(), beginning.partBytes());
    }
    beDue(channel);
  }

  /**
   * A connection is closed. Whoever knows of it must hear of it. One that nobody knows is let go of
   * once such are half of those due, because connections may end faster than they can be looked at.
   */
  void closed(TunableChannel channel) {
    regions.closed(channel);
    if (channel.isSetAside) {
      channel.isSetAside = false;
      advisor.seen(channel.partBytes());
    }
    if (channel.isKnown) {
      beDue(channel);
    } else if (channel.isDue && ++dueInVain > dueForLooks() / 2) {
      young.removeIf(TunableChannel::isOver);
      due.removeIf(TunableChannel::isOver);
      dueInVain = 0;
    }
  }

  int dueForLooks() {
    return young.size() + due.size();
  }

  /** Shares the looks of a period between those that are due now. */
  void round() {
    int looks = Math.max(LEAST_LOOKS, (int) (looksPerSecond * periodNanos / NANOS_PER_SECOND));
    int ofYoung = Math.min(young.size(), looks - looks / 4);
    goOn(ofYoung, Math.min(due.size(), looks - ofYoung));
  }

  /**
   * Looks at some of them, later at the others, and then waits for the next round. Some may have
   * been let go of since the round began.
   */
  private void goOn(int youngOfRound, int dueOfRound) {
    int ofYoung = Math.min(youngOfRound, young.size());
    int ofDue = Math.min(dueOfRound, due.size());
    int looked;
    try {
      looked = sample(ofYoung, ofDue);
    } catch (RuntimeException | Error bug) {
      LOG.log(
          Level.ERROR, "a look at the connections of a loop failed; the next round goes on", bug);
      looked = ofYoung + ofDue;
    }
    int leftOfYoung = Math.max(0, ofYoung - looked);
    int left = ofYoung + ofDue - looked;
    if (left > 0) {
      loop.schedule(
          () -> goOn(leftOfYoung, left - leftOfYoung), REST_MILLIS, TimeUnit.MILLISECONDS);
    } else {
      loop.schedule(this::round, periodNanos, TimeUnit.NANOSECONDS);
    }
  }

  /** Looks at all that are due now, as far as they fit, whenever the next round is. */
  public void sampleAllDue() {
    sample(young.size(), due.size());
  }

  /** Looks at the next so many, the young ones first, as far as they fit; at how many. */
  private int sample(int ofYoung, int ofDue) {
    int most = ofYoung + ofDue;
    TcpSamples samples = most == 0 ? null : free.poll();
    if (samples == null) {
      return 0;
    }
    samples.begin(nanoClock.getAsLong());
    int looked = 0;
    try {
      while (looked < most && !samples.isFull()) {
        sample(samples, looked < ofYoung ? young.remove() : due.remove());
        looked++;
      }
    } finally {
      hand(samples);
    }
    return looked;
  }

  private void hand(TcpSamples samples) {
    if (samples.isEmpty()) {
      free.add(samples);
    } else {
      advisor.take(samples);
    }
    if (seenBytes > 0) {
      advisor.seen(seenBytes);
      seenBytes = 0;
    }
  }

  private void sample(TcpSamples samples, TunableChannel channel) {
    channel.isDue = false;
    regions.look(channel);
    @Nullable Socket socket = channel.socket();
    if (socket == null) {
      if (channel.isKnown) {
        channel.isKnown = false;
        samples.gone(channel);
      }
      return;
    }
    if (!isOn) {
      channel.apply(system);
    }
    channel.learnCongestionControl(socket, scratch);
    Waiting waiting = octets.count(channel.channel(), channel.keptBack());
    if (samples.sample(channel, socket, waiting)) {
      channel.isKnown = true;
      channel.hasBegun = true;
      channel.looks++;
      if (channel.isSetAside) {
        channel.isSetAside = false;
        seenBytes += channel.partBytes();
      }
      if (isOn && (!waiting.isNone() || samples.lastHoldsOctets())) {
        beDue(channel);
      }
    }
  }

  /** Takes rows back, to use them again. Any thread. */
  void takeBack(TcpSamples samples) {
    loop.execute(
        () -> {
          samples.forget();
          free.add(samples);
        });
  }
}
