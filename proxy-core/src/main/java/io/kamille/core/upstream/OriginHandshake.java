package io.kamille.core.upstream;

import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.setting.OriginUrl;
import io.kamille.core.tls.HandshakeTrouble;
import io.kamille.core.tls.OriginTls;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.time.Duration;

/**
 * A connection to an origin during its TLS handshake; afterwards what it is for takes its place in
 * the pipeline. Confined to its loop.
 */
final class OriginHandshake extends ChannelInboundHandlerAdapter {

  /** Who is told how it ended, once. */
  interface Owner {

    /** What takes the place in the pipeline. */
    ChannelHandler secured();

    /** It stands there. */
    void ready();

    /** There will be no connection: the origin did this. */
    void failed(Kind kind, String reason);
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
      context.pipeline().replace(this, null, owner.secured());
      owner.ready();
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
