package io.kamille.core.upstream;

import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Looks up what the names of origins mean, and again every so often, on a thread of its own: the
 * look-up of the system blocks, and no loop may wait for it. Any thread.
 *
 * <p>A name that cannot be found any more keeps the addresses it had.
 */
public final class OriginNames implements AutoCloseable {

  /** Finds the addresses of a name or of an address in text form. */
  @FunctionalInterface
  public interface Lookup {
    InetAddress[] find(String host) throws UnknownHostException;
  }

  private static final System.Logger LOG = System.getLogger("kamille.upstream");

  /** How long an address may be out of date; the JVM itself remembers names for 30 s. */
  private static final Duration INTERVAL = Duration.ofSeconds(30);

  private final Lookup lookup;
  private final List<Origin> watched = new CopyOnWriteArrayList<>();
  private final ScheduledExecutorService thread;

  private OriginNames(Lookup lookup) {
    this.lookup = lookup;
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("origin-names").factory());
  }

  /** Names as the system knows them (resolver, hosts file). */
  public static OriginNames open() {
    return open(InetAddress::getAllByName);
  }

  /** Names as {@code lookup} knows them. */
  public static OriginNames open(Lookup lookup) {
    OriginNames names = new OriginNames(lookup);
    long nanos = INTERVAL.toNanos();
    names.thread.scheduleWithFixedDelay(names::refresh, nanos, nanos, TimeUnit.NANOSECONDS);
    return names;
  }

  /** Looks these origins up before it returns, and from now on again and again. Blocks. */
  public void watch(Collection<Origin> origins) {
    for (Origin origin : origins) {
      look(origin);
    }
    watched.addAll(origins);
  }

  /** Cares no longer about these origins. */
  public void forget(Collection<Origin> origins) {
    watched.removeAll(origins);
  }

  /** How many origins are looked up again and again. */
  public int watched() {
    return watched.size();
  }

  /** Looks all names up once more. Blocks. */
  void refresh() {
    for (Origin origin : watched) {
      look(origin);
    }
  }

  private void look(Origin origin) {
    try {
      origin.addresses(lookup.find(origin.host()));
    } catch (UnknownHostException stillUnknown) {
      // The addresses known so far stay; without any, requests fail with a DNS error.
    } catch (RuntimeException bug) {
      // Thrown on, it would end all further look-ups.
      LOG.log(Level.ERROR, "the look-up of " + origin.host() + " failed by a fault of ours", bug);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
