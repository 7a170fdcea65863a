package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.gate.Overload;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request of one client may begin, and what it counts for while it is under way. One
 * request at a time. Confined to its loop.
 */
public final class RequestAdmission {

  private final ServerShard shared;
  private final ClientTable.Tally tally;
  private boolean isUnderWay;
  private int headBytes;

  /** For requests of the client of {@code tally}. */
  public RequestAdmission(ServerShard shared, ClientTable.Tally tally) {
    this.shared = shared;
    this.tally = tally;
  }

  /** Why there is no room for a head that takes so much of the heap; null if there is. */
  public @Nullable Failure lackOfRoom(int headBytes) {
    return shared.headsUnderWay().refusal(headBytes);
  }

  /** Why the next request may not begin, which is counted; null if it may. */
  public @Nullable Failure refusal() {
    if (tally.refusesRequest()) {
      return Failure.busyClient("too many requests of this client are under way", 1);
    }
    return shared.shedder().shedsAtOnce() ? Overload.SHED : null;
  }

  /** A request is under way whose head takes so much of the heap. */
  public void begun(int headBytes) {
    isUnderWay = true;
    tally.requestBegun();
    this.headBytes = shared.headsUnderWay().begun(headBytes);
  }

  /** It is over, if one was under way: its client may have another one. */
  public void over() {
    if (isUnderWay) {
      isUnderWay = false;
      tally.requestOver();
      shared.headsUnderWay().over(headBytes);
    }
  }
}
