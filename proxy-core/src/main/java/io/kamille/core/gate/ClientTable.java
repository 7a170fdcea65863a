package io.kamille.core.gate;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Lets clients in, and knows what each of them has open, over all loops. Any thread. */
public final class ClientTable {

  /*
   * A tally is there while its client has a connection open, so there are never more of them than
   * connections, which have a limit of their own: the table cannot overflow.
   *
   * It is looked into when a connection begins and when it ends. A request reads a number of the
   * tally that its connection holds; one that is answered before its handler returns changes none.
   * While no limit is set, nobody is counted.
   *
   * A connection of a trusted proxy has no client of its own. Each of its requests that is under way
   * holds the tally of the client it is for, as a connection would, but does not count as one.
   */

  private final ConcurrentHashMap<AddressBits, Tally> tallies = new ConcurrentHashMap<>();
  private final RefusalLog deniedLog;
  private final RefusalLog refusedLog;
  private final RefusalLog headerLog;
  private final LongAdder refusedRequests = new LongAdder();
  private final Tally ofProxies = new Tally(null, new AddressBits(0, 0), this);
  // Volatile: set by whoever loads a configuration.
  private volatile ClientLimits limits;

  /**
   * A table without clients.
   *
   * @param shown how the log names clients
   * @param nanoClock monotonic nanoseconds, for the rate of what is logged
   */
  public ClientTable(ClientLimits limits, AddressMask shown, LongSupplier nanoClock) {
    this.limits = limits;
    deniedLog =
        new RefusalLog("refused {} connection(s) of clients that are not let in", shown, nanoClock);
    headerLog =
        new RefusalLog("refused {} connection(s) without a valid PROXY header", shown, nanoClock);
    refusedLog =
        new RefusalLog("refused {} connection(s) of clients that have too many", shown, nanoClock);
  }

  /** Other limits; connections that are open stay, and stay counted as they were. */
  public void limits(ClientLimits limits) {
    this.limits = limits;
  }

  ClientLimits limits() {
    return limits;
  }

  /**
   * Lets a connection in and counts it, or refuses it.
   *
   * @return what must be told when it is gone; null if its client has too many or is not let in
   */
  public @Nullable Tally enter(AccessList access, @Nullable InetAddress address) {
    if (!access.admits(address)) {
      deny(address);
      return null;
    }
    ClientLimits now = limits;
    if (address == null || now.isUnlimited(address)) {
      return Tally.UNLIMITED;
    }
    Tally tally = enter(address, now.connections());
    if (tally == null) {
      refusedLog.refused(address, "");
    }
    return tally;
  }

  private @Nullable Tally enter(InetAddress address, int limit) {
    AddressBits client = ClientLimits.client(address);
    while (true) {
      Tally tally = tallies.computeIfAbsent(client, key -> new Tally(this, key, null));
      switch (tally.enter(limit)) {
        case ENTERED -> {
          return tally;
        }
        case FULL -> {
          return null;
        }
        case GONE -> tallies.remove(client, tally);
      }
    }
  }

  /**
   * Lets in the connection of a proxy whose requests say whose they are. It counts for nobody.
   *
   * @return null if the proxy is not let in
   */
  public @Nullable Tally enterProxy(AccessList access, InetAddress address) {
    if (access.admits(address)) {
      return ofProxies;
    }
    deny(address);
    return null;
  }

  /** The tally of a client without a connection of its own, if it has one. */
  private @Nullable Tally find(InetAddress client) {
    return tallies.get(ClientLimits.client(client));
  }

  /** Has a client without a connection of its own be known while a request is under way. */
  private Tally hold(InetAddress client) {
    ClientLimits now = limits;
    boolean isFree = now.requests() == ClientLimits.NO_LIMIT || now.isUnlimited(client);
    Tally tally = isFree ? null : enter(client, ClientLimits.NO_LIMIT);
    if (tally == null) {
      return Tally.UNLIMITED;
    }
    tally.held.incrementAndGet();
    return tally;
  }

  /** The connection of a client, or of a load balancer, that is not let in was closed. */
  public void deny(@Nullable InetAddress address) {
    deniedLog.refused(address, "");
  }

  /**
   * A connection of a load balancer was closed for what it says of its client.
   *
   * @param why for people
   */
  public void refuseProxyHeader(InetAddress balancer, String why) {
    headerLog.refused(balancer, ": " + why);
  }

  void remove(AddressBits client, Tally tally) {
    tallies.remove(client, tally);
  }

  void requestRefused() {
    refusedRequests.increment();
  }

  /** Clients that are counted now. */
  public int clients() {
    return tallies.size();
  }

  /** Connections refused because their clients are not let in. */
  public long denied() {
    return deniedLog.count();
  }

  /** Connections of load balancers refused for their PROXY header. */
  public long refusedProxyHeaders() {
    return headerLog.count();
  }

  /** Connections refused because their clients had too many. */
  public long refusedConnections() {
    return refusedLog.count();
  }

  /** Requests refused because their clients had too many under way. */
  public long refusedRequests() {
    return refusedRequests.sum();
  }

  /** What one client has open now, over all loops. Any thread. */
  public static final class Tally {

    /*
     * The count of connections goes from nothing to GONE and never back: whoever comes then makes a
     * new tally. So a tally that was found in the table and is out of it a moment later is never
     * entered.
     */
    private static final int GONE_FOR_EVER = -1;

    /** Counts nothing. */
    public static final Tally UNLIMITED = new Tally(null, new AddressBits(0, 0), null);

    /** What became of an attempt to enter. */
    enum Entry {
      ENTERED,
      FULL,
      GONE
    }

    private final @Nullable ClientTable table;
    private final AddressBits client;
    private final @Nullable ClientTable named;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger held = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();

    /** Counts in {@code table}, or, of a proxy, requests in {@code named}, or nothing. */
    Tally(@Nullable ClientTable table, AddressBits client, @Nullable ClientTable named) {
      this.table = table;
      this.client = client;
      this.named = named;
    }

    Entry enter(int limit) {
      while (true) {
        int open = connections.get();
        if (open == GONE_FOR_EVER) {
          return Entry.GONE;
        }
        if (open - held.get() >= limit) {
          return Entry.FULL;
        }
        if (connections.compareAndSet(open, open + 1)) {
          return Entry.ENTERED;
        }
      }
    }

    /** A connection that had entered is gone. */
    public void leave() {
      if (table != null
          && connections.decrementAndGet() == 0
          && connections.compareAndSet(0, GONE_FOR_EVER)) {
        table.remove(client, this);
      }
    }

    /**
     * Whether a request must be refused, which is counted: as many as may be are under way. Loops
     * that ask at the same time may let one more in each.
     *
     * @param client of the request: it counts if the connection is a proxy's
     */
    public boolean refusesRequest(InetSocketAddress client) {
      InetAddress address = client.getAddress();
      Tally tally = named == null || address == null ? this : named.find(address);
      return tally != null && tally.refusesRequest();
    }

    private boolean refusesRequest() {
      if (table == null || requests.get() < table.limits().requests()) {
        return false;
      }
      table.requestRefused();
      return true;
    }

    /**
     * A request of that client goes on beyond the call that began it.
     *
     * @return what must be told when it is over
     */
    public Tally requestBegun(InetSocketAddress client) {
      InetAddress address = client.getAddress();
      Tally tally = named == null || address == null ? this : named.hold(address);
      if (tally.table != null) {
        tally.requests.incrementAndGet();
      }
      return tally;
    }

    /** A request that had begun on a connection of {@code other} is over. */
    public void requestOver(Tally other) {
      if (table != null) {
        requests.decrementAndGet();
        if (other.named != null) {
          held.decrementAndGet();
          leave();
        }
      }
    }
  }
}
