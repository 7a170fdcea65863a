package io.kamille.core.upstream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One origin server of an upstream, shared by all loops. Any thread. */
public final class Origin {

  private final String host;
  private final int port;
  private final int weight;
  private final String name;
  private final OriginHealth health;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger limit = new AtomicInteger();
  private final AtomicReference<InetSocketAddress[]> addresses =
      new AtomicReference<>(new InetSocketAddress[0]);
  private final AtomicInteger turn = new AtomicInteger();

  /**
   * An origin whose address is not known yet: {@link OriginNames#watch} finds it.
   *
   * @param host a name or an IP address, an IPv6 address in brackets or without
   * @param weight its share of the requests, relative to the others; at least 1
   */
  public Origin(String host, int port, int weight, OriginHealth health) {
    if (weight < 1) {
      throw new IllegalArgumentException("weight: " + weight + " (expected: at least 1)");
    }
    this.host = plain(host);
    this.port = port;
    this.weight = weight;
    this.name = name(host, port);
    this.health = health;
  }

  private static String plain(String host) {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  /** The name of an origin with this host, an IPv6 address in brackets or without. */
  public static String name(String host, int port) {
    String plain = plain(host);
    return (plain.indexOf(':') < 0 ? plain : "[" + plain + "]") + ":" + port;
  }

  /** The same server with its addresses as they are now; this where nothing differs. */
  Origin with(int weight, OriginHealth health) {
    if (weight == this.weight && health == this.health) {
      return this;
    }
    Origin other = new Origin(host, port, weight, health);
    other.addresses.set(addresses.get());
    other.turn.set(turn.get());
    return other;
  }

  /** The host to look up, without brackets. */
  public String host() {
    return host;
  }

  /** Host and port, as in an authority. */
  public String name() {
    return name;
  }

  public int weight() {
    return weight;
  }

  public OriginHealth health() {
    return health;
  }

  /** Requests on their way, over all loops. */
  public int inFlight() {
    return inFlight.get();
  }

  /** Requests that it may get at a time, found out over all loops; 0 where no limit adapts. */
  public int adaptiveLimit() {
    return limit.get();
  }

  void changeLimit(int change) {
    limit.addAndGet(change);
  }

  void begin() {
    inFlight.getAndIncrement();
  }

  void finish() {
    inFlight.getAndDecrement();
  }

  /** Where to connect to, or null while the name has no address. */
  public @Nullable InetSocketAddress address() {
    InetSocketAddress[] all = addresses.getAcquire();
    return all.length == 0 ? null : all[Math.floorMod(turn.get(), all.length)];
  }

  /** How many addresses the name has. */
  public int addressCount() {
    return addresses.getAcquire().length;
  }

  /** Whether this is one of its addresses. */
  boolean isAt(InetSocketAddress address) {
    for (InetSocketAddress one : addresses.getAcquire()) {
      if (one.equals(address)) {
        return true;
      }
    }
    return false;
  }

  /** Prefers the next address from now on, unless someone else has seen to it already. */
  void passOver(InetSocketAddress failed) {
    int now = turn.get();
    InetSocketAddress[] all = addresses.getAcquire();
    if (all.length > 1 && all[Math.floorMod(now, all.length)].equals(failed)) {
      turn.compareAndSet(now, now + 1);
    }
  }

  /** Takes what the name means now. */
  void addresses(InetAddress[] found) {
    InetSocketAddress[] all = new InetSocketAddress[found.length];
    for (int i = 0; i < found.length; i++) {
      all[i] = new InetSocketAddress(found[i], port);
    }
    addresses.setRelease(all);
  }

  @Override
  public String toString() {
    return name;
  }
}
