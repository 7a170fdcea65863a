package io.kamille.core.origin.send;

import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.metric.MetricDescriptor;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Sends copies of requests to a second upstream, whose answers nobody sees. Any thread. */
public final class MirrorHandler implements ExchangeHandler {

  /*
   * The copy is an exchange of its own, begun once the first upstream has the request: whatever
   * becomes of it, the first one knows nothing of it. A mirror that never answers holds so many
   * copies, each until a time-out of its upstream, and gets no more meanwhile. One that sends very
   * much is cut off.
   *
   * Unsafe methods are not copied: both upstreams may write to one database. Content would have to
   * be kept for the slower of the two.
   */
  static final int MOST_UNDER_WAY = 256;
  private static final long MOST_CONTENT_BYTES = 1 << 20;

  public static final MetricDescriptor DROPPED =
      MetricDescriptor.counter(
          "kamille_mirror_dropped_total",
          "Requests that were not copied to a mirror, because too many copies were under way.");

  private static final System.Logger LOG = System.getLogger("kamille.upstream");

  private final ExchangeHandler first;
  private final ExchangeHandler mirror;
  private final LongAdder dropped;
  private final AtomicInteger underWay = new AtomicInteger();

  /** Copies what goes to {@code first}; {@code dropped} counts requests that are not copied. */
  public MirrorHandler(ExchangeHandler first, ExchangeHandler mirror, LongAdder dropped) {
    this.first = first;
    this.mirror = mirror;
    this.dropped = dropped;
  }

  @Override
  public void handle(Exchange exchange) {
    if (!isCopied(exchange)) {
      first.handle(exchange);
      return;
    }
    // Before: the connection may reuse the exchange and its head when the first one has answered.
    RequestHead copy = exchange.request().copy();
    EventLoop loop = exchange.loop();
    InetSocketAddress client = exchange.client();
    InetSocketAddress local = exchange.local();
    first.handle(exchange);
    if (underWay.incrementAndGet() > MOST_UNDER_WAY) {
      underWay.decrementAndGet();
      dropped.increment();
      return;
    }
    Dropping reply = new Dropping();
    try {
      mirror.handle(new Exchange(loop, client, local, copy, RequestContent.NONE, reply));
    } catch (RuntimeException bug) {
      LOG.log(Level.ERROR, "a copy for a mirror failed by a fault of ours", bug);
      reply.end(null);
    }
  }

  private boolean isCopied(Exchange exchange) {
    RequestHead request = exchange.request();
    return request.method().isSafe()
        && exchange.content().length() == 0
        && !request.fields().has(FieldName.UPGRADE);
  }

  /** Copies under way. */
  int underWay() {
    return underWay.get();
  }

  /** Drops an answer. Confined to its loop. */
  private final class Dropping extends DiscardingReply {

    private long octets;

    Dropping() {
      super(underWay::decrementAndGet);
    }

    @Override
    public void write(ByteBuf chunk) {
      octets += chunk.readableBytes();
      super.write(chunk);
      if (octets > MOST_CONTENT_BYTES) {
        leave("a mirror's response is too long");
      }
    }
  }
}
