package io.kamille.cluster.peer;

import io.kamille.core.exchange.ContentSource;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Field;
import io.kamille.core.exchange.Failure.Side;
import io.kamille.core.exchange.LabelledReply;
import io.kamille.core.exchange.LabelledReply.Label;
import io.kamille.core.exchange.Reply;
import io.kamille.core.exchange.ReplyHandover;
import io.kamille.core.http.Method;
import io.kamille.core.http.NamedClient;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.RequestHead.Sender;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.tls.ClientCertificate;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Where the requests of other nodes come in: each goes on as if its client had come to us. Any
 * loop.
 */
public final class PeerEntrance implements ExchangeHandler {

  /*
   * A node that has applied a purge must not get from us what the purge was about. If we are
   * behind, we wait a moment for the purge; then what we have stored is no answer.
   *
   * An origin may be slow, and whoever waits for us must know that we are there. So we say 102 after
   * a while, and again after twice that time, as long as there is no response.
   *
   * While members do not agree on an owner, two nodes may ask each other. Their requests would wait
   * for those of clients, and those for them: so who waits for the same goes past the cache.
   */
  private static final int POLLS = 20;
  private static final long POLL_MILLIS = 5;

  private static final Failure NO_NODE =
      Failure.request(StatusCode.BAD_REQUEST, "no node of a cluster asks so");

  private final Peers peers;
  private final ExchangeHandler routes;
  // Volatile: replaced once there was a purge; whoever reads an old one makes another.
  private volatile Stamp stamp = new Stamp(0);

  /** Which purges a response knows of, as it says so. */
  private record Stamp(long applied, Label label) {

    Stamp(long applied) {
      this(applied, Label.of(PeerFields.APPLIED, Long.toString(applied)));
    }
  }

  /** Has them go on to {@code routes}. */
  public PeerEntrance(Peers peers, ExchangeHandler routes) {
    this.peers = peers;
    this.routes = routes;
  }

  @Override
  public void handle(Exchange exchange) {
    RequestHead request = exchange.request();
    PeerFields told = PeerFields.of(request.fields());
    boolean isRead = request.method() == Method.GET || request.method() == Method.HEAD;
    if (told == null || !isRead || exchange.content().length() != 0) {
      exchange.reply().fail(NO_NODE);
      return;
    }
    RequestHead asked = request.copy();
    PeerFields.remove(asked.fields());
    ClientCertificate.tell(null, asked.fields());
    asked.secure(told.isSecure());
    if (told.proxy() != null) {
      asked.named(new NamedClient(told.client(), told.proxy()));
    }
    ReplyHandover client = ReplyHandover.of(exchange.reply());
    Exchange own = exchange.of(told.client(), asked, client);
    if (peers.view().applied() >= told.applied()) {
      goOn(own, told.applied());
    } else {
      new Held(own, told.applied(), client).begin();
    }
  }

  private void goOn(Exchange exchange, long wanted) {
    long applied = peers.view().applied();
    RequestHead request = exchange.request();
    boolean isAnswered = applied >= wanted && !peers.waitsFor(request);
    request.sender(isAnswered ? Sender.PROXY : Sender.PROXY_PAST_CACHE);
    Stamp now = stamp;
    if (now.applied() != applied) {
      now = new Stamp(applied);
      stamp = now;
    }
    routes.handle(exchange.behind(new NumberedReply(exchange.reply(), now.label())));
    tellAlive(exchange, peers.aliveNanos());
  }

  private static void tellAlive(Exchange exchange, long afterNanos) {
    Reply reply = exchange.reply();
    if (!reply.isBegun() && !reply.isEnded()) {
      exchange
          .loop()
          .schedule(
              () -> {
                if (!reply.isBegun() && !reply.isEnded()) {
                  reply.interim(ResponseHead.of(PeerFields.ALIVE));
                  tellAlive(exchange, 2 * afterNanos);
                }
              },
              afterNanos,
              TimeUnit.NANOSECONDS);
    }
  }

  /** A request that waits for a purge. Confined to its loop. */
  private final class Held implements ContentSource {

    private final Exchange exchange;
    private final long wanted;
    private final ReplyHandover client;
    private int polls;
    private boolean isGone;

    Held(Exchange exchange, long wanted, ReplyHandover client) {
      this.exchange = exchange;
      this.wanted = wanted;
      this.client = client;
    }

    void begin() {
      client.open(this);
      await();
    }

    private void await() {
      exchange.loop().schedule(this::checkApplied, POLL_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void checkApplied() {
      polls++;
      if (isGone) {
        return;
      }
      if (polls < POLLS && peers.view().applied() < wanted) {
        await();
      } else {
        goOn(exchange, wanted);
      }
    }

    @Override
    public void pause() {}

    @Override
    public void resume() {}

    @Override
    public void cancel(Failure why) {
      isGone = true;
    }
  }

  /** Says of each response which purges it knows of, of failures of its origin too. */
  private static final class NumberedReply extends LabelledReply {

    private final Label label;

    NumberedReply(Reply reply, Label label) {
      super(reply, List.of(label));
      this.label = label;
    }

    @Override
    public void fail(Failure why) {
      if (why.side() != Side.ORIGIN || why.field() != null) {
        super.fail(why);
        return;
      }
      Field field = new Field(label.name(), label.value());
      super.fail(
          new Failure(why.kind(), why.status(), why.reason(), why.retryAfterSeconds(), field));
    }
  }
}
