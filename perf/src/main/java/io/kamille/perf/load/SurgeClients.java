package io.kamille.perf.load;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Users of {@link Surge}, each at an address of its own. For one run. */
public final class SurgeClients extends Demand {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long LOOK_NANOS = Duration.ofMillis(5).toNanos();

  private final String authority;
  private final boolean arePersistent;
  private final List<Surge> users;
  private final long[] dueNanos;
  private final long countNanos;
  private final long endNanos;
  private final TransferRates rates = new TransferRates();
  private final OriginTarget[] targets;
  private final int haste;
  private boolean isOver;
  private long responses;
  private long nanos;

  /**
   * What came in the part that counts.
   *
   * @param responses complete ones
   * @param meanNanos from the wish for an object, a connection included, to its last octet
   * @param rates by size, over the same time
   * @param idleShare of the time in which its thread took no processor
   */
  public record Outcome(long responses, double meanNanos, TransferRates rates, double idleShare) {}

  private SurgeClients(
      String authority,
      boolean arePersistent,
      List<Surge> users,
      int haste,
      Duration settling,
      Duration counted) {
    this.authority = authority;
    this.arePersistent = arePersistent;
    this.users = users;
    this.haste = haste;
    this.targets = new OriginTarget[users.size()];
    this.countNanos = settling.toNanos();
    this.endNanos = countNanos + counted.toNanos();
    this.dueNanos = new long[users.size()];
    for (int i = 0; i < dueNanos.length; i++) {
      dueNanos[i] = countNanos / 2 * i / dueNanos.length;
    }
  }

  /**
   * Lets users ask; the calling thread connects.
   *
   * @param locals addresses, one for each user
   * @param arePersistent one connection for all requests of a user; else HTTP/1.0, one for each
   * @param seed from which the first user draws; the next one from the next
   * @param haste divides every pause
   */
  public static Outcome run(
      InetSocketAddress server,
      String authority,
      List<String> locals,
      boolean arePersistent,
      long seed,
      int haste,
      Duration settling,
      Duration counted)
      throws IOException {
    int uses = arePersistent ? Integer.MAX_VALUE : 1;
    List<Surge> users =
        IntStream.range(0, locals.size()).mapToObj(user -> new Surge(seed + user)).toList();
    var demand = new SurgeClients(authority, arePersistent, users, haste, settling, counted);
    try (var client = LoadClient.open(LoadSettings.from(server, locals, uses))) {
      long ranBefore = THREADS.getCurrentThreadCpuTime();
      LoadClient.Took took = client.run(demand);
      long ran = THREADS.getCurrentThreadCpuTime() - ranBefore;
      return new Outcome(
          demand.responses,
          (double) demand.nanos / Math.max(1, demand.responses),
          demand.rates,
          1 - (double) ran / took.nanos());
    }
  }

  @Override
  boolean isOver() {
    return isOver;
  }

  @Override
  long sleepNanos(long now) {
    return LOOK_NANOS;
  }

  @Override
  int send(LoadClient client, long now) {
    return 0;
  }

  @Override
  void tick(LoadClient client, long now) {
    for (LoadConnection connection : client.connections()) {
      if (!connection.isBusy() && now >= dueNanos[connection.number()]) {
        client.send(connection, next(connection));
      }
    }
    isOver = now >= endNanos;
  }

  private LoadRequest next(LoadConnection connection) {
    OriginTarget target = users.get(connection.number()).next();
    targets[connection.number()] = target;
    return LoadRequest.getUnchecked(authority, target, arePersistent ? "1.1" : "1.0");
  }

  @Override
  void ended(LoadClient client, LoadConnection connection, @Nullable LoadFailure failure) {
    LoadClient.requireNone(failure);
    long now = client.elapsed();
    int user = connection.number();
    dueNanos[user] = now + users.get(user).pause().toNanos() / haste;
    if (now >= countNanos) {
      responses++;
      long took = now - connection.intendedNanos();
      nanos += took;
      rates.add(targets[user].length(), took);
    }
  }

  @Override
  void free(LoadClient client, LoadConnection connection) {}
}
