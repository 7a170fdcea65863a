package io.kamille.core.client;

import io.kamille.core.exchange.Failure;
import io.kamille.core.socket.TunableChannel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A connection to a client as its loop sees it: the last handler of its channel's pipeline. {@link
 * LoopConnections} asks it what it does, and has it end. Confined to its loop.
 */
public abstract class ListedConnection extends ChannelInboundHandlerAdapter {

  // The loop's own: its place among all, when it was last used and in which order, the use that the
  // last walk found, whether a request has come, whether the last sweep found it idle and nothing
  // has come since, and what its unfinished head takes of the heap.
  int place;
  int headBytes;
  long lastUsedNanos;
  long lastUse;
  long knownUse;
  boolean hasSpoken;
  boolean isQuiet;
  boolean isLingering;

  /** Set once, when its pipeline is complete. */
  @Nullable TunableChannel tunable;

  /** Has what waits in front of its channel counted, too. */
  protected final void countKeptBack(Consumer<Consumer<ByteBuf>> keptBack) {
    if (tunable != null) {
      tunable.keptBack(keptBack);
    }
  }

  /** Whether nothing is under way, neither on its way in nor out. */
  protected abstract boolean isIdle();

  /** Whether a request is under way, or what belongs to one. */
  protected boolean isInUse() {
    return !isIdle();
  }

  /**
   * Once a second, unless it is idle: acts if a deadline has passed, or if the client sends, or
   * takes, too slowly.
   */
  protected void checkDeadlines() {}

  /** Ends the connection for a fault of ours, which keeps the loop from no other. */
  protected abstract void endBy(Throwable bug);

  /** Answers the head of which a part has come with this, and ends with the answer. */
  protected abstract void refuseHead(Failure why);

  /** Ends the connection if it is idle; one that is not ends with what it has under way. */
  protected abstract void drain();

  /** Closes the connection at once. */
  protected abstract void close();

  /** Ends the connection, in stages if it has said something. */
  protected void end() {
    close();
  }

  /** Closes the connection, which is idle, at once. */
  protected void closeIdle() {
    close();
  }

  /**
   * Closes a connection that lingers at once, if its client has the last answer whole.
   *
   * @return whether it has
   */
  protected boolean closeIfAllIsAcknowledged() {
    return false;
  }
}
