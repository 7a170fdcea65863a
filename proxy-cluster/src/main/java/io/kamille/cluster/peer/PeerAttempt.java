package io.kamille.cluster.peer;

import io.kamille.cache.serve.StoredReply;
import io.kamille.cluster.peer.PeerLink.Result;
import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.exchange.Failure.Side;
import io.kamille.core.exchange.PassingReply;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.ResponseHead.Relay;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One request to another node. Confined to its loop. */
final class PeerAttempt extends PassingReply implements ContentSource {

  /*
   * A response that does not say which purges it knows of is the node's own: it is overloaded, has
   * no such route, or nothing stored for only-if-cached. Then somebody else is asked. What its
   * origin said, or failed to, is passed on, be it an error.
   *
   * What the node has stored knows of all purges that we had applied when we asked, or the number
   * in the response is lower, and the response is not stored here. Purges that we applied since are
   * later than the moment that the cache noted before it sent the request on, and are found as for
   * any fetch.
   *
   * What is stale there, as after a soft purge, is passed on and not stored: here it could count as
   * fresh.
   */
  private static final Relay KEPT = new Relay("peer", true);
  private static final Relay PASSED = new Relay("peer", false);
  private static final Failure ANOTHER =
      Failure.of(ErrorType.DESTINATION_UNAVAILABLE, "another node is asked");

  private final Peers peers;
  private final PeerLink link;
  private final long key;
  private final Exchange exchange;
  private final long applied;
  private final boolean isKept;
  private final Runnable otherwise;
  private final Runnable leave;
  private ContentSource source = ContentSource.NONE;
  private boolean waits;
  private final long beganNanos = System.nanoTime();
  private long toldNanos = beganNanos;
  private @Nullable Future<?> watch;

  /**
   * An attempt.
   *
   * @param otherwise what to do if the node is of no help; on the loop
   */
  PeerAttempt(Peers peers, PeerLink link, Exchange exchange, Peers.Plan plan, Runnable otherwise) {
    super(exchange.reply());
    this.peers = peers;
    this.link = link;
    this.key = plan.key();
    this.exchange = exchange;
    this.applied = plan.applied();
    this.isKept = plan.isKept();
    this.otherwise = otherwise;
    this.leave = () -> exchange.loop().execute(this::giveUp);
  }

  /** Asks, for what the node has stored if {@code onlyIfCached}. */
  void start(boolean onlyIfCached) {
    RequestHead asked = exchange.request().copy();
    PeerFields.tell(asked.fields(), applied, exchange);
    if (onlyIfCached) {
      asked.fields().set(FieldName.CACHE_CONTROL, "only-if-cached");
    }
    link.waiting().add(leave);
    waits = !onlyIfCached;
    if (waits) {
      peers.waiting().merge(key, 1, Integer::sum);
    }
    if (link.isClosed()) {
      giveUp();
    } else {
      watch(patience());
      link.handler().handle(exchange.behind(asked, this));
    }
  }

  /** Twice as long as the node takes until it says something: see PeerEntrance. */
  private long patience() {
    return toldNanos - beganNanos + 2 * peers.aliveNanos();
  }

  private void watch(long nanos) {
    long due = System.nanoTime() + nanos;
    watch = exchange.loop().schedule(() -> giveUpIfSilent(due), nanos, TimeUnit.NANOSECONDS);
  }

  private void giveUpIfSilent(long due) {
    long now = System.nanoTime();
    long left = Math.max(toldNanos, link.heardNanos()) + patience() - now;
    if (left > 0) {
      watch(left);
    } else if (now - due > peers.aliveNanos()) {
      // We were late ourselves, and have not read what came.
      watch(peers.aliveNanos());
    } else {
      link.silent(now);
      giveUp();
    }
  }

  private void giveUp() {
    if (endWait()) {
      link.count(Result.FAILED);
      source.cancel(ANOTHER);
      otherwise.run();
    }
  }

  /** Nobody need tell it of the node any more; whether it has waited until now. */
  private boolean endWait() {
    boolean isWaiting = link.waiting().remove(leave);
    if (watch != null) {
      watch.cancel(false);
    }
    if (isWaiting && waits) {
      peers.waiting().computeIfPresent(key, (_, count) -> count == 1 ? null : count - 1);
    }
    return isWaiting;
  }

  @Override
  public void open(ContentSource opened) {
    source = opened;
    super.open(this);
  }

  @Override
  public void interim(ResponseHead head) {
    link.heard();
    toldNanos = System.nanoTime();
    if (head.status() != PeerFields.ALIVE) {
      super.interim(head);
    }
  }

  @Override
  public void head(ResponseHead head, long contentLength) {
    link.heard();
    long known = PeerFields.applied(head.fields());
    if (known == PeerFields.UNKNOWN) {
      giveUp();
      return;
    }
    endWait();
    String status = head.fields().joined(FieldName.CACHE_STATUS);
    link.count(status != null && status.contains(link.hit()) ? Result.HIT : Result.MISS);
    boolean isStale = !head.fields().all(StoredReply.STALE).isEmpty();
    PeerFields.remove(head.fields());
    head.relay(isKept && !isStale && known >= applied ? KEPT : PASSED);
    super.head(head, contentLength);
  }

  @Override
  public void end(@Nullable Fields trailers) {
    if (trailers != null) {
      PeerFields.remove(trailers);
    }
    super.end(trailers);
  }

  @Override
  public void fail(Failure why) {
    if (why.side() == Side.CLIENT) {
      endWait();
      super.fail(why);
    } else {
      giveUp();
    }
  }

  // From the client

  @Override
  public void pause() {
    source.pause();
  }

  @Override
  public void resume() {
    source.resume();
  }

  @Override
  public void cancel(Failure why) {
    endWait();
    source.cancel(why);
  }
}
