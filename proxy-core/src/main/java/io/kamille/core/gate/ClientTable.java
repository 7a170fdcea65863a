package io.kamille.core.gate;

import java.net.InetAddress;
import java.util.concurrent.ConcurrentHashMap;
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

  private final ConcurrentHashMap<AddressBits, ClientTally> tallies = new ConcurrentHashMap<>();
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
  public @Nullable ClientTally enter(AccessList access, @Nullable InetAddress address) {
    if (!access.admits(address)) {
      deny(address);
      return null;
    }
    ClientLimits now = limits;
    if (address == null || now.isUnlimited(address)) {
      return ClientTally.UNLIMITED;
    }
    AddressBits client = ClientLimits.client(address);
    while (true) {
      ClientTally tally = tallies.computeIfAbsent(client, key -> new ClientTally(this, key));
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

  void remove(AddressBits client, ClientTally tally) {
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
}
