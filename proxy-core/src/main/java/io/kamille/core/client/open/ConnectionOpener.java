package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.H1ClientConnection;
import io.kamille.core.client.h1.H1Shard;
import io.kamille.core.client.h2.H2ClientConnection;
import io.kamille.core.client.h2.H2Shard;
import io.kamille.core.tls.ServerContext;
import io.kamille.core.tls.ServerTls;
import io.netty.channel.ChannelHandler;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what is spoken on a new connection of one listener, and puts it into the pipeline. One
 * for each loop. Confined to it.
 */
final class ConnectionOpener implements OpeningConnection.Spoken {

  /** TLS handshakes of one listener that may be under way at a time. */
  private static final int MOST_HANDSHAKES = 2_048;

  private final ServerShard shared;
  private final H1Shard h1;
  private final H2Shard h2;
  private final Protocols protocols;
  private final @Nullable ServerTls tls;
  private final TlsOpening.UnderWay handshakes;

  /**
   * Opens connections of one listener on one loop.
   *
   * @param tls null for clear text
   * @param loops among which the listener's connections are spread
   */
  ConnectionOpener(
      ServerShard shared, ListenerSettings settings, @Nullable ServerTls tls, int loops) {
    this.shared = shared;
    this.h1 = new H1Shard(shared, settings.httpsPolicy());
    this.h2 = new H2Shard(shared, settings.httpsPolicy());
    this.protocols = settings.spoken();
    this.tls = tls;
    this.handshakes = new TlsOpening.UnderWay(Math.max(1, MOST_HANDSHAKES / loops));
  }

  @Override
  public ServerShard shared() {
    return shared;
  }

  void open(Accepted accepted) {
    if (tls != null) {
      new TlsOpening(this, tls, handshakes, accepted).begin();
    } else if (protocols == Protocols.BOTH) {
      accepted.channel().pipeline().addLast(new PrefaceOpening(this, accepted));
    } else {
      accepted.channel().pipeline().addLast(inClear(protocols == Protocols.H2, accepted));
    }
  }

  @Override
  public ChannelHandler inClear(boolean isH2, Accepted accepted) {
    return isH2
        ? new H2ClientConnection(h2, accepted, null, null)
        : new H1ClientConnection(h1, accepted, false);
  }

  @Override
  public ChannelHandler over(
      @Nullable String protocol,
      Accepted accepted,
      ServerTls tls,
      @Nullable ServerContext certificates) {
    boolean isH2 = protocol == null ? protocols == Protocols.H2 : Objects.equals(protocol, "h2");
    return isH2
        ? new H2ClientConnection(h2, accepted, tls, certificates)
        : new H1ClientConnection(h1, accepted, true);
  }
}
