package io.kamille.launcher.service;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes.Note;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is removed while another process has the same responses: sent to that one on a thread of its
 * own, and kept as long as we may have to take the disk back. Any thread; nobody waits for the
 * other process.
 */
final class RemovalFeed implements RemovalListener {

  /*
   * Both lists are bounded. If one overflows, all it holds becomes one removal of everything.
   */
  private static final System.Logger LOG = System.getLogger("kamille.service");
  static final int LIMIT = 1 << 16;
  private static final long END_MILLIS = 2_000;

  private final UnixSocket heir;
  private final Thread sender =
      Thread.ofPlatform().daemon().name("kamille-removals").unstarted(this::send);

  @GuardedBy("this")
  private final Deque<String> unsent = new ArrayDeque<>();

  /** Null once nothing is taken back any more. */
  @GuardedBy("this")
  private @Nullable List<String> kept = new ArrayList<>();

  /** Who is told instead of being kept for. */
  @GuardedBy("this")
  private @Nullable RemovalListener taker;

  @GuardedBy("this")
  private boolean isEnding;

  /** Its removals come from the other process. */
  @GuardedBy("this")
  private @Nullable Thread follower;

  /**
   * A feed that has not begun.
   *
   * @param heir the other process; stays the caller's to close, after {@link #end}
   */
  RemovalFeed(UnixSocket heir) {
    this.heir = heir;
  }

  /** Does not tell the other process what it has told itself, which that thread removes here. */
  synchronized void ignore(Thread thread) {
    follower = thread;
  }

  /** Begins to send. */
  void begin() {
    sender.start();
  }

  @Override
  public void removed(CacheKey key) {
    add(RemovalWords.remove(key.high(), key.low()));
  }

  @Override
  public void purged(Note note) {
    add(RemovalWords.purge(note));
  }

  @Override
  public void cleared() {
    add(RemovalWords.CLEAR);
  }

  private synchronized void add(String words) {
    if (Thread.currentThread().equals(follower)) {
      return;
    }
    if (taker != null) {
      play(words, taker);
      return;
    }
    if (kept != null) {
      add(words, kept);
    }
    if (!isEnding) {
      add(words, unsent);
      notifyAll();
    }
  }

  private static void add(String words, Collection<String> list) {
    if (list.size() == LIMIT) {
      list.clear();
      list.add(RemovalWords.CLEAR);
    }
    list.add(words);
  }

  private static void play(String words, RemovalListener listener) {
    try {
      RemovalWords.play(words, listener);
    } catch (IOException ours) {
      throw new IllegalStateException(ours);
    }
  }

  private void send() {
    try {
      for (String words = next(); words != null; words = next()) {
        heir.send(words, List.of());
      }
    } catch (IOException gone) {
      LOG.log(Level.INFO, "removals are not passed on any more: " + gone.getMessage());
      stop();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized @Nullable String next() throws InterruptedException {
    while (unsent.isEmpty() && !isEnding) {
      wait();
    }
    return unsent.poll();
  }

  private synchronized void stop() {
    isEnding = true;
    unsent.clear();
    notifyAll();
  }

  /** The other process serves: nothing is taken back any more. */
  synchronized void keepNothing() {
    kept = null;
  }

  /** Plays what was removed to that listener, who is told of what comes from now on. */
  synchronized void playTo(RemovalListener listener) {
    taker = listener;
    if (kept != null) {
      kept.forEach(words -> play(words, listener));
      kept = null;
    }
  }

  /** Sends what is left, for a moment, and ends. */
  void end() {
    synchronized (this) {
      isEnding = true;
      notifyAll();
    }
    try {
      sender.join(END_MILLIS);
      if (sender.isAlive()) {
        heir.shutdown();
        sender.join(END_MILLIS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
