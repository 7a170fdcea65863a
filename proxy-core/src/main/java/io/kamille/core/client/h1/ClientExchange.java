package io.kamille.core.client.h1;

import io.kamille.core.client.ObservedExchange;
import io.kamille.core.client.ServerShard;
import io.kamille.core.exchange.ConnectionExchange;
import io.kamille.core.exchange.ContentSink;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.exchange.LimitedSink;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.h1.HeadLimits;
import io.kamille.core.h1.RequestParser;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.netty.buffer.ByteBuf;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;

/**
 * One request of an HTTP/1.1 connection, from the first octet of its head to the last of its
 * content, and how it gets to the first station. Confined to its loop.
 */
final class ClientExchange implements ClientContent.Owner {

  private static final System.Logger LOG = System.getLogger("kamille.server");

  private final ServerShard shared;
  private final ExchangeHandler handler;
  private final HeadLimits limits;
  private final RequestParser parser;
  private final RequestTerms terms = new RequestTerms();
  private final Persistence persistence = new Persistence();
  private final ReplyWriter writer;
  private final ObservedExchange observed;
  private final ClientReply reply;
  private @Nullable Carrier carrier;
  private @Nullable ConnectionExchange exchange;
  private @Nullable ClientContent content;
  private boolean isLastSaid;

  ClientExchange(ServerShard shared, ExchangeHandler handler, ReplyHeads heads, HeadLimits limits) {
    this.shared = shared;
    this.handler = handler;
    this.limits = limits;
    this.parser = new RequestParser(limits);
    this.writer = new ReplyWriter(heads);
    this.observed = new ObservedExchange(shared);
    this.reply = new ClientReply(shared, parser.head(), writer, persistence, observed);
  }

  /** What its parser goes by. */
  HeadLimits limits() {
    return limits;
  }

  ClientReply reply() {
    return reply;
  }

  // The head

  void begin(Carrier carrier) {
    this.carrier = carrier;
    isLastSaid = false;
    parser.reset();
    reply.begin(carrier);
  }

  /** Lets go of everything but the memory worth keeping. */
  void forget() {
    carrier = null;
    content = null;
    reply.forget();
  }

  RequestParser.Outcome parse(ByteBuf in) {
    return parser.parse(in);
  }

  /** Octets of heap that the head takes so far. */
  int headBytes() {
    return parser.heapBytes();
  }

  Failure parseFailure() {
    return parser.failure();
  }

  RequestHead request() {
    return parser.head();
  }

  // The request

  /** Hands the complete request on. */
  void handle() {
    RequestHead head = parser.head();
    Failure trouble = terms.read(head, shared.settings().maxContentBytes());
    boolean isFollowed = trouble == null && terms.isFollowed();
    ClientContent given = isFollowed ? new ClientContent(this, terms.framing()) : null;
    content = given;
    observed.begin();
    persistence.asked(terms.isPersistent(), given);
    isLastSaid = trouble == null && given == null && !terms.isPersistent();
    writer.awaitsContinue(terms.expectsContinue());
    if (trouble != null) {
      refuse(trouble);
      return;
    }
    Exchange current = meet(given == null ? RequestContent.NONE : given);
    if (!head.hasSchemeOfConnection()) {
      reply.fail(
          Failure.request(StatusCode.MISDIRECTED_REQUEST, "another scheme than the connection's"));
    } else if (isAdmitted()) {
      handle(current);
    }
  }

  private boolean isAdmitted() {
    Failure lack = carrier().admission().lackOfRoom(headBytes());
    if (lack != null) {
      persistence.end();
      reply.fail(lack);
      return false;
    }
    Failure refusal = carrier().admission().refusal();
    if (refusal != null) {
      reply.fail(refusal);
    }
    return refusal == null;
  }

  private void handle(Exchange current) {
    try {
      handler.handle(current);
    } catch (RuntimeException | OutOfMemoryError bug) {
      LOG.log(
          Level.ERROR, "an exchange failed by a fault of ours: " + current.request().target(), bug);
      reply.failAndTell(Failure.of(Kind.PROXY_INTERNAL_ERROR, "a fault in the proxy"));
    }
  }

  private Exchange meet(RequestContent given) {
    Carrier here = carrier();
    ConnectionExchange met = exchange;
    if (met == null) {
      met =
          new ConnectionExchange(
              shared.loop(), here.client(), here.local(), parser.head(), given, reply);
      exchange = met;
    } else {
      met.reuse(here.client(), here.local(), parser.head(), given, reply);
    }
    observed.met(met);
    return met;
  }

  /** Answers a request that goes no further; the connection ends with it. */
  void refuse(Failure failure) {
    meet(RequestContent.NONE);
    persistence.end();
    reply.fail(failure);
  }

  /**
   * Whether nobody can still hold on to this exchange: it was answered from the store in one go,
   * before the handler returned.
   */
  boolean isReusable() {
    return content == null && reply.wasStored();
  }

  /** Whether the request has no content, and said that the client sends nothing behind it. */
  boolean isLastSaid() {
    return isLastSaid;
  }

  // What the client sends

  boolean wantsContent() {
    return content != null && content.isWanted();
  }

  /** Whether the client sends its content slower than it must. */
  boolean isUploadTooSlow() {
    return content != null && content.isTooSlow(shared.nowNanos(), shared.settings());
  }

  /** Borrows the buffer. */
  void contentArrived(ByteBuf in) {
    writer.awaitsContinue(false);
    carrier().progress();
    if (content != null) {
      content.arrived(in);
      reply.endIfOver();
    }
  }

  /** The content is malformed, late or cut short: the connection ends, everyone concerned hears. */
  @Override
  public void breakOff(Failure why) {
    reply.breakOff(why);
  }

  boolean isTunnelStarted() {
    ClientTunnel tunnel = reply.tunnel();
    return tunnel != null && tunnel.isStarted();
  }

  /** Takes ownership. */
  void tunnelArrived(ByteBuf in) {
    ClientTunnel tunnel = reply.tunnel();
    if (tunnel == null) {
      in.release();
    } else {
      tunnel.arrived(in);
    }
  }

  void tunnelInputClosed() {
    ClientTunnel tunnel = reply.tunnel();
    if (tunnel != null) {
      tunnel.end();
      reply.endIfTunnelIsOver();
    }
  }

  // What the content asks for

  @Override
  public long now() {
    shared.time().look();
    return shared.nowNanos();
  }

  @Override
  public boolean awaitsContinue() {
    return writer.awaitsContinue();
  }

  @Override
  public void sendContinue() {
    if (!reply.isBegun() && reply.isUnderWay()) {
      writer.sendContinue();
    }
  }

  @Override
  public void wantContent() {
    if (reply.isUnderWay()) {
      carrier().progress();
      carrier().processWaiting();
    }
  }

  @Override
  public void readMore(boolean wanted) {
    if (reply.isUnderWay()) {
      carrier().readMore(wanted);
    }
  }

  @Override
  public ContentSink limited(ContentSink sink) {
    long limit = shared.settings().maxContentBytes();
    return limit == Long.MAX_VALUE ? sink : new LimitedSink(sink, limit, this::contentIsTooLarge);
  }

  private void contentIsTooLarge() {
    if (reply.isUnderWay()) {
      breakOff(Failure.request(StatusCode.CONTENT_TOO_LARGE, "content over its limit"));
    }
  }

  @Override
  public void contentCancelled() {
    persistence.contentIsDropped();
    if (reply.isOver()) {
      reply.endIfOver();
    } else {
      wantContent();
    }
  }

  @Override
  public boolean startTunnel(ContentSink sink) {
    ClientTunnel tunnel = reply.tunnel();
    return tunnel != null && tunnel.start(sink);
  }

  @Override
  public boolean cancelTunnel() {
    ClientTunnel tunnel = reply.tunnel();
    if (tunnel == null || !tunnel.isOpen()) {
      return false;
    }
    tunnel.close();
    reply.endIfTunnelIsOver();
    return true;
  }

  private Carrier carrier() {
    if (carrier == null) {
      throw new IllegalStateException("carrier: the exchange has no connection");
    }
    return carrier;
  }
}
