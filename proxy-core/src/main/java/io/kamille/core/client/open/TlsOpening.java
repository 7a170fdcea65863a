package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.kamille.core.tls.ClientCertificate;
import io.kamille.core.tls.HandshakeCounters;
import io.kamille.core.tls.ServerContext;
import io.kamille.core.tls.ServerTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.LinkedHashSet;
import java.util.Set;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * A connection during its TLS handshake: the server name chooses the certificate, ALPN what is
 * spoken then. Confined to its loop.
 */
final class TlsOpening extends OpeningConnection {

  private static final int MOST_HELLO_BYTES = 16 * 1024;

  private final Spoken spoken;
  private final ServerTls tls;
  private final Channel channel;
  private final HandshakeCounters counters;
  private final Accepted accepted;
  private final UnderWay underWay;
  private @Nullable ServerContext certificates;
  private boolean isDisplaced;

  TlsOpening(Spoken spoken, ServerTls tls, UnderWay underWay, Accepted accepted) {
    super(spoken.shared(), accepted.channel());
    this.spoken = spoken;
    this.tls = tls;
    this.underWay = underWay;
    this.channel = accepted.channel();
    this.counters = tls.counters();
    this.accepted = accepted;
  }

  /** Puts what reads the ClientHello before this into the pipeline. */
  void begin() {
    channel.pipeline().addLast(new NameReader()).addLast(this);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    super.handlerAdded(context);
    underWay.begun(this);
  }

  @Override
  void leave() {
    super.leave();
    underWay.over(this);
  }

  /** Yields to a newer one: ends, and is over by then. */
  private void displace() {
    isDisplaced = true;
    counters.displaced();
    close();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
      super.userEventTriggered(context, event);
    } else if (handshake.isSuccess()) {
      SslHandler handler = channel.pipeline().get(SslHandler.class);
      SSLSession session = handler.engine().getSession();
      counters.succeeded(session.getProtocol());
      ServerContext own = certificates;
      Accepted known =
          own != null && own.asksClients()
              ? accepted.with(ClientCertificate.of(session))
              : accepted;
      becomes(spoken.over(handler.applicationProtocol(), known, tls, own));
    } else if (!isDisplaced) {
      counters.failed();
    }
  }

  /** Reads the ClientHello and gives way to the TLS of the name in it. */
  private final class NameReader extends AbstractSniHandler<ServerTls.Choice> {

    NameReader() {
      super(MOST_HELLO_BYTES, 0);
    }

    @Override
    protected Future<ServerTls.Choice> lookup(
        ChannelHandlerContext context, @Nullable String name) {
      return tls.choose(name, context.executor().newPromise());
    }

    @Override
    protected void onLookupComplete(
        ChannelHandlerContext context, @Nullable String name, Future<ServerTls.Choice> lookup) {
      ServerTls.Choice choice = lookup.getNow();
      if (choice == null) {
        counters.failed();
        TlsOpening.this.close();
        return;
      }
      SslHandler handler = null;
      try {
        certificates = choice.server();
        handler = tls.handler(choice, context.alloc());
        context.pipeline().replace(this, null, handler);
        handler = null;
      } finally {
        choice.release();
        if (handler != null) {
          ReferenceCountUtil.safeRelease(handler.engine());
        }
      }
    }
  }

  /** The handshakes of one listener on one loop that have not come to their end. */
  static final class UnderWay {

    /*
     * Each holds native memory that its client has paid nothing for. When there are too many, the
     * oldest yields: a client that does nothing wrong is done within a few round trips. Those that
     * come later are not kept waiting by those that never go on.
     */
    private final Set<TlsOpening> handshakes = new LinkedHashSet<>();
    private final int limit;

    UnderWay(int limit) {
      this.limit = limit;
    }

    private void begun(TlsOpening handshake) {
      handshakes.add(handshake);
      if (handshakes.size() > limit) {
        handshakes.iterator().next().displace();
      }
    }

    private void over(TlsOpening handshake) {
      handshakes.remove(handshake);
    }
  }
}
