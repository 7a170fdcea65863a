package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.socket.TunableChannel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a client as its loop sees it: the last handler of its channel's pipeline. It is
 * in one list of {@link LoopConnections}, is asked about its deadline, and ends when the loop says
 * so. Confined to its loop.
 */
public abstract class ListedConnection extends ChannelInboundHandlerAdapter {

  // The lists' own: links, since when it is idle, and what its unfinished head takes of the heap.
  @Nullable ListedConnection next;
  @Nullable ListedConnection previous;
  @Nullable Line list;
  long idleSinceNanos;
  int headBytes;

  /** Set once, when its pipeline is complete. */
  @Nullable TunableChannel tunable;

  /** Has what waits in front of its channel counted, too. */
  protected final void countKeptBack(Consumer<Consumer<ByteBuf>> keptBack) {
    if (tunable != null) {
      tunable.keptBack(keptBack);
    }
  }

  /** Acts if a deadline has passed, or if the client sends, or takes, too slowly. */
  protected abstract void checkDeadline();

  /** Ends the connection for a fault of ours, which keeps the loop from no other. */
  protected abstract void endBy(Throwable bug);

  /** Answers the head of which a part has come with this, and ends with the answer. */
  protected abstract void refuseHead(Failure why);

  /** Ends the connection if it is idle; one that is not ends with what it has under way. */
  protected abstract void drain();

  /** Closes the connection at once. */
  protected abstract void close();

  /**
   * Ends the connection in stages, if it is idle indeed.
   *
   * @return whether it is; else it is no longer among the idle ones
   */
  protected abstract boolean endIfIdle();

  /** As {@link #endIfIdle}, but at once. */
  protected abstract boolean closeIfIdle();

  /**
   * Closes a connection that lingers at once, if its client has the last answer whole.
   *
   * @return whether it has
   */
  protected abstract boolean closeIfAllIsAcknowledged();

  /**
   * Connections in the order in which they came into this list. A connection is in one list at a
   * time and is itself the link: nothing is allocated. Confined to its loop.
   */
  @SuppressWarnings("ReferenceEquality") // a connection is itself
  static final class Line {

    private @Nullable ListedConnection first;
    private @Nullable ListedConnection last;
    private @Nullable ListedConnection cursor;
    private int size;

    @Nullable ListedConnection first() {
      return first;
    }

    /** Takes {@code connection} from the list it is in, if any, to the end of this one. */
    void append(ListedConnection connection) {
      if (connection == last) {
        return;
      }
      remove(connection);
      connection.list = this;
      connection.previous = last;
      if (last == null) {
        first = connection;
      } else {
        last.next = connection;
      }
      last = connection;
      size++;
    }

    /** Whether {@code connection} is in this list. */
    boolean holds(ListedConnection connection) {
      return connection.list == this;
    }

    int size() {
      return size;
    }

    /** Takes {@code connection} from the list it is in, if any. */
    static void remove(ListedConnection connection) {
      if (connection.list != null) {
        connection.list.unlink(connection);
        connection.list = null;
      }
    }

    private void unlink(ListedConnection connection) {
      ListedConnection before = connection.previous;
      ListedConnection behind = connection.next;
      if (cursor == connection) {
        cursor = behind;
      }
      if (before == null) {
        first = behind;
      } else {
        before.next = behind;
      }
      if (behind == null) {
        last = before;
      } else {
        behind.previous = before;
      }
      connection.previous = null;
      connection.next = null;
      size--;
    }

    /** Calls {@code action}, which may move any connection; one that comes meanwhile may be met. */
    void forEach(Consumer<ListedConnection> action) {
      cursor = first;
      while (cursor != null) {
        ListedConnection connection = cursor;
        cursor = connection.next;
        action.accept(connection);
      }
    }
  }
}
