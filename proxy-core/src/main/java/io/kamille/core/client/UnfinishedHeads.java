package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.http.StatusCode;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The connections of one loop of whose request only a part of the head has come, the oldest first,
 * and what these heads take of the heap. Confined to its loop, but for the counts.
 */
final class UnfinishedHeads {

  /*
   * A head that comes in one read, as nearly all do, is never here. Others are, for as long as
   * their clients take; all together they may take so much of the heap, however many the
   * connections and however large a head may be. When it is used up, the oldest yields: a client
   * that does nothing wrong has sent its head within a few round trips. A head that is larger than
   * the whole room makes nobody else yield.
   */
  private final ConnectionList connections = new ConnectionList();
  private final Supplier<ClientSettings> settings;
  private volatile long heapBytes;
  private volatile long displaced;

  UnfinishedHeads(Supplier<ClientSettings> settings) {
    this.settings = settings;
  }

  /** More of a head has come, though not all: it takes so much now. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void grew(ListedConnection connection, int headBytes) {
    if (connection.headBytes == 0) {
      connections.append(connection);
    }
    heapBytes += headBytes - connection.headBytes;
    connection.headBytes = headBytes;
    long room = settings.get().roomForHeadsBytes();
    if (headBytes > room) {
      connection.refuseHead(HeadsUnderWay.tooLarge());
    }
    while (heapBytes > room) {
      displaceOldest();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  private void displaceOldest() {
    ListedConnection oldest = connections.first();
    if (oldest == null) {
      throw new IllegalStateException("unfinished heads: " + heapBytes + " octets of none");
    }
    displaced++;
    try {
      oldest.refuseHead(
          Failure.request(
              StatusCode.REQUEST_TIMEOUT, "the room for unfinished request heads is used up"));
    } catch (RuntimeException | OutOfMemoryError bug) {
      // Not the fault of the connection that is read from.
      oldest.endBy(bug);
    }
  }

  /** No head of this connection is unfinished any more; it is in no list then. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // written by this loop only
  void over(ListedConnection connection) {
    if (connection.headBytes != 0) {
      heapBytes -= connection.headBytes;
      connection.headBytes = 0;
      ConnectionList.remove(connection);
    }
  }

  void forEach(Consumer<ListedConnection> action) {
    connections.forEach(action);
  }

  /** Octets of heap that they take. Any thread. */
  long heapBytes() {
    return heapBytes;
  }

  /** Heads given up for others. Any thread. */
  long displaced() {
    return displaced;
  }
}
