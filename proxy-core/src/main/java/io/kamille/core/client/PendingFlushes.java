package io.kamille.core.client;

import io.netty.channel.EventLoop;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;

/**
 * The outputs of one loop that have something to flush at the end of its turn: one task for all of
 * them. Confined to its loop.
 */
final class PendingFlushes {

  private static final System.Logger LOG = System.getLogger("kamille.server");

  private final EventLoop loop;
  private final Runnable all = this::flushAll;
  private List<Runnable> waiting = new ArrayList<>();
  private List<Runnable> flushing = new ArrayList<>();

  PendingFlushes(EventLoop loop) {
    this.loop = loop;
  }

  /** Calls {@code flush} in a task of this turn; what is added meanwhile waits for another one. */
  void add(Runnable flush) {
    if (waiting.isEmpty()) {
      loop.execute(all);
    }
    waiting.add(flush);
  }

  private void flushAll() {
    List<Runnable> due = waiting;
    waiting = flushing;
    flushing = due;
    for (int i = 0; i < due.size(); i++) {
      try {
        due.get(i).run();
      } catch (RuntimeException | OutOfMemoryError bug) {
        LOG.log(Level.ERROR, "a flush failed by a fault of ours", bug);
      }
    }
    due.clear();
  }
}
