package io.kamille.cache.fill;

import io.kamille.core.content.Pieces.End;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The content of a response from where it can no longer be stored, for the leader and those who had
 * begun to read along: what the slowest of them has not taken yet, at most {@link #CAPACITY_BYTES}.
 *
 * <p>Written on the leader's loop; chunks are released on any.
 */
public final class ContentWindow {

  /*
   * Chunks are copied once, to the heap: several loops read them at a time, which the views of a
   * pooled buffer do not allow; the arena may be what has run short; and what a reader leaves
   * behind the collector finds. Every reader's loop has an inbox for them. A chunk that the last
   * reader has taken makes room, wherever that happens.
   *
   * When the window is full the origin is paused until it is half empty. Whoever has more than half
   * of it still to take is broken off, if somebody has taken all of it and waits for more: after
   * two seconds in which it took nothing, or when the window was full for PATIENCE (ADR 10).
   *
   * "Full" is set before the room is looked at again, and room is made before "full" is looked at:
   * one of the two sees the other, and the origin is never left paused.
   */

  /** How much may lie here, in octets, with what each chunk takes beside its content. */
  public static final int CAPACITY_BYTES = 1 << 20;

  /** How long a full window waits for a reader that takes nothing. */
  public static final int STALL_SECONDS = 2;

  /** How long a full window waits for its slowest reader. */
  public static final int PATIENCE_SECONDS = 30;

  static final int HALF_BYTES = CAPACITY_BYTES / 2;

  private final EventLoop loop;
  private final Runnable stuck;
  private final AtomicLong occupiedBytes = new AtomicLong();
  private final AtomicBoolean isFull = new AtomicBoolean();
  private ContentSource origin;
  private FollowerGroup[] groups = {};
  private @Nullable ScheduledFuture<?> patience;
  private @Nullable SharedChunk last;
  private int fullSeconds;

  /** Written on the leader's loop, read on all, at their next look. */
  private volatile boolean isPatient = true;

  /** Written on the leader's loop, read on all: set after the last chunk is in the inboxes. */
  private volatile @Nullable End end;

  /**
   * @param origin whom to pause when the window is full
   * @param stuck what to do, on the leader's loop, when it was full for too long; again and again
   */
  ContentWindow(EventLoop loop, ContentSource origin, Runnable stuck) {
    this.loop = loop;
    this.origin = origin;
    this.stuck = stuck;
  }

  /** Who reads. Before the first chunk, once. */
  void readers(FollowerGroup[] groups) {
    this.groups = groups;
  }

  /**
   * Gives a copy of a chunk, which it borrows, to the followers. The caller owns a hold of its own,
   * and calls {@link #written} next.
   */
  public SharedChunk write(ByteBuf chunk) {
    SharedChunk shared = SharedChunk.of(this, chunk, groups.length + 1);
    last = shared;
    occupiedBytes.addAndGet(shared.occupiedBytes());
    for (FollowerGroup group : groups) {
      group.offer(shared);
    }
    return shared;
  }

  /** Pauses the origin if the window is full. */
  public void written() {
    if (end == null && occupiedBytes.get() >= CAPACITY_BYTES) {
      isFull.set(true);
      origin.pause();
      if (patience == null) {
        awaitPatience();
      }
      relax();
    }
  }

  /** The followers have got it all, or, for that reason, will not. */
  public void end(@Nullable Failure why) {
    origin = ContentSource.NONE;
    end = why == null ? End.COMPLETE : End.broken(why);
    forgetPatience();
    for (FollowerGroup group : groups) {
      group.wake();
    }
  }

  /** Whether any of so many readers has taken all there is. */
  public boolean isWaitedFor(int readers) {
    return last != null && last.holders() < readers;
  }

  /** Whether only those that take nothing are broken off as yet. Any thread. */
  public boolean isPatient() {
    return isPatient;
  }

  /** Breaks off the followers that keep the window full. */
  public void breakOffSlow() {
    for (FollowerGroup group : groups) {
      group.breakOffSlow();
    }
  }

  /** What a reader is told that has held others up. */
  public static Failure tooSlow() {
    return Failure.of(
        ErrorType.PROXY_INTERNAL_RESPONSE, "too slow for the others who read the same content");
  }

  /** How the content has ended; null while it goes on. Any thread. */
  @Nullable End end() {
    return end;
  }

  /** A chunk was taken by all. Any thread. */
  void freed(int bytes) {
    occupiedBytes.addAndGet(-bytes);
    relax();
  }

  private void relax() {
    if (isFull.get() && occupiedBytes.get() <= HALF_BYTES && isFull.compareAndSet(true, false)) {
      FollowerGroup.execute(loop, this::resume);
    }
  }

  private void resume() {
    if (!isFull.get()) {
      forgetPatience();
      origin.resume();
    }
  }

  private void awaitPatience() {
    patience = loop.schedule(this::lose, STALL_SECONDS, TimeUnit.SECONDS);
  }

  private void lose() {
    fullSeconds += STALL_SECONDS;
    isPatient = fullSeconds < PATIENCE_SECONDS;
    awaitPatience();
    stuck.run();
  }

  private void forgetPatience() {
    fullSeconds = 0;
    isPatient = true;
    if (patience != null) {
      patience.cancel(false);
      patience = null;
    }
  }
}
