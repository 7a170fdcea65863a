package io.kamille.perf.load;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Many users, each with a persistent connection of its own, who want something when they do,
 * whether or not the server keeps up. For one run.
 */
public final class UserDemand extends Demand {

  /*
   * One request of each user is under way at a time, and what they want meanwhile waits. A user who
   * was told to wait sends nothing until then, unless rude: what comes due in that time, and what
   * waited behind the request, is turned away. So a server that sheds is charged for everything
   * that it does not answer. Times are nanoseconds after the beginning of the run.
   *
   * Those requests count that came due within a window; the beginning and the rest of a run do not.
   * Goodput is what was answered within the window, whenever it came due.
   */

  private static final int SERVICE_UNAVAILABLE = 503;
  private static final long LOOK_NANOS = Duration.ofMillis(100).toNanos();
  private static final long NANOS_PER_SECOND = 1_000_000_000L;
  private static final long GREATEST_NANOS = 60_000_000_000L;
  private static final long LATENESS_LIMIT_NANOS = 2_000_000;
  private static final int DIGITS = 3;
  private static final long NOTHING = -1;

  /**
   * What users want.
   *
   * @param stored that the server has stored
   * @param forwarded that it has to ask the origin for
   * @param forwardedShare how much of all is of the second kind, 0 to 1
   */
  public record Wants(LoadRequest stored, LoadRequest forwarded, double forwardedShare) {}

  /**
   * One run.
   *
   * @param settling at its beginning, of which nothing is counted
   * @param areRude whether users do not wait when the server asks them to
   * @param seed of who wants what
   */
  public record Settings(Wants wants, Duration settling, boolean areRude, long seed) {}

  /** Is told, on the client's thread, when what counts begins and when it is over. */
  public interface Marks {
    /** It begins. */
    default void begin() throws IOException {}

    /** It is over. */
    default void end() throws IOException {}
  }

  /** What is counted. */
  public enum Count {
    /** Requests that came due in that time. */
    OFFERED,
    /** Right answers in that time. */
    GOOD,
    /** Requests answered with 503. */
    SHED,
    /** Requests never sent, since the server had asked their user to wait. */
    TURNED_AWAY,
    /** Requests without an answer within the limit. */
    TIMED_OUT,
    /** Requests that were answered wrongly, or whose connection failed. */
    FAILED
  }

  /**
   * What came of it. Every request offered is in {@code latency} or was shed, turned away, timed
   * out or failed.
   *
   * @param nanos that were counted
   * @param latency in nanoseconds from the intended time to the last octet, of right answers
   * @param lateness in nanoseconds from the intended time to when the client noticed it
   */
  public record Result(long nanos, Map<Count, Long> counts, Histogram latency, Histogram lateness) {

    /** How many of that kind. */
    public long of(Count what) {
      return counts.getOrDefault(what, 0L);
    }

    /** Right answers per second. */
    public double goodput() {
      return of(Count.GOOD) * 1e9 / nanos;
    }

    /** Latency that this share of right answers, in per cent, does not exceed. */
    public double latencyMicros(double percentile) {
      return latency.getValueAtPercentile(percentile) / 1e3;
    }

    /** Lateness of the client itself. */
    public double latenessMicros(double percentile) {
      return lateness.getValueAtPercentile(percentile) / 1e3;
    }

    /** Whether the client was kept from its core, so that the numbers say as much about it. */
    public boolean isSaturated() {
      return lateness.getValueAtPercentile(99) > LATENESS_LIMIT_NANOS;
    }
  }

  /** One of them: what is under way, and what waits. */
  private static final class User {
    private final Deque<Long> waiting = new ArrayDeque<>();
    private long underWay = NOTHING;
    private long silentUntil;
  }

  private final Arrivals arrivals;
  private final Settings how;
  private final Marks marks;
  private final SplittableRandom random;
  private final User[] users;
  private final long limitNanos;
  private final long fromNanos;
  private final long toNanos;
  private final Histogram latency = new Histogram(GREATEST_NANOS, DIGITS);
  private final Histogram lateness = new Histogram(GREATEST_NANOS, DIGITS);
  private final Map<Count, Long> counts = new EnumMap<>(Count.class);
  private boolean hasBegun;
  private boolean hasEnded;
  private int busy;
  private long nextLook = LOOK_NANOS;
  private long nextNanos;

  private UserDemand(Arrivals arrivals, Settings how, Marks marks, LoadSettings load) {
    this.arrivals = arrivals;
    this.how = how;
    this.marks = marks;
    this.random = new SplittableRandom(how.seed());
    this.users =
        IntStream.range(0, load.connections()).mapToObj(_ -> new User()).toArray(User[]::new);
    this.limitNanos = load.timeLimit().toNanos();
    this.fromNanos = how.settling().toNanos();
    this.toNanos = arrivals.durationNanos();
    this.nextNanos = arrivals.next();
  }

  /**
   * Lets users want things at these times and waits until the last one knows what came of it.
   *
   * @param client with a connection for each user
   */
  public static Result run(LoadClient client, Arrivals arrivals, Settings how, Marks marks)
      throws IOException {
    var demand = new UserDemand(arrivals, how, marks, client.settings());
    client.run(demand);
    return new Result(
        demand.toNanos - demand.fromNanos, demand.counts, demand.latency, demand.lateness);
  }

  private boolean isWithin(long nanos) {
    return nanos >= fromNanos && nanos < toNanos;
  }

  private void count(Count what, long nanos) {
    if (isWithin(nanos)) {
      counts.merge(what, 1L, Long::sum);
    }
  }

  private void record(Histogram histogram, long intendedNanos, long nanos) {
    if (isWithin(intendedNanos)) {
      histogram.recordValue(Math.clamp(nanos - intendedNanos, 0, GREATEST_NANOS));
    }
  }

  /** Connections that an earlier run lost: opening them all is no part of this one. */
  @Override
  void begin(LoadClient client) throws IOException {
    for (LoadConnection connection : client.connections()) {
      if (!connection.isOpen()) {
        connection.open();
      }
    }
  }

  @Override
  boolean isOver() {
    return hasEnded && nextNanos == Arrivals.NONE && busy == 0;
  }

  @Override
  int send(LoadClient client, long nanos) {
    int count = 0;
    for (long now = nanos; nextNanos <= now; now = client.elapsed()) {
      long intended = nextNanos;
      nextNanos = arrivals.next();
      record(lateness, intended, now);
      count(Count.OFFERED, intended);
      int number = random.nextInt(users.length);
      User user = users[number];
      if (intended < user.silentUntil) {
        count(Count.TURNED_AWAY, intended);
      } else {
        user.waiting.add(intended);
        free(client, client.connections().get(number));
      }
      count++;
    }
    return count;
  }

  /** Sends what the connection's user wants next, if there is something, until it works. */
  @Override
  void free(LoadClient client, LoadConnection connection) {
    User user = users[connection.number()];
    while (user.underWay == NOTHING && !user.waiting.isEmpty()) {
      user.underWay = user.waiting.remove();
      busy++;
      Wants wants = how.wants();
      LoadRequest request =
          random.nextDouble() < wants.forwardedShare() ? wants.forwarded() : wants.stored();
      if (client.send(connection, request, user.underWay, user.underWay) != null) {
        LoadClient.drop(connection);
        count(Count.FAILED, over(user));
      }
    }
  }

  /** The request under way is over; returns when it came due. */
  private long over(User user) {
    long intended = user.underWay;
    user.underWay = NOTHING;
    busy--;
    return intended;
  }

  @Override
  void ended(LoadClient client, LoadConnection connection, @Nullable LoadFailure failure) {
    User user = users[connection.number()];
    ResponseReader reader = connection.reader();
    long intended = over(user);
    if (failure == null) {
      count(Count.GOOD, client.elapsed());
      record(latency, intended, client.elapsed());
    } else if (failure == LoadFailure.WRONG_STATUS && reader.status() == SERVICE_UNAVAILABLE) {
      count(Count.SHED, intended);
      silence(user, client.elapsed(), reader.retryAfterSeconds());
    } else {
      count(Count.FAILED, intended);
    }
  }

  private void silence(User user, long nanos, int seconds) {
    if (how.areRude() || seconds == 0) {
      return;
    }
    user.silentUntil = nanos + seconds * NANOS_PER_SECOND;
    while (!user.waiting.isEmpty()) {
      count(Count.TURNED_AWAY, user.waiting.remove());
    }
  }

  @Override
  void look(LoadClient client, long nanos) throws IOException {
    if (!hasBegun && nanos >= fromNanos) {
      hasBegun = true;
      marks.begin();
    }
    if (!hasEnded && nanos >= toNanos) {
      hasEnded = true;
      marks.end();
    }
    if (nanos < nextLook) {
      return;
    }
    nextLook = nanos + LOOK_NANOS;
    for (LoadConnection connection : client.connections()) {
      User user = users[connection.number()];
      while (!user.waiting.isEmpty() && nanos - user.waiting.element() > limitNanos) {
        count(Count.TIMED_OUT, user.waiting.remove());
      }
      if (user.underWay != NOTHING && nanos - user.underWay > limitNanos) {
        LoadClient.drop(connection);
        count(Count.TIMED_OUT, over(user));
        free(client, connection);
      }
    }
  }
}
