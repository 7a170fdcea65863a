package io.kamille.cache.fill;

import io.kamille.cache.rules.Preconditions;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.serve.NotModified;
import io.kamille.cache.store.StoredResponse;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.http.Fields;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.util.function.BiConsumer;
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
   * The client's side is the output's. Where the content goes beside is the SharedFill's.
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

  private final CacheRoute route;
  private final Fetch fetch;
  private final Reply client;
  private final LeaderOutput output;
  private final SharedFill shared;
  private final @Nullable EarlierResponse earlier;
  private final BiConsumer<Fetch, @Nullable InFlight> unconditionally;
  private ContentSource origin = ContentSource.NONE;
  private State state = State.WAITING;

  /**
   * Takes over what was stored before, which ends the lease on the response it is about.
   *
   * @param unconditionally sends a fetch out again, without conditions, for those who wait
   */
  FillReply(
      CacheRoute route,
      Fetch fetch,
      @Nullable EarlierResponse earlier,
      BiConsumer<Fetch, @Nullable InFlight> unconditionally) {
    this.route = route;
    this.fetch = fetch;
    this.client = fetch.exchange().reply();
    this.output = new LeaderOutput(client);
    this.shared = new SharedFill(route, fetch, output, this::stopIfUnwanted);
    this.earlier = earlier;
    this.unconditionally = unconditionally;
  }

  // From the origin

  @Override
  public void open(ContentSource source) {
    origin = source;
    shared.origin(source);
    client.open(this);
  }

  @Override
  public void interim(ResponseHead head) {
    route.cacheStatus().received(head.fields());
    Tags.removeFrom(head.fields());
    client.interim(head);
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    state = State.CONTENT;
    route.answered(fetch);
    route.received(fetch.request(), head);
    long now = route.epochSeconds();
    if (earlier != null) {
      if (earlier.dropIfMistaken(head)) {
        state = State.REPEATING;
        return;
      }
      StoredResponse usable = earlier.answeredBy(head, contentLength, now);
      if (usable != null) {
        serve(usable, head.status(), contentLength);
        return;
      }
    }
    Storability storability =
        Storability.of(fetch.request(), fetch.demands(), head, route.settings().policy(), now);
    boolean isNotModified;
    if (storability.isStorable()) {
      StoredFacts facts = facts(head, now);
      shared.begin(head, contentLength, facts, now);
      isNotModified = Preconditions.isNotModified(fetch.request(), facts);
    } else {
      shared.refuse(storability, head.status());
      isNotModified =
          Preconditions.areIn(fetch.request())
              && Preconditions.isNotModified(fetch.request(), facts(head, now));
    }
    answer(head, contentLength, isNotModified);
  }

  private StoredFacts facts(ResponseHead head, long now) {
    return StoredFacts.of(head, route.settings().policy(), fetch.requestTime(), now);
  }

  private void answer(ResponseHead head, long contentLength, boolean isNotModified) {
    Tags.removeFrom(head.fields());
    if (!shared.isStoring()) {
      postpone();
    }
    route.cacheStatus().forwarded(head.fields(), fetch.forwarding());
    fetch.exchange().notes().cache(CacheResult.MISS);
    if (isNotModified) {
      output.close();
      client.head(NotModified.of(head), UNKNOWN_LENGTH);
      client.end(null);
      shared.clientLeft();
    } else {
      client.head(head, contentLength);
    }
    if (!shared.isWanted()) {
      drop(contentLength);
    }
  }

  /** Sends a stored response in place of what the origin sends. Takes over one lease. */
  private void serve(StoredResponse stored, int originStatus, long contentLength) {
    output.close();
    if (originStatus != StatusCode.NOT_MODIFIED) {
      postpone();
    }
    shared.answeredFromStore(originStatus);
    drop(contentLength);
    route.serve(fetch, stored, originStatus);
  }

  @Override
  public void write(ByteBuf chunk) {
    if (state != State.CONTENT) {
      chunk.release();
      return;
    }
    shared.write(chunk);
    stopIfUnwanted();
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (state == State.REPEATING) {
      repeat();
      return;
    }
    if (state == State.CONTENT && shared.isIncomplete()) {
      abort(Failure.of(Kind.HTTP_RESPONSE_INCOMPLETE, "less content than its length says"));
      return;
    }
    boolean isWanted = state == State.CONTENT;
    state = State.ENDED;
    shared.end();
    if (isWanted) {
      Tags.removeFrom(trailers);
      output.end(trailers);
    }
  }

  private void repeat() {
    state = State.ENDED;
    unconditionally.accept(fetch, shared.handOver());
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
    shared.giveUp(why);
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
    StoredResponse usable = earlier == null ? null : earlier.failed(route.epochSeconds());
    shared.failed(failure);
    output.close();
    if (usable != null) {
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
    shared.clientLeft();
    output.close();
    if (!shared.isWanted()) {
      stop(why);
    }
  }

  /** Nobody is left, or the last follower has just gone. */
  private void stopIfUnwanted() {
    if (!shared.isWanted()) {
      stop(Failure.of(Kind.CLIENT_GONE, "nobody is left to read the response"));
    }
  }

  /** What was of no use in the background is not tried again at once. */
  private void postpone() {
    if (fetch.isInBackground()) {
      route.postpone(fetch);
    }
  }

  /** Ends the exchange with the origin before its time. */
  private void stop(Failure why) {
    leave(why);
    if (state != State.ENDED) {
      state = State.ENDED;
      origin.cancel(why);
      shared.giveUp(why);
      if (earlier != null) {
        earlier.close();
      }
    }
  }

  /** Wants the rest of the content no more, but perhaps the connection it comes on. */
  private void drop(long contentLength) {
    Failure why = Failure.of(Kind.CLIENT_GONE, "the client has its answer");
    leave(why);
    if (!shared.isStoring() && contentLength >= 0 && contentLength <= DROPPED_BYTES_LIMIT) {
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
}
