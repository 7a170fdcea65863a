package io.kamille.cache.fill;

import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Preconditions;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.OwnHeads;
import io.kamille.core.content.Pieces;
import io.kamille.core.content.Pump;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.ResponseHead;
import java.lang.System.Logger.Level;

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
   * When the origin has become slow, they ask again once: who has something stored is answered. An
   * earlier attempt may be answered first. Then those who get what it has stored wait no longer,
   * and those of other variants than the leader's wait for their own.
   *
   * A flight that ends without anything to share hangs no longer: those who wait ask again and
   * collapse anew. Only what may not be shared sends everybody to the origin at once.
   */

  private static final System.Logger LOG = System.getLogger("kamille.cache");

  private enum State {
    WAITING,
    BEGUN,
    DONE
  }

  private static final Failure LEFT = Failure.of(ErrorType.CLIENT_GONE, "it reads no further");

  private final Exchange exchange;
  private final ReplyHandover client;
  private final InFlight flight;
  private final ForwardReason reason;
  private final CacheStatus cacheStatus;
  private final FollowerFallback fallback;
  private final Wait wait;
  private final boolean wasLate;
  private final long joinedAfter;
  private State state = State.WAITING;
  private final FillPieces pieces = new FillPieces();
  private final Pump pump = new Pump(pieces);

  private Follower(
      Exchange exchange,
      InFlight flight,
      ForwardReason reason,
      CacheStatus cacheStatus,
      FollowerFallback fallback,
      Wait wait) {
    this.client = ReplyHandover.of(exchange.reply());
    this.exchange = exchange.behind(client);
    this.flight = flight;
    this.reason = reason;
    this.cacheStatus = cacheStatus;
    this.fallback = fallback;
    this.wait = wait;
    this.wasLate = flight.isLate();
    this.joinedAfter = flight.lastPurge();
  }

  /**
   * Lets a request wait for a flight, on the request's loop.
   *
   * @param wait for how long it waits for a head: until a moment, or to the end
   * @return false if the flight has just ended without anything to share; then nothing was done
   */
  public static boolean follow(
      Exchange exchange,
      InFlight flight,
      ForwardReason reason,
      CacheStatus cacheStatus,
      FollowerFallback fallback,
      Wait wait) {
    if (!flight.enter()) {
      flight.supersede();
      return false;
    }
    Follower follower = new Follower(exchange, flight, reason, cacheStatus, fallback, wait);
    flight.join(follower, exchange.loop());
    follower.client.open(follower);
    follower.proceed();
    return true;
  }

  // News

  /** Does what the stage of the flight allows by now. */
  void proceed() {
    if (state == State.WAITING) {
      decide();
    }
    if (state == State.BEGUN) {
      readOn();
    }
  }

  private void decide() {
    Outcome outcome = Outcome.of(flight.stage(), exchange.request(), flight.selecting());
    switch (outcome) {
      case null -> {
        if (flight.isLate() && !wasLate) {
          goAgain(wait);
        }
      }
      case Outcome.Mine(var filling) -> begin(filling);
      case Outcome.AnotherVariants(var selecting) -> goAgain(wait.forLike(selecting));
      case Outcome.Nobodys(var mayWait) -> goAgain(mayWait ? wait : Wait.OVER);
      case Outcome.Failed(var why) -> leaveFor(() -> fallback.failed(exchange, forwarding(), why));
    }
  }

  private void readOn() {
    switch (flight.stage()) {
      case Stage.Filling _, Stage.Overflowing _ -> pump.run();
      case Stage.Filled _ -> pieces.end(Pieces.End.COMPLETE);
      case Stage.Broken(var why) -> breakOff(why);
      case Stage.Waiting _, Stage.Apart _, Stage.Again _, Stage.Failed _ ->
          throw new IllegalStateException(flight.stage() + " (expected: what follows content)");
    }
    leaveAtEnd();
  }

  private void leaveAtEnd() {
    if (pump.isOver()) {
      leaveFor(() -> {});
    }
  }

  /** Takes a chunk from the window, if it reads; it looks later. Borrows the hold. */
  void take(SharedChunk chunk) {
    if (state == State.BEGUN) {
      pieces.add(chunk);
    }
  }

  /** No chunk will come any more. */
  void ended(Pieces.End how) {
    if (state == State.BEGUN) {
      pieces.end(how);
      leaveAtEnd();
    }
  }

  /** Leaves if it has so much to take that others have to wait. */
  void breakOffIfSlow(boolean onlyIfStalled) {
    if (state == State.BEGUN && pieces.holdsUp(onlyIfStalled)) {
      fallback.brokenOffSlow();
      breakOff(ContentWindow.tooSlow());
    }
  }

  private void begin(Stage.Filling filling) {
    if (flight.isTooOldFor(joinedAfter, filling.facts(), exchange.request())) {
      goAgain(wait);
      return;
    }
    ResponseHead head = filling.head().copy();
    if (filling.octets().tryRetain()) {
      pieces.read(filling.octets(), filling.contentOffset());
      begin(filling, head);
    } else {
      flight.supersede();
      goAgain(wait);
    }
  }

  /** Answers with the head; holds a lease on the content, which its pieces end. */
  private void begin(Stage.Filling filling, ResponseHead head) {
    state = State.BEGUN;
    exchange.notes().cache(CacheResult.COLLAPSED);
    cacheStatus.forwarded(head.fields(), forwarding().ttl(filling.ttlSeconds()));
    if (filling.facts().tags().areToldTo(exchange.request())) {
      head.fields().add(FieldName.CACHE_TAG, Tags.ANY);
    }
    if (Preconditions.isNotModified(exchange.request(), filling.facts())) {
      client.head(OwnHeads.notModified(head, exchange.request()), Reply.UNKNOWN_LENGTH);
      leaveFor(() -> client.end(null));
    } else {
      client.head(head, filling.contentLength());
      pump.start(client);
    }
  }

  private void breakOff(Failure why) {
    leaveFor(() -> client.abort(why));
  }

  private void goAgain(Wait next) {
    leaveFor(() -> fallback.lookAgain(exchange, next));
  }

  private Forwarding forwarding() {
    return new Forwarding(reason).collapsed();
  }

  // Time

  /** Whether its wait has an end. */
  boolean isTimed() {
    return state == State.WAITING && wait.isTimed();
  }

  boolean isDone() {
    return state == State.DONE;
  }

  /** When its wait ends, if that {@link #isTimed} (monotonic). */
  long deadlineNanos() {
    return wait.deadlineNanos();
  }

  /** Leaves a flight without a head for a newer one, or leads that, if its time is over. */
  void expire(long nowNanos) {
    if (isTimed() && deadlineNanos() - nowNanos <= 0) {
      proceed();
      if (isTimed()) {
        flight.supersede();
        goAgain(wait.toTheEnd());
      }
    }
  }

  // From the client

  @Override
  public void pause() {
    pump.pause();
  }

  @Override
  public void resume() {
    pump.resume();
    if (state == State.BEGUN) {
      proceed();
    }
  }

  @Override
  public void cancel(Failure why) {
    leaveFor(() -> {});
  }

  /**
   * Breaks this follower off alone: a bug has shown itself in it, or memory is short. Throws
   * nothing, and lets go of what it holds before anything that needs memory.
   */
  void fault(Throwable thrown) {
    try {
      leaveFor(() -> {});
      tellClientOfFault();
    } catch (RuntimeException | Error again) {
      thrown.addSuppressed(again);
    }
    try {
      LOG.log(Level.ERROR, "a request that shares another one's response failed", thrown);
    } catch (RuntimeException | Error unsaid) {
      // The others go on without a line in the log.
    }
  }

  private void tellClientOfFault() {
    if (client.isEnded()) {
      return;
    }
    Failure why =
        Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "a fault while the response was shared");
    if (client.isBegun()) {
      client.abort(why);
    } else {
      client.fail(why);
    }
  }

  /** Lets go of the flight and everything held of it, then does the last thing. */
  private void leaveFor(Runnable last) {
    if (state == State.DONE) {
      return;
    }
    state = State.DONE;
    pump.cancel(LEFT);
    flight.left();
    last.run();
  }
}
