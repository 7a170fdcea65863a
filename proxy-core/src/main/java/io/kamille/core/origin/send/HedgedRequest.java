package io.kamille.core.origin.send;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.choose.OriginChoice;
import io.netty.buffer.ByteBuf;
import io.netty.channel.FileRegion;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A request that goes to a second origin too if the first one keeps it waiting or cannot serve it;
 * the first good head wins. Confined to its loop.
 */
final class HedgedRequest implements ContentSource {

  /*
   * Each way is a UpstreamRequest with a reply of its own. Whoever gets a final head first has the
   * client, and the other way is cancelled. A 502, 503 or 504 wins only where no other way is open.
   *
   * If the first way gets one of these, it is given up for the second, which has the hedge's delay
   * and at least a second to answer. If none comes, the client gets the first way's status and
   * Retry-After. Its content is not kept: that would hold a connection for a rare case.
   *
   * Interim responses of a second way are dropped until it has won: the first way had its own.
   * Each second way is paid for from the budget of retries, so that a slow upstream gets no more
   * than a fifth of requests on top.
   *
   * A first way that loses counts among the failures of its origin's last requests. So an origin
   * that is slower than the others at most of its requests goes out, which is all there is of
   * ejection by latency: where all are slow, none loses much.
   *
   * The exchange may serve another request once its reply has ended: a way that lost must not live
   * so long.
   */
  private static final Failure LOST =
      new Failure(ErrorType.CLIENT_GONE, 0, "another origin answered first");

  private static final long LEAST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final UpstreamShard home;
  private final Exchange exchange;
  private final Reply client;
  private final Way first;
  private final long startNanos;
  private @Nullable Way second;
  private @Nullable Way winner;
  private @Nullable Failure refusal;
  private @Nullable Future<?> timer;
  private boolean isPaused;
  private boolean isOver;

  HedgedRequest(UpstreamShard home, Exchange exchange) {
    this.home = home;
    this.exchange = exchange;
    this.client = exchange.reply();
    this.startNanos = home.nanos();
    first = new Way(exchange::behind, OriginChoice.NOWHERE, () -> placeIfOpen(second));
  }

  /** Whether such a request may go to two origins. */
  static boolean suits(Exchange exchange) {
    RequestHead request = exchange.request();
    return (request.method() == Method.GET || request.method() == Method.HEAD)
        && exchange.content().length() == 0
        && !request.fields().has(FieldName.UPGRADE);
  }

  void start() {
    client.open(this);
    if (isOver) {
      return;
    }
    long delayNanos = home.hedgeNanos();
    if (delayNanos > 0) {
      timer = exchange.loop().schedule(this::late, delayNanos, TimeUnit.NANOSECONDS);
    }
    first.start();
  }

  private void late() {
    if (winner == null && !isOver) {
      trySecond();
    }
  }

  /** Whether there is a second way now, which was not refused at once. */
  private boolean trySecond() {
    // The budget first: a choice may use up the probe that an origin is due for.
    if (second != null || !home.budget().has()) {
      return false;
    }
    int place = home.chooseIn(exchange, first.place());
    if (place == OriginChoice.NOWHERE || !home.budget().spend()) {
      return false;
    }
    home.counters().hedge();
    Way way = new Way(this::besides, place, () -> placeIfOpen(first));
    second = way;
    way.start();
    return way.isOpen || winner == way;
  }

  /** The same request with a reply and notes of its own. */
  private Exchange besides(Reply reply) {
    return new Exchange(
        exchange.loop(),
        exchange.client(),
        exchange.local(),
        exchange.request(),
        RequestContent.NONE,
        reply);
  }

  private static int placeIfOpen(@Nullable Way way) {
    return way != null && way.isOpen ? way.place() : OriginChoice.NOWHERE;
  }

  private boolean isOtherOpen(Way way) {
    Way other = way == first ? second : first;
    return other != null && other.isOpen;
  }

  /** The first way got this head, and the second one may do better. */
  private void refused(ResponseHead head) {
    if (winner != null) {
      return;
    }
    int seconds = Math.clamp(home.retryAfterSeconds(head), 0, Integer.MAX_VALUE);
    refusal =
        new Failure(
            ErrorType.DESTINATION_UNAVAILABLE,
            head.status(),
            "an origin answered " + head.status() + ", and another one not at all",
            seconds);
    stopTimer();
    long waitNanos = Math.max(home.hedgeNanos(), LEAST_WAIT_NANOS);
    timer = exchange.loop().schedule(this::waitedLong, waitNanos, TimeUnit.NANOSECONDS);
  }

  private void waitedLong() {
    Failure why = refusal;
    if (winner == null && !isOver && why != null) {
      cancel(LOST);
      client.fail(why);
    }
  }

  private void win(Way way, boolean isServed) {
    winner = way;
    stopTimer();
    if (way == first && isServed) {
      home.tail().sample(home.nanos() - startNanos);
    } else if (way != first) {
      String name = home.origin(way.place()).name();
      exchange.notes().origin(name);
      exchange.notes().originNanos(home.nanos() - startNanos);
    }
    if (second != null) {
      Way other = way == first ? second : first;
      if (other == first && other.isOpen) {
        home.tail().late();
        home.lost(other.place());
      }
      other.cancel(LOST);
    }
  }

  private void stopTimer() {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  // The client's side

  @Override
  public void pause() {
    isPaused = true;
    first.pause();
    if (second != null) {
      second.pause();
    }
  }

  @Override
  public void resume() {
    isPaused = false;
    first.resume();
    if (second != null) {
      second.resume();
    }
  }

  @Override
  public void cancel(Failure why) {
    isOver = true;
    stopTimer();
    first.cancel(why);
    if (second != null) {
      second.cancel(why);
    }
  }

  /** One of the two, as the origin's side sees the reply. */
  private final class Way extends PassingReply {

    private final UpstreamRequest request;
    private ContentSource source = ContentSource.NONE;
    private boolean isOpen;

    /**
     * A way still to be started.
     *
     * @param exchange for the reply that this is
     * @param place of its origin, if that is known
     * @param taken the place that the other way has at present
     */
    Way(Function<Reply, Exchange> exchange, int place, IntSupplier taken) {
      super(client);
      request = new UpstreamRequest(home, exchange.apply(this), place, taken);
    }

    int place() {
      return request.place();
    }

    void start() {
      isOpen = true;
      request.start();
    }

    void pause() {
      source.pause();
    }

    void resume() {
      source.resume();
    }

    void cancel(Failure why) {
      if (isOpen) {
        isOpen = false;
        source.cancel(why);
      }
    }

    private boolean isClients() {
      return winner == this;
    }

    @Override
    public void open(ContentSource source) {
      this.source = source;
      if (isPaused) {
        source.pause();
      }
    }

    @Override
    public void interim(ResponseHead head) {
      if (isClients() || (winner == null && this == first)) {
        super.interim(head);
      }
    }

    @Override
    public void head(ResponseHead head, long contentLength) {
      if (!isOpen) {
        return;
      }
      if (OriginHealth.isFailing(head.status()) && (isOtherOpen(this) || trySecond())) {
        home.ended(place(), head.status());
        cancel(LOST);
        if (this == first) {
          refused(head);
        }
        return;
      }
      win(this, head.status() < StatusCode.INTERNAL_SERVER_ERROR);
      super.head(head, contentLength);
    }

    @Override
    public void write(ByteBuf chunk) {
      if (isClients()) {
        super.write(chunk);
      } else {
        chunk.release();
      }
    }

    @Override
    public void write(FileRegion region) {
      if (isClients()) {
        super.write(region);
      } else {
        region.release();
      }
    }

    @Override
    public void end(@Nullable Fields trailers) {
      isOpen = false;
      if (isClients()) {
        super.end(trailers);
      }
    }

    @Override
    public void abort(Failure why) {
      isOpen = false;
      if (isClients()) {
        super.abort(why);
      }
    }

    @Override
    public void fail(Failure why) {
      isOpen = false;
      if (!isOver && !isOtherOpen(this)) {
        isOver = true;
        stopTimer();
        super.fail(refusal == null ? why : refusal);
      }
    }
  }
}
