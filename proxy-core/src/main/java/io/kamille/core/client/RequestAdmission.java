package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.gate.Overload;
import io.kamille.core.http.RequestHead;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request of one client may begin, and what it counts for while it is under way. One
 * request at a time. Confined to its loop.
 */
public final class RequestAdmission {

  private final ServerShard server;
  private final ClientTable.Tally tally;
  private final InetSocketAddress peer;
  private ClientTable.@Nullable Tally underWay;
  private int headBytes;

  /** For requests of the client of {@code tally}, which is {@code peer} or is named by it. */
  public RequestAdmission(ServerShard server, ClientTable.Tally tally, InetSocketAddress peer) {
    this.server = server;
    this.tally = tally;
    this.peer = peer;
  }

  /** Why there is no room for a head that takes so much of the heap; null if there is. */
  public @Nullable Failure lackOfRoom(int headBytes) {
    return server.headsUnderWay().refusal(headBytes);
  }

  /** Why the next request may not begin, which is counted; null if it may. */
  public @Nullable Failure refusal(RequestHead request) {
    if (tally.refusesRequest(request.client(peer))) {
      return Failure.busyClient("too many requests of this client are under way", 1);
    }
    return server.shedder().shedsAtOnce() ? Overload.SHED : null;
  }

  /** A request is under way whose head takes so much of the heap. */
  public void begun(RequestHead request, int headBytes) {
    underWay = tally.requestBegun(request.client(peer));
    this.headBytes = server.headsUnderWay().begun(headBytes);
  }

  /** It is over, if one was under way: its client may have another one. */
  public void over() {
    ClientTable.Tally counted = underWay;
    if (counted != null) {
      underWay = null;
      counted.requestOver(tally);
      server.headsUnderWay().over(headBytes);
    }
  }
}
