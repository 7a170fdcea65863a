package io.kamille.cache.fill;

import io.kamille.cache.rules.CodingRules;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Failure.Side;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Where the content of one response goes: into the store, to those who follow, and to the client
 * that leads; and whether anybody wants it still. Confined to the exchange's loop.
 */
final class SharedFill {

  /*
   * A client that leaves does not end the fill while others follow, or while little enough is to
   * come; a client that is answered otherwise counts as gone.
   *
   * A fill of unknown length that outgrows its limit or the memory is given up, but not those who
   * have begun to read it: the rest of the content goes to them and the client through a window.
   */
  /** What is so near its end, or so short as yet, costs the origin less than being asked again. */
  private static final long FINISH_ALONE_BYTES = 1 << 20;

  private final CacheRoute route;
  private final Fetch fetch;
  private final LeaderOutput output;
  private ContentSource origin = ContentSource.NONE;
  private @Nullable InFlight flight;
  private @Nullable Fill fill;
  private @Nullable ContentWindow window;
  private boolean isClientGone;

  /**
   * Nothing is stored yet; those who follow wait.
   *
   * @param deserted what to do, on this loop, when the last follower has left
   */
  SharedFill(CacheRoute route, Fetch fetch, LeaderOutput output, Runnable deserted) {
    this.route = route;
    this.fetch = fetch;
    this.output = output;
    this.flight = fetch.flight();
    this.isClientGone = fetch.isInBackground();
    if (flight != null) {
      flight.whenDeserted(deserted);
    }
  }

  /** Who is paused when readers are too slow. */
  void origin(ContentSource source) {
    origin = source;
    output.origin(source);
  }

  // Who wants the response

  /** The client has left, or has its answer. */
  void clientLeft() {
    isClientGone = true;
  }

  /** Whether the response is worth having; if not, nobody can follow it any more. */
  boolean isWanted() {
    return !isClientGone || isWorthFinishing() || (flight != null && !flight.closeIfDeserted());
  }

  private boolean isWorthFinishing() {
    if (fill == null || fetch.isInBackground()) {
      return fill != null;
    }
    boolean isLengthKnown = fill.expectedLength() >= 0;
    long bytes = isLengthKnown ? fill.expectedLength() - fill.length() : fill.length();
    return bytes <= FINISH_ALONE_BYTES;
  }

  /** Whether the response is being stored. */
  boolean isStoring() {
    return fill != null;
  }

  // The head has come

  /** Begins to store a storable response, and to share it if it may be. */
  void begin(ResponseHead head, long contentLength, StoredFacts facts, long now) {
    boolean isCodable =
        fetch.asksForIdentity() && route.settings().coding().isCodable(head, contentLength);
    if (isCodable) {
      CodingRules.addVary(head.fields());
    }
    CodedForms forms = isCodable ? CodedForms.NOT_YET : CodedForms.NEVER;
    Fill.Head storable = Fill.Head.of(fetch, head, facts, forms);
    if (storable.length() + contentLength > route.settings().maxObjectBytes()) {
      route.refused(fetch, head.status(), Fill.TOO_LARGE, Fill.explained(Fill.TOO_LARGE));
      goApart(true);
      return;
    }
    boolean pays =
        route.store().pays(fetch.key(), storable.lengthWith(contentLength)) || isAwaited();
    Fill begun = pays ? route.beginFill(fetch, storable, contentLength) : null;
    if (begun == null) {
      String why = pays ? Fill.NO_MEMORY : Fill.NOT_ADMITTED;
      route.refused(fetch, head.status(), why, Fill.explained(why));
      goApart(false);
      return;
    }
    fill = begun;
    output.fill(begun);
    fetch.forwarding().stored(facts.ttlSeconds(now)).by(facts.freshness());
    if (!facts.isFresh(now) || facts.isValidatedAlways()) {
      goApart(false);
    } else if (flight != null) {
      begun.share(flight, now);
    }
  }

  /** Whether others wait for this response: it is asked for again, right now. */
  private boolean isAwaited() {
    return flight != null && flight.followers() > 0;
  }

  /**
   * The response may not be stored. What it refuses to the leader alone, a follower may ask for.
   */
  void refuse(Storability why, int status) {
    route.refused(fetch, status, why.detail(), why.explanation());
    if (why != Storability.AUTHORIZATION) {
      goApart(why.isLasting(status));
    } else if (flight != null) {
      flight.vacant();
      flight = null;
    }
  }

  /** The followers cannot use this response, and perhaps those to come should not even wait. */
  private void goApart(boolean isLasting) {
    if (flight != null) {
      if (isLasting) {
        route.uncachable(fetch);
      }
      flight.apart(fetch.request());
      flight = null;
    }
  }

  /** A stored response is the answer to what the origin said. */
  void answeredFromStore(int originStatus) {
    if (flight != null) {
      if (originStatus == StatusCode.NOT_MODIFIED) {
        flight.freshened();
      } else {
        String reason = "the origin answered " + originStatus;
        flight.failed(new Failure(Kind.PROXY_INTERNAL_RESPONSE, originStatus, reason));
      }
      flight = null;
    }
  }

  /** No head has come, nor will. */
  void failed(Failure failure) {
    if (flight != null) {
      if (failure.side() == Side.CLIENT) {
        flight.vacant();
      } else {
        flight.failed(failure);
      }
      flight = null;
    }
  }

  /** The request goes out again; those who follow wait for that answer. */
  @Nullable InFlight handOver() {
    return flight;
  }

  // The content comes

  /** Takes one chunk. Takes ownership. */
  void write(ByteBuf chunk) {
    if (fill != null) {
      String trouble = append(fill, chunk);
      if (trouble != null) {
        giveUp(fill, trouble);
      } else if (flight != null) {
        flight.progress();
      }
    }
    if (window != null) {
      share(window, chunk);
    } else {
      output.write(chunk);
    }
  }

  /** As {@link Fill#append}; a chunk that is not handed on is released. */
  private static @Nullable String append(Fill fill, ByteBuf chunk) {
    boolean isOver = false;
    try {
      String trouble = fill.append(chunk);
      isOver = true;
      return trouble;
    } finally {
      if (!isOver) {
        chunk.release();
      }
    }
  }

  private void giveUp(Fill full, String trouble) {
    route.remember(fetch, full.status(), trouble, Fill.explained(trouble));
    if (trouble.equals(Fill.TOO_LARGE) && fetch.flight() != null) {
      route.uncachable(fetch);
    }
    if (flight != null && full.expectedLength() == Reply.UNKNOWN_LENGTH) {
      overflow(full, flight);
    } else {
      giveUp(Failure.of(Kind.PROXY_INTERNAL_RESPONSE, "not stored to the end: " + trouble));
    }
  }

  /** The rest of the content is not stored; those who have begun to read it get it all the same. */
  private void overflow(Fill full, InFlight shared) {
    window = shared.overflow(full.length(), origin, this::stuck);
    if (window == null) {
      flight = null;
      output.unstored();
    } else {
      output.windowed();
    }
    route.abandon(full);
    fill = null;
  }

  /** Takes ownership of the chunk. */
  private void share(ContentWindow to, ByteBuf chunk) {
    SharedChunk shared;
    try {
      shared = to.write(chunk);
    } finally {
      chunk.release();
    }
    output.write(shared);
    to.written();
  }

  /** The window has been full for too long: who holds others up is broken off. */
  private void stuck() {
    int followers = flight == null ? 0 : flight.followers();
    if (window == null || !window.isWaitedFor(followers + (isClientGone ? 0 : 1))) {
      return;
    }
    window.breakOffSlow();
    if (!isClientGone && output.isSlow(window.isPatient())) {
      isClientGone = true;
      route.counters().brokenOffSlow();
      output.abort(ContentWindow.tooSlow());
    }
  }

  // The content ends

  /** Whether less content has come than was announced. */
  boolean isIncomplete() {
    return fill != null && !fill.isComplete();
  }

  /** All content is here: the response is to be found from now on. */
  void end() {
    if (fill != null) {
      complete(fill);
    }
    endWindow(null);
  }

  private void complete(Fill filled) {
    long length = filled.length();
    StoredResponse stored = route.complete(fetch, filled);
    fill = null;
    if (flight != null) {
      flight.filled(length);
      flight = null;
    }
    stored.release();
  }

  /** Nothing more will come. Idempotent. */
  void giveUp(Failure why) {
    endWindow(why);
    output.unstored();
    if (fill != null) {
      route.abandon(fill);
      fill = null;
    }
    if (flight != null) {
      flight.broken(why);
      flight = null;
    }
  }

  private void endWindow(@Nullable Failure why) {
    if (window != null) {
      window.end(why);
      window = null;
      flight = null;
    }
  }
}
