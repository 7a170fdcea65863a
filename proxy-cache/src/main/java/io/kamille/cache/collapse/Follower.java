package io.kamille.cache.collapse;

import io.kamille.cache.semantics.ForwardReason;
import io.kamille.cache.semantics.Preconditions;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.ContentFeed;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.NotModified;
import io.kamille.cache.serve.ReplyHandover;
import io.kamille.core.content.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Reply;
import io.kamille.core.failure.Failure;
import io.kamille.core.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * A request that waits for another one's response and reads it from the store while it is still
 * being filled, at its own pace. Confined to its loop.
 */
public final class Follower implements ContentSource {

  /*
   * Nobody waits for ever for a leader whose answer does not come, and yet its followers are no
   * herd. The first whose time is over while there is no head takes the flight out of the table and
   * leads another; all others go over to that one, each when its own time is over, and stay with it
   * until it ends. So whatever the number of requests, a key sees at most one more attempt per
   * wait-timeout; and each is answered at the latest when the attempt it went over to is, which the
   * time-outs toward the origin bound.
   *
   * A flight that ends without anything to share hangs no longer: those who wait ask again and
   * collapse anew. Only what may not be shared sends everybody to the origin at once.
   */

  /** The deadline of a request that is not to wait. */
  public static final long ALONE = Long.MIN_VALUE + 1;

  /** The deadline of a request that waits as long as the flight lasts. */
  public static final long TO_THE_END = Long.MAX_VALUE;

  /** Where a follower goes that cannot be helped by the flight. Called on its loop. */
  public interface Onward {

    /**
     * Asks the cache again, which may hold the request back until {@code deadlineNanos}: a
     * monotonic time, {@link #ALONE} or {@link #TO_THE_END}.
     */
    void again(Exchange exchange, long deadlineNanos);

    /** Answers although the origin has no answer. */
    void failed(Exchange exchange, Forwarding forwarding, Failure why);

    /** A client was broken off because it held others up. */
    void brokenOffSlow();
  }

  private enum State {
    WAITING,
    BEGUN,
    DONE
  }

  private final Exchange exchange;
  private final ReplyHandover client;
  private final InFlight flight;
  private final ForwardReason reason;
  private final CacheStatus cacheStatus;
  private final Onward onward;
  private final long deadlineNanos;
  private State state = State.WAITING;
  private @Nullable ContentFeed feed;
  private @Nullable Backlog backlog;
  private ContentWindow.@Nullable End end;

  private Follower(
      Exchange exchange,
      InFlight flight,
      ForwardReason reason,
      CacheStatus cacheStatus,
      Onward onward,
      long deadlineNanos) {
    this.exchange = exchange;
    this.client = ReplyHandover.of(exchange.reply());
    this.flight = flight;
    this.reason = reason;
    this.cacheStatus = cacheStatus;
    this.onward = onward;
    this.deadlineNanos = deadlineNanos;
  }

  /**
   * Lets a request wait for a flight, on the request's loop.
   *
   * @param deadlineNanos when it stops waiting for a head (monotonic), or {@link #TO_THE_END}
   */
  public static void follow(
      Exchange exchange,
      InFlight flight,
      ForwardReason reason,
      CacheStatus cacheStatus,
      Onward onward,
      long deadlineNanos) {
    Follower follower = new Follower(exchange, flight, reason, cacheStatus, onward, deadlineNanos);
    exchange.reply(follower.client);
    flight.join(follower, exchange.loop());
    follower.client.open(follower);
    follower.look();
  }

  // News

  /** Does what the stage of the flight allows by now. */
  void look() {
    if (state == State.DONE) {
      return;
    }
    switch (flight.stage()) {
      case Stage.Waiting() -> {}
      case Stage.Filling filling -> read(filling, false);
      case Stage.Filled(var filling, var length) -> read(filling, true);
      case Stage.Overflowing(var filling, var length) -> readOn(length);
      case Stage.Broken(var why) -> breakOff(why);
      case Stage.Apart(var hasCookie) -> goApart(hasCookie);
      case Stage.Again(var mayWait) -> goAgain(mayWait ? deadlineNanos : ALONE);
      case Stage.Failed(var why) -> leaveFor(() -> onward.failed(exchange, forwarding(), why));
    }
  }

  private void read(Stage.Filling filling, boolean isFilled) {
    if (state == State.WAITING) {
      begin(filling);
    }
    ContentFeed reading = feed;
    if (reading != null
        && reading.advance(filling.octets().length() - filling.contentOffset())
        && isFilled) {
      leaveFor(() -> client.end(null));
    }
  }

  /** Reads what is stored, then what comes from the window. */
  private void readOn(long storedLength) {
    if (state == State.WAITING) {
      goAlone();
      return;
    }
    ContentFeed stored = feed;
    if (stored != null) {
      if (!stored.advance(storedLength)) {
        return;
      }
      stored.close();
      feed = null;
    }
    Backlog rest = backlog;
    boolean isAtEnd = rest == null || rest.advance();
    if (isAtEnd && end != null) {
      leaveFor(() -> client.end(null));
    }
  }

  /** Takes a chunk from the window, if it reads; it looks later. Borrows the hold. */
  void take(SharedChunk chunk) {
    if (state == State.BEGUN) {
      if (backlog == null) {
        backlog = new Backlog(client, client.isPaused());
      }
      chunk.retain();
      backlog.add(chunk);
    }
  }

  /** No chunk will come any more; it looks later. */
  void ended(ContentWindow.End how) {
    if (state == State.BEGUN) {
      end = how;
      if (how.why() != null) {
        breakOff(how.why());
      }
    }
  }

  /** Leaves if it has so much to take that others have to wait. */
  void breakOffIfSlow(boolean onlyIfStalled) {
    if (state == State.BEGUN && backlog != null && backlog.isLong(onlyIfStalled)) {
      onward.brokenOffSlow();
      breakOff(ContentWindow.tooSlow());
    }
  }

  private void begin(Stage.Filling filling) {
    if (!filling.selecting().matches(exchange.request())) {
      goAlone();
    } else if (!filling.octets().tryRetain()) {
      goAgain(deadlineNanos);
    } else {
      begin(filling, filling.head().copy());
    }
  }

  /** Answers with the head; holds a lease on the content from now on. */
  private void begin(Stage.Filling filling, ResponseHead head) {
    state = State.BEGUN;
    feed = new ContentFeed(client, filling.octets(), filling.contentOffset(), 0);
    if (client.isPaused()) {
      feed.pause();
    }
    exchange.notes().cache(CacheResult.COLLAPSED);
    cacheStatus.forwarded(head.fields(), forwarding().ttl(filling.ttlSeconds()));
    if (Preconditions.isNotModified(exchange.request(), filling.facts())) {
      client.head(NotModified.of(head), Reply.UNKNOWN_LENGTH);
      leaveFor(() -> client.end(null));
    } else {
      client.head(head, filling.contentLength());
    }
  }

  private void breakOff(Failure why) {
    if (state == State.BEGUN) {
      leaveFor(() -> client.abort(why));
    } else {
      goAgain(deadlineNanos);
    }
  }

  private void goApart(boolean hasCookie) {
    if (InFlightTable.hasCookie(exchange.request()) == hasCookie) {
      goAlone();
    } else {
      goAgain(deadlineNanos);
    }
  }

  /** Waits no more: whatever the store has by now, or the origin. */
  private void goAlone() {
    goAgain(ALONE);
  }

  private void goAgain(long deadlineNanos) {
    leaveFor(() -> onward.again(exchange, deadlineNanos));
  }

  private Forwarding forwarding() {
    return cacheStatus.keyed(new Forwarding(reason).collapsed(), exchange.request());
  }

  // Time

  /** Whether its wait has an end. */
  boolean isTimed() {
    return state == State.WAITING && deadlineNanos != TO_THE_END;
  }

  boolean isDone() {
    return state == State.DONE;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Leaves a flight without a head for a newer one, or leads that, if its time is over. */
  void expire(long nowNanos) {
    if (isTimed() && deadlineNanos - nowNanos <= 0) {
      look();
      if (isTimed()) {
        flight.supersede();
        goAgain(TO_THE_END);
      }
    }
  }

  // From the client

  @Override
  public void pause() {
    if (feed != null) {
      feed.pause();
    }
    if (backlog != null) {
      backlog.pause();
    }
  }

  @Override
  public void resume() {
    if (feed != null) {
      feed.resume();
    }
    if (backlog != null) {
      backlog.resume();
    }
    if (state == State.BEGUN) {
      look();
    }
  }

  @Override
  public void cancel(Failure why) {
    leaveFor(() -> {});
  }

  /** Lets go of the flight and everything held of it, then does the last thing. */
  private void leaveFor(Runnable last) {
    if (state == State.DONE) {
      return;
    }
    state = State.DONE;
    if (feed != null) {
      feed.close();
      feed = null;
    }
    if (backlog != null) {
      backlog.close();
    }
    flight.left();
    last.run();
  }
}
