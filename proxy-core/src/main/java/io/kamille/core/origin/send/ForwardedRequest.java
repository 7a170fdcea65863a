package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.choose.OriginChoice;
import io.kamille.core.origin.choose.StickyCookie;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.pool.Waiter;
import io.kamille.core.origin.wire.Attempt;
import io.kamille.core.origin.wire.Repeat;
import io.kamille.core.origin.wire.RequestCarrier;
import io.kamille.core.origin.wire.RequestConnection;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** One request on its way to an origin, over as many attempts as it takes. Confined to its loop. */
final class ForwardedRequest
    implements Attempt, Waiter<RequestConnection>, ContentSource, UploadBuffer.Owner {

  /*
   * A request is sent once more only where that cannot do harm: nothing of a response came, nothing
   * of the content was taken from the client, and either the method is idempotent or no connection
   * was had at all (RFC 9110 §9.2.2). It goes to another origin if there is one. Where there is
   * none, an origin that just refused a connection is not asked again; but one that closed a
   * connection is, on a new one.
   *
   * An idle connection that turns out closed says nothing about the origin: such an attempt is
   * repeated on a connection made for it, whatever retries are left, and judges nobody. Where a
   * cookie or a key binds requests to origins, it stays at its own; only if that one refuses it, it
   * goes to another, whatever retries are left.
   *
   * A time-out is not repeated: what was slow once will be slow twice, and the client has waited.
   *
   * The first retry goes at once, since it mostly goes to another origin; each further one after a
   * pause by chance, up to twice as long as the last one: what fails again had better be left alone.
   *
   * A request for another protocol may find an origin that offers no HTTP/1.1 within TLS. Clients
   * choose what they ask for, so that a handshake which fails then judges nobody.
   *
   * Content of small, known length comes in first. Any other holds one of the pool's places for
   * uploads, until the content has come to its end, the origin wants no more of it, or the attempt
   * is over.
   */
  private static final int NOWHERE = OriginChoice.NOWHERE;

  private static final Failure UNAVAILABLE =
      new Failure(
          Kind.DESTINATION_UNAVAILABLE, 503, "no origin takes connections; one request tries", 1);

  private static final Failure NO_ORIGIN =
      new Failure(Kind.DESTINATION_UNAVAILABLE, 503, "the upstream has no origin at present", 1);

  private final UpstreamShard home;
  private final Exchange exchange;
  private final Reply reply;
  private final RequestContent content;
  private final @Nullable UploadBuffer buffer;
  private final boolean needsHttp11;
  private final IntSupplier taken;
  private @Nullable RequestCarrier carrier;
  private int place;
  private int retries;
  private long sentNanos;
  private boolean wantsFresh;
  private boolean mayMove;
  private boolean onFresh;
  private int status;
  private boolean isUpload;
  private boolean isUploading;
  private boolean isPaused;
  private boolean isResting;
  private boolean over;

  ForwardedRequest(UpstreamShard home, Exchange exchange) {
    this(home, exchange, NOWHERE, () -> NOWHERE);
  }

  /**
   * One of two ways of a request: the second one has its place from the beginning.
   *
   * @param taken the place that the other way has at present, or {@link OriginChoice#NOWHERE}
   */
  ForwardedRequest(UpstreamShard home, Exchange exchange, int place, IntSupplier taken) {
    this.home = home;
    this.place = place;
    this.taken = taken;
    this.exchange = exchange;
    StickyCookie sticky = home.sticky();
    this.reply = sticky == null ? exchange.reply() : sticky.reply(exchange, () -> this.place);
    RequestContent given = exchange.content();
    this.buffer = given.length() == 0 ? null : home.buffer(given, this);
    this.content =
        given.length() == 0
            ? given
            : new WatchedContent(buffer == null ? given : buffer, this::uploaded);
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
    RequestCarrier present = lent.carrier();
    carrier = present;
    isUploading = isUpload;
    sentNanos = home.nanos();
    exchange.notes().mark(TraceStep.SEND, onFresh ? "new connection" : "used connection");
    if (onFresh) {
      home.origin(place).health().reached();
    }
    if (isPaused) {
      present.pause();
    }
    present.send(this);
  }

  @Override
  public void refuse(Failure why) {
    exchange.notes().mark(TraceStep.FAILED_ATTEMPT, why.reason());
    Origin origin = home.origin(place);
    origin.finish();
    home.counters().failure(why);
    boolean isOurs = why.kind() == Kind.CONNECTION_LIMIT_REACHED;
    if (!isOurs && !(needsHttp11 && isOfHandshake(why.kind()))) {
      home.failed(place, true);
    }
    if (!isOurs && home.originCount() > 1 && (mayMove || mayRetry()) && findsAnother()) {
      mayMove = false;
      again();
    } else {
      fail(why);
    }
  }

  private static boolean isOfHandshake(Kind kind) {
    return switch (kind) {
      case TLS_PROTOCOL_ERROR, TLS_CERTIFICATE_ERROR, TLS_ALERT_RECEIVED, CONNECTION_TERMINATED ->
          true;
      default -> false;
    };
  }

  private boolean findsAnother() {
    int other = home.choose(exchange, place);
    boolean isFree = other != NOWHERE && other != taken.getAsInt();
    if (isFree) {
      place = other;
    }
    return isFree;
  }

  /** Whether its origin may be asked again, where no other may be. */
  private boolean mayStay() {
    return !home.origin(place).health().isBarred();
  }

  @Override
  public Exchange exchange() {
    return exchange;
  }

  @Override
  public Reply reply() {
    return reply;
  }

  @Override
  public RequestContent content() {
    return content;
  }

  @Override
  public void answered(ResponseHead head) {
    status = head.status();
    if (exchange.notes().trace() != null) {
      exchange.notes().mark(TraceStep.RESPONSE, Integer.toString(status));
    }
    home.answered(place, head, home.nanos() - sentNanos);
    if (status >= StatusCode.BAD_REQUEST) {
      uploaded();
    }
  }

  @Override
  public void ended() {
    exchange.notes().mark(TraceStep.RESPONSE_END, "");
    home.ended(place, status);
    finish();
  }

  @Override
  public void failed(Failure why, Repeat repeat, boolean isCounted) {
    exchange.notes().mark(TraceStep.FAILED_ATTEMPT, why.reason());
    boolean ended = why.kind() == Kind.CONNECTION_TERMINATED;
    // Once: a connection that is shared may be lent again, and the origin may fail there again.
    boolean stale = repeat != Repeat.NEVER && !onFresh && !wantsFresh && ended;
    if (isCounted && !stale && why.side() == Failure.Side.ORIGIN) {
      home.failed(place, why, home.nanos() - sentNanos);
    }
    finish();
    home.counters().failure(why);
    boolean stays = stale && home.binds() && home.isUsable(place);
    boolean again =
        ended
            && (repeat == Repeat.ALWAYS || (repeat == Repeat.IF_IDEMPOTENT && isIdempotent()))
            && (stale || mayRetry())
            && (stays || findsAnother() || mayStay());
    if (again) {
      mayMove = stays;
      over = false;
      wantsFresh = true;
      again();
    } else if (status != 0) {
      drop(why);
      reply.abort(why);
    } else {
      fail(why);
    }
  }

  private boolean isIdempotent() {
    return exchange.request().method().isIdempotent();
  }

  private boolean mayRetry() {
    return retries-- > 0 && home.budget().spend();
  }

  private void again() {
    home.counters().retry();
    double chance = ThreadLocalRandom.current().nextDouble();
    long pauseNanos = RetryBudget.pauseNanos(home.settings().retries() - retries, chance);
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
    carrier = null;
    home.origin(place).finish();
    uploaded();
  }

  /** Its content takes no more time: another upload may have its place. */
  private void uploaded() {
    if (isUploading) {
      isUploading = false;
      pool().uploaded();
    }
  }

  // The client's side

  @Override
  public void pause() {
    isPaused = true;
    if (carrier != null) {
      carrier.pause();
    }
  }

  @Override
  public void resume() {
    isPaused = false;
    if (carrier != null) {
      carrier.resume();
    }
  }

  @Override
  public void cancel(Failure why) {
    if (over) {
      return;
    }
    RequestCarrier present = carrier;
    if (place == NOWHERE || isResting) {
      over = true;
      drop(why);
      return;
    }
    if (present == null) {
      pool().leave(this);
    } else if (status == 0 && !isUploading) {
      home.waited(place, home.nanos() - sentNanos);
    }
    finish();
    if (present != null) {
      present.cancel(why);
    }
    drop(why);
  }
}
