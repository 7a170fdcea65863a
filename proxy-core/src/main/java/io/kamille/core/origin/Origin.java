package io.kamille.core.origin;

import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.setting.OriginUrl;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One origin server of an upstream, shared by all loops. Any thread. */
public final class Origin {

  /*
   * Resolvers that balance load may name a part of the addresses at a time, and another one the
   * next time. So an address counts as the origin's until three look-ups on end have not named it:
   * connections that lead there are used for so long. New ones lead to what the last look-up named.
   */
  private static final int REMEMBERED_LOOK_UPS = 3;

  /** A name server that lies may say thousands; each would be tried for one request. */
  public static final int MOST_ADDRESSES = 64;

  private final Server server;
  private final int weight;
  private final boolean isBackup;
  private final OriginHealth health;

  /** What is known of one server, under whichever weight and policy. */
  private static final class Server {
    final OriginUrl url;
    final String name;
    final AtomicInteger inFlight = new AtomicInteger();
    final AtomicReference<InetSocketAddress[][]> lookUps =
        new AtomicReference<>(new InetSocketAddress[][] {{}});
    final AtomicInteger turn = new AtomicInteger();
    final AtomicReference<String> trouble = new AtomicReference<>("");
    final AtomicReference<@Nullable Checked> lastCheck = new AtomicReference<>();

    Server(OriginUrl url) {
      this.url = url;
      this.name = url.name();
    }
  }

  /**
   * How the last check went.
   *
   * @param trouble what was wrong, empty for nothing
   * @param nanos when (monotonic)
   * @param nextNanos when the next one begins
   */
  public record Checked(String trouble, long nanos, long nextNanos) {}

  /**
   * An origin whose address is not known yet: {@link OriginNames#watch} finds it.
   *
   * @param weight its share of the requests, relative to the others; at least 1
   */
  public Origin(OriginUrl url, int weight, OriginHealth health) {
    this(url, weight, false, health);
  }

  /**
   * The same.
   *
   * @param isBackup whether it gets requests only while no other origin is in
   */
  public Origin(OriginUrl url, int weight, boolean isBackup, OriginHealth health) {
    this(new Server(url), weight, isBackup, health);
  }

  private Origin(Server server, int weight, boolean isBackup, OriginHealth health) {
    if (weight < 1) {
      throw new IllegalArgumentException("weight: " + weight + " (expected: at least 1)");
    }
    this.server = server;
    this.weight = weight;
    this.isBackup = isBackup;
    this.health = health;
  }

  /** The same server: what becomes known of one is known of both. This where nothing differs. */
  public Origin with(int weight, boolean isBackup, OriginHealth health) {
    if (weight == this.weight && isBackup == this.isBackup && health == this.health) {
      return this;
    }
    return new Origin(server, weight, isBackup, health);
  }

  /** The same object, which says nothing, for all that are the same server. */
  public Object server() {
    return server;
  }

  /** The host to look up, without brackets. */
  public String host() {
    return server.url.host();
  }

  /** Where it is, and whether it speaks TLS. */
  public OriginUrl url() {
    return server.url;
  }

  /** Host and port, as in an authority. */
  public String name() {
    return server.name;
  }

  public int weight() {
    return weight;
  }

  /** Whether it gets requests only while no other origin is in. */
  public boolean isBackup() {
    return isBackup;
  }

  public OriginHealth health() {
    return health;
  }

  /** Requests on their way, over all loops. */
  public int inFlight() {
    return server.inFlight.get();
  }

  public void begin() {
    server.inFlight.getAndIncrement();
  }

  public void finish() {
    server.inFlight.getAndDecrement();
  }

  /** Where to connect to, or null while the name has no address. */
  public @Nullable InetSocketAddress address() {
    InetSocketAddress[] all = named();
    return all.length == 0 ? null : all[Math.floorMod(server.turn.get(), all.length)];
  }

  /** All addresses of the name, from {@link #address} on. */
  public Deque<InetSocketAddress> addressesInTurn() {
    List<InetSocketAddress> all = new ArrayList<>(addresses());
    if (!all.isEmpty()) {
      Collections.rotate(all, -Math.floorMod(server.turn.get(), all.size()));
    }
    return new ArrayDeque<>(all);
  }

  /** What the last look-up named. */
  private InetSocketAddress[] named() {
    return server.lookUps.getAcquire()[0];
  }

  /** What the last look-up named, in its order. */
  public List<InetSocketAddress> addresses() {
    return List.of(named());
  }

  /** Whether one of the last look-ups named this address. */
  public boolean isAt(InetSocketAddress address) {
    for (InetSocketAddress[] named : server.lookUps.getAcquire()) {
      for (InetSocketAddress one : named) {
        if (one.equals(address)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Prefers the next address from now on, unless someone else has seen to it already. */
  public void passOver(InetSocketAddress failed) {
    int now = server.turn.get();
    InetSocketAddress[] all = named();
    if (all.length > 1 && all[Math.floorMod(now, all.length)].equals(failed)) {
      server.turn.compareAndSet(now, now + 1);
    }
  }

  /** Takes what a look-up has found; of very many addresses the first ones. */
  public void addresses(List<InetAddress> found) {
    InetSocketAddress[] named =
        inTurn(found).stream()
            .limit(MOST_ADDRESSES)
            .map(address -> new InetSocketAddress(address, server.url.port()))
            .toArray(InetSocketAddress[]::new);
    server.lookUps.updateAndGet(last -> adding(named, last));
  }

  /**
   * The families in turn, as long as there are two (RFC 8305 §4): one that leads nowhere costs one
   * attempt, and is passed over from then on.
   */
  private static List<InetAddress> inTurn(List<InetAddress> found) {
    Deque<InetAddress> some = new ArrayDeque<>();
    Deque<InetAddress> others = new ArrayDeque<>();
    for (InetAddress address : found) {
      (address.getClass() == found.getFirst().getClass() ? some : others).add(address);
    }
    List<InetAddress> all = new ArrayList<>(found.size());
    while (!some.isEmpty() || !others.isEmpty()) {
      for (Deque<InetAddress> family : List.of(some, others)) {
        if (!family.isEmpty()) {
          all.add(family.poll());
        }
      }
    }
    return all;
  }

  private static InetSocketAddress[][] adding(
      InetSocketAddress[] named, InetSocketAddress[][] last) {
    int count = Math.min(last.length + 1, REMEMBERED_LOOK_UPS);
    InetSocketAddress[][] next = new InetSocketAddress[count][];
    next[0] = named;
    System.arraycopy(last, 0, next, 1, count - 1);
    return next;
  }

  /**
   * What it did wrong when a connection was last opened, empty for nothing.
   *
   * @return whether that is news
   */
  public boolean trouble(String reason) {
    return !server.trouble.getAndSet(reason).equals(reason);
  }

  /** How the last check went; null before it, and where there are none. */
  public @Nullable Checked lastCheck() {
    return server.lastCheck.getAcquire();
  }

  public void checked(@Nullable Checked check) {
    server.lastCheck.setRelease(check);
  }

  @Override
  public String toString() {
    return server.name;
  }
}
