package io.kamille.cache.fill;

import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.Preconditions;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.VaryBy;
import io.kamille.cache.serve.CacheCounters.Event;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.serve.OwnHeads;
import io.kamille.cache.serve.StoreServer;
import io.kamille.cache.store.CodedForms;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Failure.Side;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The reply of a request whose response may be stored: it gives the response to the client, to the
 * store and to the followers. Confined to the exchange's loop.
 */
final class LeaderReply implements Reply, ContentSource {

  /*
   * The origin's side is a straight line: WAITING for a head, CONTENT, ENDED. DROPPING is content
   * that nobody wants: of a 304's or an error's response after the stored one was sent. REPEATING
   * is a 304 that is not about what we have: the request goes out again without conditions, however
   * that answer ends.
   *
   * The client's side is the output's. A client that leaves does not end the fill while others
   * follow, or while little enough is to come; a client that is answered otherwise counts as gone.
   * One whose own condition was answered by 304 has been told that the response is stored: it is.
   *
   * If the origin is slow, the client is answered with what was stored before, and the fetch goes
   * on as one in the background. Nothing of it may reach the client then, who may be reading still.
   *
   * A fill of unknown length that outgrows its limit or the memory is given up, but not those who
   * have begun to read it: the rest of the content goes to them and the client through a window.
   */
  /** Sends a fetch out again. */
  interface Again {

    /** The lease of {@code earlier} is taken over. */
    void send(Fetch fetch, @Nullable InFlight flight, @Nullable StaleCandidate earlier);
  }

  private enum State {
    WAITING,
    CONTENT,
    DROPPING,
    REPEATING,
    ENDED
  }

  /** What is dropped rather than paid for with a connection. */
  private static final long DROPPED_BYTES_LIMIT = 64 << 10;

  /** What is so near its end, or so short as yet, costs the origin less than being asked again. */
  private static final long FINISH_ALONE_BYTES = 1 << 20;

  private final CacheRoute route;
  private final Fetch fetch;
  private final Reply client;
  private final LeaderOutput output;
  private final @Nullable StaleCandidate earlier;
  private final Again unconditionally;
  private ContentSource origin = ContentSource.NONE;
  private State state = State.WAITING;
  private @Nullable InFlight flight;
  private @Nullable Fill fill;
  private @Nullable ContentWindow window;
  private @Nullable Future<?> patience;
  private boolean isClientGone;
  private boolean isServedStale;
  private boolean isAnsweredShortly;
  private boolean isKept = true;

  /**
   * Takes over what was stored before, which ends the lease on the response it is about.
   *
   * @param unconditionally sends a fetch out again, without conditions, for those who wait
   */
  LeaderReply(
      CacheRoute route, Fetch fetch, @Nullable StaleCandidate earlier, Again unconditionally) {
    this.route = route;
    this.fetch = fetch;
    this.client = fetch.exchange().reply();
    this.output = new LeaderOutput(client);
    this.earlier = earlier;
    this.unconditionally = unconditionally;
    this.flight = fetch.flight();
    this.isClientGone = fetch.isInBackground();
    if (flight != null) {
      flight.led(fetch.request(), this::stopIfUnwanted);
    }
    if (earlier != null && earlier.mayStandInLate(route.epochSeconds())) {
      patience =
          fetch
              .exchange()
              .loop()
              .schedule(this::late, route.staleAfter().toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  /** No head has come for long. */
  private void late() {
    if (state != State.WAITING || earlier == null) {
      return;
    }
    StoredResponse stored = isClientGone ? null : earlier.late(route.epochSeconds());
    if (stored != null) {
      isServedStale = true;
      isClientGone = true;
      output.close();
      Forwarding told = new Forwarding(fetch.forwarding().reason());
      route.server().serveLate(fetch.exchange(), stored, told);
    }
    if (flight != null) {
      flight.late();
    }
  }

  private void headCame() {
    if (patience != null) {
      patience.cancel(false);
      patience = null;
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
    route.cacheStatus().received(head.fields());
    route.heads().removeTags(head.fields(), fetch.request());
    if (!isServedStale) {
      client.interim(head);
    }
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    head(head, contentLength, null);
  }

  @Override
  public boolean head(ResponseHead head, long contentLength, @Nullable ByteBuf whole) {
    state = State.CONTENT;
    headCame();
    route.answered(fetch);
    route.heads().fetched(fetch.request(), head);
    ResponseHead.Relay relay = head.relay();
    if (relay != null) {
      isKept = relay.isKept();
      fetch.forwarding().detail(relay.detail());
    }
    boolean isWithoutContent =
        fetch.request().method() == Method.HEAD || StatusCode.hasNoContent(head.status());
    long lengthToCome = isWithoutContent ? 0 : contentLength;
    long now = route.epochSeconds();
    if (earlier != null) {
      if (earlier.isMistaken(head)) {
        state = State.REPEATING;
        return false;
      }
      StoredResponse usable = earlier.answeredBy(head, contentLength, now);
      if (usable != null) {
        serve(usable, head.status(), lengthToCome);
        return false;
      }
    }
    CacheControl control = CacheControl.ofResponse(head.fields());
    Storability storability =
        Storability.of(
            fetch.request(), fetch.demands(), head, control, route.settings().policy(), now);
    boolean isNotModified;
    if (storability.isStorable()) {
      StoredFacts facts = facts(head, control, now);
      if (isKeptOut(facts, now)) {
        route.refused(fetch, head.status(), Storability.KEPT);
        goApart(false);
      } else {
        begin(head, control, contentLength, facts, now);
      }
      isNotModified = Preconditions.isNotModified(fetch.request(), facts);
    } else {
      refuse(storability, head.status());
      isNotModified =
          Preconditions.areIn(fetch.request())
              && Preconditions.isNotModified(fetch.request(), facts(head, control, now));
    }
    if (fill == null) {
      postpone();
    }
    boolean isTaken = !isServedStale && answer(head, contentLength, isNotModified, whole);
    if (!isWanted()) {
      drop(lengthToCome);
    }
    return isTaken;
  }

  private StoredFacts facts(ResponseHead head, CacheControl control, long now) {
    return StoredFacts.of(head, control, route.settings().policy(), fetch.requestTime(), now);
  }

  /**
   * Whether it is an error whose lifetime is not the origin's word, and a good response is there
   * that it would stand in the way of.
   */
  private boolean isKeptOut(StoredFacts facts, long now) {
    return !Storability.isOfResource(facts.status())
        && !facts.freshness().source().isExplicit()
        && ((earlier != null && earlier.isGood(now)) || route.hasGood(fetch.key(), now));
  }

  /** Whether the client has taken the content with the head; then the store has it, too. */
  private boolean answer(
      ResponseHead head, long contentLength, boolean isNotModified, @Nullable ByteBuf whole) {
    route.heads().answer(fetch.request(), head, fetch.forwarding());
    fetch.exchange().notes().cache(CacheResult.MISS);
    if (isNotModified) {
      output.close();
      client.head(OwnHeads.notModified(head, fetch.request()), UNKNOWN_LENGTH);
      client.end(null);
      isClientGone = true;
      isAnsweredShortly = true;
      return false;
    }
    int start = whole == null ? 0 : whole.readerIndex();
    boolean isTaken = client.head(head, contentLength, whole);
    if (isTaken && whole != null && fill != null) {
      output.hasGiven(contentLength);
      appended(fill, fill.append(whole.slice(start, (int) contentLength)));
    }
    return isTaken;
  }

  /** Sends a stored response in place of what the origin sends. Takes over one lease. */
  private void serve(StoredResponse stored, int originStatus, long lengthToCome) {
    output.close();
    if (originStatus != StatusCode.NOT_MODIFIED) {
      postpone();
    }
    tellFollowers(stored.facts(), originStatus);
    drop(lengthToCome);
    if (isServedStale) {
      stored.release();
    } else {
      route.serve(fetch, stored, originStatus);
    }
  }

  @Override
  public void write(ByteBuf chunk) {
    if (state != State.CONTENT) {
      chunk.release();
      return;
    }
    take(chunk);
    stopIfUnwanted();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (state == State.REPEATING) {
      repeat();
      return;
    }
    if (state == State.CONTENT && fill != null && !fill.isComplete()) {
      abort(Failure.of(ErrorType.HTTP_RESPONSE_INCOMPLETE, "less content than its length says"));
      return;
    }
    boolean isWanted = state == State.CONTENT;
    state = State.ENDED;
    boolean isStored = fill != null && isKept;
    complete();
    settleEarlier(isStored);
    if (isWanted) {
      route.heads().removeTags(trailers, fetch.request());
      output.end(trailers);
    }
  }

  private void settleEarlier(boolean isStored) {
    if (earlier != null) {
      earlier.answered(isStored, route.epochSeconds());
    }
  }

  private void repeat() {
    state = State.ENDED;
    if (isServedStale) {
      settle(new Stage.Again(true));
      closeEarlier();
    } else {
      unconditionally.send(fetch, flight, earlier);
    }
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
    headCame();
    postpone();
    StoredResponse usable = earlier == null ? null : earlier.failed(route.epochSeconds());
    tellFollowers(failure);
    output.close();
    if (isServedStale) {
      StoreServer.release(usable);
    } else if (usable != null) {
      route.serve(fetch, usable, failure.status());
    } else {
      fetch.exchange().notes().cacheStatus(route.cacheStatus().member(fetch.forwarding()));
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
    if (!isWanted()) {
      stop(why);
    }
  }

  /** Nobody is left, or the last follower has just gone. */
  private void stopIfUnwanted() {
    if (!isWanted()) {
      stop(Failure.of(ErrorType.CLIENT_GONE, "nobody is left to read the response"));
    }
  }

  /** What was of no use in the background is not tried again at once. */
  private void postpone() {
    if (isInBackground()) {
      route.postpone(fetch);
    }
  }

  /** Ends the exchange with the origin before its time. */
  private void stop(Failure why) {
    leave(why);
    if (state != State.ENDED) {
      headCame();
      state = State.ENDED;
      origin.cancel(why);
      giveUp(why);
      closeEarlier();
    }
  }

  private void closeEarlier() {
    if (earlier != null) {
      earlier.close();
    }
  }

  /** Wants the rest of the content no more, but perhaps the connection it comes on. */
  private void drop(long lengthToCome) {
    Failure why = Failure.of(ErrorType.CLIENT_GONE, "the client has its answer");
    leave(why);
    if (fill == null && lengthToCome >= 0 && lengthToCome <= DROPPED_BYTES_LIMIT) {
      state = State.DROPPING;
    } else {
      settleEarlier(false);
      stop(why);
    }
  }

  /** Where there is no client, nobody else ends the exchange. */
  private void leave(Failure why) {
    if (fetch.isInBackground()) {
      client.abort(why);
    }
  }

  // Who wants the response

  /**
   * Whether the response, or its connection, is worth having; if not, nobody can follow it any
   * more.
   */
  private boolean isWanted() {
    return !isClientGone
        || state == State.DROPPING
        || (isServedStale && state == State.WAITING)
        || isWorthFinishing()
        || (flight != null && !flight.closeIfDeserted());
  }

  private boolean isInBackground() {
    return fetch.isInBackground() || isServedStale;
  }

  private boolean isWorthFinishing() {
    if (fill == null || isInBackground() || isAnsweredShortly) {
      return fill != null;
    }
    boolean isLengthKnown = fill.expectedLength() >= 0;
    long bytes = isLengthKnown ? fill.expectedLength() - fill.length() : fill.length();
    return bytes <= FINISH_ALONE_BYTES;
  }

  // Where the content goes

  /** Begins to store a storable response, and to share it if it may be. */
  private void begin(
      ResponseHead head, CacheControl control, long contentLength, StoredFacts facts, long now) {
    boolean isCodable =
        fetch.asksForIdentity() && route.settings().coding().isCodable(head, contentLength);
    if (isCodable) {
      CompressionRules.addVary(head.fields());
    }
    CodedForms forms = isCodable ? CodedForms.NOT_YET : CodedForms.NEVER;
    VaryBy varyBy = route.settings().varyBy();
    Fill.Head storable =
        Fill.Head.of(fetch, head, control, facts, varyBy, forms, route.headOctets());
    if (storable.length() + contentLength > route.settings().maxObjectBytes()) {
      route.refused(fetch, head.status(), Storability.TOO_LARGE);
      goApart(true);
      return;
    }
    boolean pays =
        route.store().pays(fetch.key(), storable.lengthWith(contentLength)) || isAwaited();
    Fill begun = pays ? route.beginFill(fetch, storable, contentLength) : null;
    if (begun == null) {
      Storability why = pays ? Storability.NO_MEMORY : Storability.NOT_ADMITTED;
      route.refused(fetch, head.status(), why);
      goApart(false);
      return;
    }
    fill = begun;
    if (!fetch.isInBackground()) {
      output.fill(begun);
    }
    Forwarding told = fetch.forwarding();
    long ttl = facts.ttlSeconds(now);
    if (isKept && route.displaces(fetch.key(), storable.selecting())) {
      told.detail(Fill.VARIANT_LIMIT);
    }
    (isKept ? told.stored(ttl) : told.ttl(ttl)).by(facts.freshness());
    if (!facts.isReusable(now)) {
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
  private void refuse(Storability why, int status) {
    if (why != Storability.STATUS_PARTIAL) {
      route.refused(fetch, status, why);
    }
    if (why != Storability.AUTHORIZATION) {
      if (isAwaited() && StoredFacts.isError(status)) {
        route.failing(fetch);
      }
      goApart(why.isLasting(status));
    } else {
      settle(new Stage.Again(true));
    }
  }

  /** Ends the flight, if there is one. */
  private void settle(Stage last) {
    if (flight != null) {
      flight.settle(last);
      flight = null;
    }
  }

  /** The followers cannot use this response, and perhaps those to come should not even wait. */
  private void goApart(boolean isLasting) {
    if (flight != null && isLasting) {
      route.uncachable(fetch);
    }
    settle(Stage.Apart.of(fetch.request()));
  }

  /**
   * A stored response is the answer to what the origin said. If it can be reused, a follower finds
   * it, or it was removed meanwhile, and then the followers wait for one of them.
   */
  private void tellFollowers(StoredFacts stored, int originStatus) {
    if (originStatus == StatusCode.NOT_MODIFIED) {
      settle(new Stage.Again(stored.isReusable(route.epochSeconds())));
    } else {
      String reason = "the origin answered " + originStatus;
      settle(
          new Stage.Failed(new Failure(ErrorType.PROXY_INTERNAL_RESPONSE, originStatus, reason)));
    }
  }

  /** No head has come, nor will. */
  private void tellFollowers(Failure failure) {
    boolean isOfClient = failure.side() == Side.CLIENT;
    settle(isOfClient ? new Stage.Again(true) : new Stage.Failed(failure));
  }

  /** Takes one chunk. Takes ownership. */
  private void take(ByteBuf chunk) {
    if (fill != null) {
      appended(fill, append(fill, chunk));
    }
    if (window != null) {
      share(window, chunk);
    } else {
      output.write(chunk);
    }
  }

  private void appended(Fill to, @Nullable Storability trouble) {
    if (trouble != null) {
      giveUp(to, trouble);
    } else if (flight != null) {
      flight.wake();
    }
  }

  /** As {@link Fill#append}; a chunk that is not handed on is released. */
  private static @Nullable Storability append(Fill fill, ByteBuf chunk) {
    boolean isOver = false;
    try {
      Storability trouble = fill.append(chunk);
      isOver = true;
      return trouble;
    } finally {
      if (!isOver) {
        chunk.release();
      }
    }
  }

  private void giveUp(Fill full, Storability trouble) {
    route.remember(fetch, full.status(), trouble);
    if (trouble == Storability.TOO_LARGE && fetch.flight() != null) {
      route.uncachable(fetch);
    }
    if (flight != null && full.expectedLength() == Reply.UNKNOWN_LENGTH) {
      overflow(full, flight);
    } else {
      giveUp(
          Failure.of(
              ErrorType.PROXY_INTERNAL_RESPONSE, "not stored to the end: " + trouble.detail()));
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
      route.counters().count(Event.BROKEN_OFF_SLOW);
      output.abort(ContentWindow.tooSlow());
    }
  }

  /** All content is here: the response is to be found from now on. */
  private void complete() {
    if (fill != null) {
      long length = fill.length();
      Fill whole = fill;
      fill = null;
      StoredResponse stored;
      try {
        stored = route.complete(fetch, whole, isKept);
      } catch (RuntimeException | Error fault) {
        // Nobody must wait for what does not come.
        Failure why =
            Failure.of(ErrorType.PROXY_INTERNAL_ERROR, "the response could not be stored");
        giveUp(why);
        output.abort(why);
        throw fault;
      }
      if (flight != null) {
        flight.filled(length);
        flight = null;
      }
      stored.release();
    }
    endWindow(null);
  }

  /** Nothing more will come. Idempotent. */
  private void giveUp(Failure why) {
    endWindow(why);
    output.unstored();
    settle(new Stage.Broken(why));
    if (fill != null) {
      route.abandon(fill);
      fill = null;
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
