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
  @Nullable ConnectionList list;
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
}
