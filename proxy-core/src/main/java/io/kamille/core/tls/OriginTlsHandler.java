package io.kamille.core.tls;

import io.netty.handler.ssl.SslHandler;
import javax.net.ssl.SSLEngine;

/** The TLS of one connection to an origin. Confined to its loop. */
public final class OriginTlsHandler extends SslHandler {

  OriginTlsHandler(SSLEngine engine) {
    super(engine);
  }

  /** Whether a part of a record has come: there is more behind what was read. */
  public boolean holdsMore() {
    return actualReadableBytes() > 0;
  }
}
