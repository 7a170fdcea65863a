package io.kamille.core.origin.dial;

import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.origin.wire.h2.H2OriginConnection;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.tls.HandshakeTrouble;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.tls.OriginTlsHandler;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A connection to an origin during its TLS handshake; afterwards what it is for takes its place in
 * the pipeline. Confined to its loop.
 */
final class OriginHandshake extends ChannelInboundHandlerAdapter {

  /** Who is told how it ended, once. */
  interface Owner extends H2OriginConnection.Opening {

    /**
     * What takes the place in the pipeline.
     *
     * @param protocol as ALPN settled it; null if the origin does not care
     * @return null if that will not do
     */
    @Nullable ChannelHandler secured(@Nullable String protocol, Channel channel);

    /** That stands there. */
    void secured();
  }

  private final OriginTls tls;
  private final OriginUrl url;
  private final Duration timeout;
  private final Owner owner;

  OriginHandshake(OriginTls tls, OriginUrl url, Duration timeout, Owner owner) {
    this.tls = tls;
    this.url = url;
    this.timeout = timeout;
    this.owner = owner;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    context.pipeline().addFirst(tls.handler(context.alloc(), url.host(), url.port(), timeout));
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
      return;
    }
    if (handshake.isSuccess()) {
      String protocol = context.pipeline().get(OriginTlsHandler.class).applicationProtocol();
      ChannelHandler next = owner.secured(protocol, context.channel());
      if (next == null) {
        context.close();
        owner.failed(Kind.TLS_PROTOCOL_ERROR, "does not speak HTTP/2");
      } else {
        context.pipeline().replace(this, null, next);
        owner.secured();
      }
      return;
    }
    HandshakeTrouble trouble = HandshakeTrouble.of(handshake.cause(), tls.name(url.host()));
    if (trouble == null) {
      owner.failed(Kind.CONNECTION_TERMINATED, "closed the connection within the TLS handshake");
    } else {
      owner.failed(trouble.kind(), trouble.reason());
    }
  }

  /** The handshake has said so, and the connection is closed. */
  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {}
}
