package io.kamille.core.origin.send;

import io.kamille.core.content.QueuePieces;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.choose.OriginChoice;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.pool.Waiter;
import io.kamille.core.origin.wire.OriginExchange;
import io.kamille.core.origin.wire.OriginProgress;
import io.kamille.core.origin.wire.RequestConnection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** One request on its way to an origin, over as many attempts as it takes. Confined to its loop. */
final class UpstreamRequest
    implements OriginExchange.Owner, Waiter<RequestConnection>, ContentSource, UploadBuffer.Owner {

  /*
   * Retry says whether a request that failed is sent once more, and where.
   *
   * The first retry goes at once, since it mostly goes to another origin; each further one after a
   * pause by chance, up to twice as long as the last one: what fails again had better be left alone.
   *
   * A request for another protocol may find an origin that offers no HTTP/1.1 within TLS. Clients
   * choose what they ask for, so that a handshake which fails then judges nobody.
   *
   * Content comes in first, as far as there is room. What is not complete by then holds one of the
   * pool's places for uploads, until the content has come to its end, the origin wants no more of
   * it, or the attempt is over.
   *
   * The first time that the client pauses its response, QueuePieces take the content in place
   * of the reply. They outlive the attempt.
   */
  private static final int NOWHERE = OriginChoice.NOWHERE;

  private static final Failure UNAVAILABLE =
      new Failure(
          ErrorType.DESTINATION_UNAVAILABLE,
          503,
          "no origin takes connections; one request tries",
          1);

  private static final Failure NO_ORIGIN =
      new Failure(
          ErrorType.DESTINATION_UNAVAILABLE, 503, "the upstream has no origin at present", 1);

  private final UpstreamShard home;
  private final Exchange exchange;
  private final Reply reply;
  private final RequestContent content;
  private final @Nullable UploadBuffer buffer;
  private final boolean needsHttp11;
  private final IntSupplier taken;
  private @Nullable OriginExchange sent;
  private int place;
  private boolean isProbe;
  private int retries;
  private long sentNanos;
  private boolean wantsFresh;
  private int stale;
  private int untouched;
  private boolean isLeftOver;
  private boolean isMoved;
  private boolean onFresh;
  private boolean onShared;
  private int status;
  private boolean isUpload;
  private boolean isUploading;
  private @Nullable QueuePieces held;
  private boolean isHoldable;
  private boolean isPaused;
  private boolean isResting;
  private boolean over;

  UpstreamRequest(UpstreamShard home, Exchange exchange) {
    this(home, exchange, NOWHERE, () -> NOWHERE);
  }

  /**
   * One of two ways of a request: the second one has its place from the beginning.
   *
   * @param taken the place that the other way has at present, or {@link OriginChoice#NOWHERE}
   */
  UpstreamRequest(UpstreamShard home, Exchange exchange, int place, IntSupplier taken) {
    this.home = home;
    this.place = place;
    this.taken = taken;
    this.isProbe = place != NOWHERE && home.isProbe();
    this.exchange = exchange;
    StickyCookie sticky = home.sticky();
    this.reply = sticky == null ? exchange.reply() : sticky.reply(exchange, () -> this.place);
    RequestContent given = exchange.content();
    this.buffer = UploadBuffer.of(exchange, home.settings().pool(), home.spool(), this);
    this.content = buffer == null ? given : buffer;
    this.needsHttp11 = home.pools().needsHttp11(exchange.request());
    this.retries = place == NOWHERE ? home.settings().retries() : 0;
  }

  /** Where it was sent last; {@link OriginChoice#NOWHERE} before that. */
  int place() {
    return place;
  }

  void start() {
    if (place != NOWHERE) {
      reply.open(this);
      begin();
      return;
    }
    home.budget().earn();
    reply.open(this);
    if (!over && buffer != null) {
      buffer.fill();
    } else if (!over) {
      ask();
    }
  }

  @Override
  public void contentIsReady() {
    ask();
  }

  @Override
  public void contentBroke(Failure why) {
    over = true;
    reply.fail(why);
  }

  private void ask() {
    isUpload = content.length() != 0 && (buffer == null || !buffer.isComplete());
    place = home.choose(exchange);
    isProbe = home.isProbe();
    if (place == NOWHERE) {
      giveUp(home.originCount() == 0 ? NO_ORIGIN : UNAVAILABLE);
    } else {
      begin();
    }
  }

  /** All origins take no connections, and others try them already. */
  private void giveUp(Failure why) {
    home.counters().failure(why);
    fail(why);
  }

  private void fail(Failure why) {
    over = true;
    drop(why);
    reply.fail(why);
  }

  /** Content that no connection has taken is of no use any more. */
  private void drop(Failure why) {
    if (buffer != null) {
      buffer.letGo();
      buffer.cancel(why);
    }
  }

  private void begin() {
    Origin origin = home.origin(place);
    exchange.notes().origin(origin.name());
    exchange.notes().mark(TraceStep.ORIGIN, origin.name());
    origin.begin();
    home.counters().request(place);
    ConnectionPool<RequestConnection> pool = pool();
    RequestConnection idle = wantsFresh ? null : pool.take(isUpload);
    if (idle == null) {
      pool.await(this);
    } else {
      lend(idle);
    }
  }

  private ConnectionPool<RequestConnection> pool() {
    return needsHttp11 ? home.pools().ofHttp11(place) : home.pools().of(place);
  }

  @Override
  public boolean isUpload() {
    return isUpload;
  }

  @Override
  public void lend(RequestConnection lent) {
    onFresh = lent.isFresh();
    onShared = lent.isShared();
    OriginExchange begun = lent.exchange();
    sent = begun;
    isUploading = isUpload;
    sentNanos = home.nanos();
    exchange.notes().mark(TraceStep.SEND, onFresh ? "new connection" : "used connection");
    if (onFresh) {
      home.origin(place).health().reached();
    }
    if (buffer != null && (onShared || exchange.request().method().isIdempotent())) {
      buffer.keepIfWhole();
    }
    begun.send(exchange, content, reply, this);
    if (isPaused) {
      begun.pause();
    }
  }

  @Override
  public void refuse(Failure why) {
    exchange.notes().mark(TraceStep.FAILED_ATTEMPT, why.reason());
    home.origin(place).finish();
    home.counters().failure(why);
    boolean isOurs = why.kind() == ErrorType.CONNECTION_LIMIT_REACHED;
    if (!isOurs && !(needsHttp11 && isOfHandshake(why.kind()))) {
      home.unreachable(place);
    } else {
      leaveProbe();
    }
    Retry retry = Retry.withoutConnection(why, home.originCount() > 1, isMoved, canPay());
    isMoved = false;
    isLeftOver = false;
    if (!tryAgain(retry)) {
      fail(why);
    }
  }

  private static boolean isOfHandshake(ErrorType kind) {
    return switch (kind) {
      case TLS_PROTOCOL_ERROR, TLS_CERTIFICATE_ERROR, TLS_ALERT_RECEIVED, CONNECTION_TERMINATED ->
          true;
      default -> false;
    };
  }

  /** Begins another attempt if the retry and the origins allow. Returns whether it did. */
  private boolean tryAgain(Retry retry) {
    boolean goes =
        switch (retry.where()) {
          case NOWHERE -> false;
          case SAME -> true;
          case ANOTHER -> moveToAnother();
          case ANOTHER_OR_SAME -> moveToAnother() || !home.origin(place).health().isBarred();
        };
    if (goes) {
      if (retry.isPaid()) {
        retries--;
        home.budget().spend();
      }
      over = false;
      again();
    }
    return goes;
  }

  private boolean moveToAnother() {
    int other = home.choose(exchange, place);
    if (other == NOWHERE) {
      return false;
    }
    if (other == taken.getAsInt()) {
      leaveProbe(home.isProbe(), other);
      return false;
    }
    place = other;
    isProbe = home.isProbe();
    return true;
  }

  /** An attempt that judges nobody is no probe. */
  private void leaveProbe() {
    leaveProbe(isProbe, place);
    isProbe = false;
  }

  private void leaveProbe(boolean isClaimed, int at) {
    if (isClaimed) {
      home.origin(at).health().leaveProbe(home.nanos());
    }
  }

  private boolean canPay() {
    return retries > 0 && home.budget().has();
  }

  @Override
  public void answered(ResponseHead head) {
    status = head.status();
    if (buffer != null) {
      buffer.letGo();
    }
    if (exchange.notes().trace() != null) {
      exchange.notes().mark(TraceStep.RESPONSE, Integer.toString(status));
    }
    isHoldable = home.settings().pool().holds(head);
    long nanos = home.nanos() - sentNanos;
    exchange.notes().originNanos(nanos);
    home.answered(place, head, nanos);
  }

  @Override
  public void ended() {
    exchange.notes().mark(TraceStep.RESPONSE_END, "");
    home.ended(place, status);
    finish();
  }

  @Override
  public void failed(Failure why, OriginProgress reached, boolean isCounted) {
    exchange.notes().mark(TraceStep.FAILED_ATTEMPT, why.reason());
    OriginProgress progress = isContentAtHand() ? reached : OriginProgress.BEGUN;
    boolean isUntouched = Retry.isUntouched(progress, untouched);
    boolean isStale = !isUntouched && Retry.isStale(why, progress, onFresh, onShared, stale);
    boolean isFree = isStale || isUntouched;
    boolean isJudged = !isStale && (!isUntouched || isProbe);
    if (isCounted && isJudged && why.side() == Failure.Side.ORIGIN) {
      home.failed(place);
    } else if (status == 0) {
      leaveProbe();
    }
    finish();
    home.counters().failure(why);
    boolean isBound = home.binds() && home.isUsable(place);
    boolean isIdempotent = exchange.request().method().isIdempotent();
    Retry retry = Retry.afterAttempt(why, progress, isIdempotent, isFree, isBound, canPay());
    wantsFresh = progress == OriginProgress.UNKNOWN;
    isLeftOver = progress == OriginProgress.LEFT;
    stale += isStale ? 1 : 0;
    untouched += isUntouched ? Retry.untouchedCost(progress) : 0;
    isMoved = retry.where() == Retry.Where.SAME;
    if (!tryAgain(retry)) {
      if (status == 0) {
        fail(why);
      } else {
        drop(why);
        (held == null ? reply : held).abort(why);
      }
    }
  }

  private boolean isContentAtHand() {
    return sent == null || !sent.hasTakenContent() || (buffer != null && buffer.again());
  }

  private void again() {
    home.counters().retry();
    double chance = ThreadLocalRandom.current().nextDouble();
    int number = home.settings().retries() - retries + untouched / Retry.REFUSAL_COST;
    long pauseNanos = isLeftOver ? 0 : RetryBudget.pauseNanos(number, chance);
    if (pauseNanos == 0) {
      begin();
      return;
    }
    isResting = true;
    exchange.loop().schedule(this::rested, pauseNanos, TimeUnit.NANOSECONDS);
  }

  private void rested() {
    isResting = false;
    if (!over) {
      begin();
    }
  }

  private void finish() {
    over = true;
    sent = null;
    home.origin(place).finish();
    uploaded();
  }

  /** Another upload may have its place. */
  @Override
  public void uploaded() {
    if (isUploading) {
      isUploading = false;
      pool().uploaded();
    }
  }

  // The client's side

  @Override
  public void pause() {
    isPaused = true;
    if (held == null && isHoldable && sent != null && sent.awaitsContent()) {
      hold(sent);
    } else if (held != null) {
      held.pause();
    } else if (sent != null) {
      sent.pause();
    }
  }

  /** Takes the rest of the response from the origin, though the client is slow. */
  private void hold(OriginExchange present) {
    long mostBytes = home.settings().pool().responseBufferBytes();
    var queue =
        new QueuePieces(present, exchange.loop(), mostBytes, mostBytes, home.spool()) {
          @Override
          protected void stopSource(Failure why) {
            present.fail(why);
          }
        };
    held = queue;
    queue.pause();
    queue.giveTo(reply);
    present.divert(queue);
    if (present.isPaused()) {
      present.resume();
    }
  }

  @Override
  public void resume() {
    isPaused = false;
    if (held != null) {
      held.resume();
    } else if (sent != null) {
      sent.resume();
    }
  }

  @Override
  public void cancel(Failure why) {
    ContentSource present = held == null ? sent : held;
    if (over) {
      if (held != null) {
        held.cancel(why);
      }
      return;
    }
    if (place == NOWHERE || isResting) {
      over = true;
      drop(why);
      return;
    }
    if (present == null) {
      leaveProbe();
      pool().leave(this);
    }
    finish();
    if (present != null) {
      present.cancel(why);
    }
    drop(why);
  }
}
