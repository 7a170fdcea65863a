package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one connection that are open, and how each comes to its end (RFC 9113 §5.1).
 * Confined to its loop.
 */
final class OpenStreams {

  /*
   * A stream has a place until its exchange has ended, be it that it was reset long before:
   * otherwise a client that opens streams and gives them up, or has us reset them, keeps far more
   * requests under way than it may (CVE-2023-44487, CVE-2025-8671).
   *
   * A frame on a stream that we reset is no fault of the other side, for as long as one is on its
   * way. So those streams are remembered apart: others end by the hundred within one round trip.
   */
  private static final int REMEMBERED_ENDS = 256;
  private static final int REMEMBERED_RESETS = 1024;

  /** How a stream ended. */
  enum End {
    /** Nothing is known: it was never open, or that is long ago. */
    UNKNOWN,
    /** We reset it: what was on its way to us is no fault of the other side. */
    RESET_BY_US,
    /** The other side knows that it is closed. */
    KNOWN
  }

  private final IntObjectMap<H2Stream> open = new IntObjectHashMap<>(8);
  private final Last ended = new Last(REMEMBERED_ENDS);
  private final Last reset = new Last(REMEMBERED_RESETS);
  private final FrameWriter writer;
  private final SendQueue queue;
  private final AttackBudget budget;
  private final H2Owner owner;
  private int lingering;
  private int lastId;
  private int lastTaken = Integer.MAX_VALUE;
  private boolean isOurs;

  OpenStreams(FrameWriter writer, SendQueue queue, AttackBudget budget, H2Owner owner) {
    this.writer = writer;
    this.queue = queue;
    this.budget = budget;
    this.owner = owner;
  }

  @Nullable H2Stream find(int id) {
    return open.get(id);
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** A copy: what is done to a stream may end it. */
  List<H2Stream> all() {
    return new ArrayList<>(open.values());
  }

  /** Lends each buffer that waits on a stream. */
  void forEachWaiting(Consumer<ByteBuf> action) {
    for (H2Stream stream : open.values()) {
      stream.forEachWaiting(action);
    }
  }

  /** Streams that count against the limit. */
  int places() {
    return open.size() + lingering;
  }

  /** The highest id that the other side has used. */
  int lastId() {
    return lastId;
  }

  /** The highest id of a stream that the other side has opened. */
  int lastOfPeer() {
    return isOurs ? 0 : lastId;
  }

  /** Whether it is we who open streams. */
  boolean areOurs() {
    return isOurs;
  }

  /** The id for the next stream of ours; above the greatest once there are no more. */
  long nextOfOurs() {
    return lastId + (lastId == 0 ? 1L : 2L);
  }

  /** Adds a stream that we open, whose id is {@link #nextOfOurs}. */
  void addOurs(H2Stream stream) {
    isOurs = true;
    used(stream.id());
    add(stream);
  }

  /** The other side has used this id. */
  void used(int id) {
    lastId = Math.max(lastId, id);
  }

  /** Whether the other side has not opened this stream yet, or never may. */
  boolean isIdle(int id) {
    return id > lastId || id % 2 == 0;
  }

  /** Whether the stream came too late: we have said that we take no more (RFC 9113 §6.8). */
  boolean isTooLate(int id) {
    return id > lastTaken;
  }

  /** Takes no more streams from now on. */
  void takeNoMore() {
    lastTaken = lastId;
  }

  boolean takesMore() {
    return lastTaken == Integer.MAX_VALUE;
  }

  /** How a stream ended on which a frame comes all the same. */
  End endOf(int id) {
    if (reset.has(id)) {
      return End.RESET_BY_US;
    }
    return ended.has(id) ? End.KNOWN : End.UNKNOWN;
  }

  void add(H2Stream stream) {
    open.put(stream.id(), stream);
  }

  // How they end

  /** Both sides have said all. */
  void ended(H2Stream stream) {
    remove(stream, false);
    budget.finished();
    owner.over(stream);
  }

  /** The answer was sent whole, and nobody wants the rest of the request (RFC 9113 §8.1). */
  void answered(H2Stream stream) {
    if (!stream.isOver() && !stream.hasReceivedAll()) {
      writer.reset(stream.id(), Http2Error.NO_ERROR);
      remove(stream, true);
      budget.finished();
      owner.over(stream);
    }
  }

  /** The other side has reset it. */
  void abandoned(H2Stream stream, Http2Error code) {
    remove(stream, false);
    stream.broken(code, true);
    owner.over(stream);
  }

  /**
   * Ends a stream before its time. A request of ours that is given up earns what its late answer
   * costs: a head and trailers may be on their way.
   */
  void reset(H2Stream stream, Http2Error code) {
    if (!stream.isOver()) {
      writer.reset(stream.id(), code);
      remove(stream, true);
      if (isOurs) {
        budget.finished();
      }
      stream.broken(code, false);
      owner.over(stream);
    }
  }

  /** Resets a stream, or what would have become one. */
  void reset(int id, Http2Error code) {
    H2Stream stream = open.get(id);
    if (stream == null) {
      reset.add(id);
      writer.reset(id, code);
    } else {
      reset(stream, code);
    }
  }

  /** The connection is gone: nothing more is said. */
  void breakAll() {
    for (H2Stream stream : all()) {
      remove(stream, false);
      stream.broken(Http2Error.CANCEL, true);
    }
  }

  private void remove(H2Stream stream, boolean resetByUs) {
    queue.remove(stream);
    open.remove(stream.id());
    (resetByUs ? reset : ended).add(stream.id());
    stream.over();
  }

  /** The exchange of a stream goes on that is over. */
  void lingers() {
    lingering++;
  }

  /** It has ended. */
  void lingersNoMore() {
    lingering--;
  }

  /** The last streams of a kind. */
  private static final class Last {

    private final int most;
    private int[] ids = new int[8];
    private int next;

    Last(int most) {
      this.most = most;
    }

    void add(int id) {
      if (next == ids.length && next < most) {
        ids = Arrays.copyOf(ids, 2 * ids.length);
      }
      if (next == ids.length) {
        next = 0;
      }
      ids[next++] = id;
    }

    boolean has(int id) {
      for (int closed : ids) {
        if (closed == id) {
          return true;
        }
      }
      return false;
    }
  }
}
