package io.kamille.cache.fill;

import io.kamille.cache.collapse.ContentWindow;
import io.kamille.cache.collapse.InFlight;
import io.kamille.cache.collapse.SharedChunk;
import io.kamille.cache.semantics.CodingRules;
import io.kamille.cache.semantics.Preconditions;
import io.kamille.cache.semantics.Storability;
import io.kamille.cache.semantics.StoredFacts;
import io.kamille.cache.serve.NotModified;
import io.kamille.cache.serve.ReplyHandover;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.content.ContentSource;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Reply;
import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.failure.Failure.Side;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The reply of a request whose response may be stored: it gives the response to the client, to the
 * store and to the followers. Confined to the exchange's loop.
 */
final class FillReply implements Reply, ContentSource {

  /*
   * The origin's side is a straight line: WAITING for a head, CONTENT, ENDED. DROPPING is content
   * that nobody wants: of a 304's or an error's response after the stored one was sent. REPEATING
   * is a 304 that is not about what we have: the request goes out again without conditions, however
   * that answer ends.
   *
   * The client's side is the output's. A client that leaves does not end the fill while others
   * follow, or while little enough is to come; a client that is answered otherwise counts as gone.
   *
   * A fill of unknown length that outgrows its limit or the memory is given up, but not those who
   * have begun to read it: the rest of the content goes to them and the client through a window.
   */
  private enum State {
    WAITING,
    CONTENT,
    DROPPING,
    REPEATING,
    ENDED
  }

  /** What is dropped rather than paid for with a connection. */
  private static final long DROPPED_BYTES_LIMIT = 64 << 10;

  private final Fetches here;
  private final Fetch fetch;
  private final ReplyHandover client;
  private final LeaderOutput output;
  private final @Nullable Validation validation;
  private ContentSource origin = ContentSource.NONE;
  private State state = State.WAITING;
  private @Nullable InFlight flight;
  private @Nullable Fill fill;
  private @Nullable ContentWindow window;
  private boolean isClientGone;

  /** Takes over the validation, which ends the lease on the response it is about. */
  FillReply(Fetches here, Fetch fetch, ReplyHandover client, @Nullable Validation validation) {
    this.isClientGone = fetch.isInBackground();
    this.here = here;
    this.fetch = fetch;
    this.client = client;
    this.output = new LeaderOutput(client);
    this.validation = validation;
    this.flight = fetch.flight();
    if (flight != null) {
      flight.whenDeserted(this::deserted);
    }
  }

  // From the origin

  @Override
  public void open(ContentSource source) {
    origin = source;
    output.origin(source);
    client.open(this);
  }

  @Override
  public void interim(ResponseHead head) {
    here.cacheStatus().received(head.fields());
    Fetches.removeTags(head);
    client.interim(head);
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    state = State.CONTENT;
    here.answered(fetch);
    here.received(fetch.request(), head);
    long now = here.epochSeconds();
    if (validation != null) {
      if (validation.isMistaken(head)) {
        state = State.REPEATING;
        return;
      }
      StoredResponse usable = validation.answeredBy(head, contentLength, now);
      if (usable != null) {
        serve(usable, head.status(), contentLength);
        return;
      }
    }
    StoredFacts facts = StoredFacts.of(head, here.policy(), fetch.requestTime(), now);
    Storability storability = Storability.of(fetch.request(), head, here.policy(), now);
    if (!storability.isStorable()) {
      here.refused(fetch, head.status(), storability.detail(), storability.explanation());
      refuse(storability, head.status());
    } else {
      store(head, contentLength, facts, now);
    }
    answer(head, contentLength, facts);
  }

  private void store(ResponseHead head, long contentLength, StoredFacts facts, long now) {
    boolean isCodable = fetch.asksForIdentity() && here.coding().isCodable(head, contentLength);
    if (isCodable) {
      CodingRules.addVary(head.fields());
    }
    CodedForms forms = isCodable ? CodedForms.NOT_YET : CodedForms.NEVER;
    FillHead storable = FillHead.of(fetch, head, facts, forms);
    if (storable.length() + contentLength > here.settings().maxObjectBytes()) {
      here.refused(fetch, head.status(), Fill.TOO_LARGE, Fill.explained(Fill.TOO_LARGE));
      goApart(true);
      return;
    }
    boolean pays = here.pays(fetch, storable, contentLength) || isAwaited();
    Fill begun = pays ? here.beginFill(fetch, storable, contentLength) : null;
    if (begun == null) {
      String why = pays ? Fill.NO_MEMORY : Fill.NOT_ADMITTED;
      here.refused(fetch, head.status(), why, Fill.explained(why));
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
    return flight != null && flight.hasFollowers();
  }

  /** The followers cannot use this response; what it refuses to the leader alone, one may lead. */
  private void refuse(Storability why, int status) {
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
        here.uncachable(fetch);
      }
      flight.apart(fetch.request());
      flight = null;
    }
  }

  private void answer(ResponseHead head, long contentLength, StoredFacts facts) {
    Fetches.removeTags(head);
    if (fill == null) {
      postpone();
    }
    here.cacheStatus().forwarded(head.fields(), fetch.forwarding());
    fetch.exchange().notes().cache(CacheResult.MISS);
    if (Preconditions.isNotModified(fetch.request(), facts)) {
      output.close();
      client.head(NotModified.of(head), UNKNOWN_LENGTH);
      client.end(null);
      isClientGone = true;
      if (!mustGoOn()) {
        drop(contentLength);
      }
    } else {
      client.head(head, contentLength);
      if (isClientGone && !mustGoOn()) {
        drop(contentLength);
      }
    }
  }

  /** Sends a stored response in place of what the origin sends. Takes over one lease. */
  private void serve(StoredResponse stored, int originStatus, long contentLength) {
    output.close();
    if (originStatus != StatusCode.NOT_MODIFIED) {
      postpone();
    }
    if (flight != null) {
      if (originStatus == StatusCode.NOT_MODIFIED) {
        flight.freshened();
      } else {
        String reason = "the origin answered " + originStatus;
        flight.failed(new Failure(Kind.PROXY_INTERNAL_RESPONSE, originStatus, reason));
      }
      flight = null;
    }
    drop(contentLength);
    here.serve(fetch, client, stored, originStatus);
  }

  @Override
  public void write(ByteBuf chunk) {
    if (state != State.CONTENT) {
      chunk.release();
      return;
    }
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
    if (isClientGone && !mustGoOn()) {
      stop(Failure.of(Kind.CLIENT_GONE, "nobody is left to read the response"));
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
    here.remember(fetch, full.status(), trouble, Fill.explained(trouble));
    if (trouble.equals(Fill.TOO_LARGE) && fetch.flight() != null) {
      here.uncachable(fetch);
    }
    if (flight != null && full.expectedLength() == UNKNOWN_LENGTH) {
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
    here.abandon(full);
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
      here.loops().current().counters().brokenOffSlow();
      output.abort(ContentWindow.tooSlow());
    }
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (state == State.REPEATING) {
      repeat();
      return;
    }
    if (state == State.CONTENT && fill != null && !fill.isComplete()) {
      abort(Failure.of(Kind.HTTP_RESPONSE_INCOMPLETE, "less content than its length says"));
      return;
    }
    boolean isWanted = state == State.CONTENT;
    state = State.ENDED;
    if (fill != null) {
      complete(fill);
    }
    endWindow(null);
    if (isWanted) {
      Fetches.removeTags(trailers);
      output.end(trailers);
    }
  }

  private void repeat() {
    state = State.ENDED;
    here.repeat(fetch, client, flight);
  }

  private void complete(Fill filled) {
    long length = filled.length();
    StoredResponse stored = here.complete(fetch, filled);
    fill = null;
    if (flight != null) {
      flight.filled(length);
      flight = null;
    }
    stored.release();
  }

  @Override
  public void abort(Failure why) {
    if (state == State.WAITING) {
      fail(why);
      return;
    }
    if (state == State.REPEATING) {
      repeat();
      return;
    }
    boolean isWanted = state == State.CONTENT;
    state = State.ENDED;
    giveUp(why);
    if (isWanted) {
      output.abort(why);
    }
  }

  @Override
  public void fail(Failure failure) {
    if (state != State.WAITING) {
      abort(failure);
      return;
    }
    state = State.ENDED;
    postpone();
    StoredResponse usable = validation == null ? null : validation.failed(here.epochSeconds());
    if (flight != null) {
      if (failure.side() == Side.CLIENT) {
        flight.vacant();
      } else {
        flight.failed(failure);
      }
      flight = null;
    }
    output.close();
    if (usable != null) {
      here.serve(fetch, client, usable, failure.status());
    } else {
      fetch.exchange().notes().cacheStatus(here.cacheStatus().member(fetch.forwarding()));
      client.fail(failure);
    }
  }

  @Override
  public void stored(
      int status, byte[] ownLines, int ownLength, ByteBuf linesAndContent, long contentLength) {
    linesAndContent.release();
    throw new IllegalStateException(
        "stored: " + status + " (expected: a response from the origin)");
  }

  @Override
  public void storedHead(
      int status, byte[] ownLines, int ownLength, ByteBuf lines, long contentLength) {
    stored(status, ownLines, ownLength, lines, contentLength);
  }

  @Override
  public boolean isBegun() {
    return state != State.WAITING;
  }

  @Override
  public boolean isEnded() {
    return state == State.ENDED;
  }

  // From the client

  @Override
  public void pause() {
    output.pause();
  }

  @Override
  public void resume() {
    output.resume();
  }

  @Override
  public void cancel(Failure why) {
    isClientGone = true;
    output.close();
    if (!mustGoOn()) {
      stop(why);
    }
  }

  // From the followers

  private void deserted() {
    if (isClientGone && !mustGoOn()) {
      stop(Failure.of(Kind.CLIENT_GONE, "nobody is left to read the response"));
    }
  }

  /** Whether the response is worth having without the client. */
  private boolean mustGoOn() {
    if (flight != null && flight.hasFollowers()) {
      return true;
    }
    if (fill == null || fetch.isInBackground()) {
      return fill != null;
    }
    boolean isLengthKnown = fill.expectedLength() >= 0;
    long bytes = isLengthKnown ? fill.expectedLength() - fill.length() : fill.length();
    return bytes <= here.settings().finishAloneBytes();
  }

  /** What was of no use in the background is not tried again at once. */
  private void postpone() {
    if (fetch.isInBackground()) {
      here.postpone(fetch);
    }
  }

  /** Ends the exchange with the origin before its time. */
  private void stop(Failure why) {
    leave(why);
    if (state != State.ENDED) {
      state = State.ENDED;
      origin.cancel(why);
      giveUp(why);
      if (validation != null) {
        validation.close();
      }
    }
  }

  /** Wants the rest of the content no more, but perhaps the connection it comes on. */
  private void drop(long contentLength) {
    Failure why = Failure.of(Kind.CLIENT_GONE, "the client has its answer");
    leave(why);
    if (fill == null && contentLength >= 0 && contentLength <= DROPPED_BYTES_LIMIT) {
      state = State.DROPPING;
    } else {
      stop(why);
    }
  }

  /** Where there is no client, nobody else ends the exchange. */
  private void leave(Failure why) {
    if (fetch.isInBackground()) {
      client.abort(why);
    }
  }

  private void endWindow(@Nullable Failure why) {
    if (window != null) {
      window.end(why);
      window = null;
      flight = null;
    }
  }

  private void giveUp(Failure why) {
    endWindow(why);
    output.unstored();
    if (fill != null) {
      here.abandon(fill);
      fill = null;
    }
    if (flight != null) {
      flight.broken(why);
      flight = null;
    }
  }
}
