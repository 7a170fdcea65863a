package io.kamille.core.origin.dial;

import io.kamille.core.setting.OriginUrl;
import io.kamille.core.tls.HandshakeTrouble;
import io.kamille.core.tls.OriginTls;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * TLS with an origin that wants to know the client first: the first write, a PROXY header, passes
 * as it is, and the handshake begins behind it. Confined to its loop.
 */
final class SecureAfterHeader extends ChannelDuplexHandler {

  private final OriginTls tls;
  private final OriginUrl url;
  private final Duration timeout;
  private final Consumer<String> troubled;
  private boolean hasBegun;

  /** Tells {@code troubled} of each handshake: the trouble, or an empty text. */
  SecureAfterHeader(OriginTls tls, OriginUrl url, Duration timeout, Consumer<String> troubled) {
    this.tls = tls;
    this.url = url;
    this.timeout = timeout;
    this.troubled = troubled;
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    context.write(message, promise);
    if (!hasBegun) {
      hasBegun = true;
      context.pipeline().addFirst(tls.handler(context.alloc(), url.host(), url.port(), timeout));
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake) {
      HandshakeTrouble trouble =
          handshake.isSuccess()
              ? null
              : HandshakeTrouble.of(handshake.cause(), tls.name(url.host()));
      if (handshake.isSuccess() || trouble != null) {
        troubled.accept(trouble == null ? "" : trouble.reason());
      }
    }
    context.fireUserEventTriggered(event);
  }
}
