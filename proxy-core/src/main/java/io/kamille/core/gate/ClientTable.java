package io.kamille.core.gate;

import java.net.InetAddress;
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
   */

  private final ConcurrentHashMap<AddressBits, Tally> tallies = new ConcurrentHashMap<>();
  private final RefusalLog deniedLog;
  private final RefusalLog refusedLog;
  private final RefusalLog headerLog;
  private final LongAdder refusedRequests = new LongAdder();
  // Volatile: set by whoever loads a configuration.
  private volatile ClientLimits limits;

  /**
   * A table without clients.
   *
   * @param nanoClock monotonic nanoseconds, for the rate of what is logged
   */
  public ClientTable(ClientLimits limits, LongSupplier nanoClock) {
    this.limits = limits;
    deniedLog = new RefusalLog("connections of clients that are not let in", nanoClock);
    headerLog = new RefusalLog("connections without a valid PROXY header", nanoClock);
    refusedLog = new RefusalLog("connections of clients that have too many", nanoClock);
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
    AddressBits client = ClientLimits.client(address);
    while (true) {
      Tally tally = tallies.computeIfAbsent(client, key -> new Tally(this, key));
      switch (tally.enter(now.connections())) {
        case ENTERED -> {
          return tally;
        }
        case FULL -> {
          refusedLog.refused(address);
          return null;
        }
        case GONE -> tallies.remove(client, tally);
      }
    }
  }

  /** The connection of a client, or of a load balancer, that is not let in was closed. */
  public void deny(@Nullable InetAddress address) {
    deniedLog.refused(address);
  }

  /**
   * A connection of a load balancer was closed for what it says of its client.
   *
   * @param whose and why, for people
   */
  public void refuseProxyHeader(String whose) {
    headerLog.refused(whose);
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
    public static final Tally UNLIMITED = new Tally(null, new AddressBits(0, 0));

    /** What became of an attempt to enter. */
    enum Entry {
      ENTERED,
      FULL,
      GONE
    }

    private final @Nullable ClientTable table;
    private final AddressBits client;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();

    Tally(@Nullable ClientTable table, AddressBits client) {
      this.table = table;
      this.client = client;
    }

    Entry enter(int limit) {
      while (true) {
        int open = connections.get();
        if (open == GONE_FOR_EVER) {
          return Entry.GONE;
        }
        if (open >= limit) {
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
     */
    public boolean refusesRequest() {
      if (table == null || requests.get() < table.limits().requests()) {
        return false;
      }
      table.requestRefused();
      return true;
    }

    /** A request goes on beyond the call that began it. */
    public void requestBegun() {
      if (table != null) {
        requests.incrementAndGet();
      }
    }

    /** A request that had begun is over. */
    public void requestOver() {
      if (table != null) {
        requests.decrementAndGet();
      }
    }
  }
}
