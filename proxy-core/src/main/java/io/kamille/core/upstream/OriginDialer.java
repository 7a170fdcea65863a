package io.kamille.core.upstream;

import io.kamille.core.failure.Failure;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.upstream.h1.ForwardedHead;
import io.kamille.core.upstream.h1.OriginConnection;
import io.kamille.core.upstream.pool.ConnectionPool;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Opens connections to one origin, one of its addresses after the other. Confined to its loop. */
final class OriginDialer implements ConnectionPool.Dialer<OriginConnection> {

  /*
   * A connection in clear text is open once TCP is, one by TLS once the handshake has ended: until
   * then an OriginHandshake stands in the pipeline where the connection will stand. Whatever fails,
   * the next address is tried.
   */
  private static final System.Logger LOG = System.getLogger("kamille.upstream");

  private final Origin origin;
  private final UpstreamSettings settings;
  private final ForwardedHead forwardedHead;
  private final EventLoop loop;
  private final Bootstrap bootstrap;
  private final @Nullable OriginTls tls;

  /** Opens connections to {@code origin}; {@code tls} is null if it speaks none. */
  OriginDialer(
      Origin origin,
      @Nullable OriginTls tls,
      UpstreamSettings settings,
      ForwardedHead forwardedHead,
      EventLoop loop,
      ChannelFactory<? extends Channel> channels) {
    this.origin = origin;
    this.tls = tls;
    this.settings = settings;
    this.forwardedHead = forwardedHead;
    this.loop = loop;
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .channelFactory(channels)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.SO_RCVBUF, settings.connection().receiveBufferBytes())
            // A failed write must not destroy an early answer that we have not read yet.
            .option(ChannelOption.AUTO_CLOSE, false)
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS,
                (int) Math.min(settings.connectTimeout().toMillis(), Integer.MAX_VALUE));
  }

  @Override
  public void dial(ConnectionPool<OriginConnection> pool) {
    dial(pool, origin.addressCount());
  }

  private void dial(ConnectionPool<OriginConnection> pool, int addressesLeft) {
    InetSocketAddress address = origin.address();
    if (address == null) {
      pool.dialFailed(Failure.of(Kind.DNS_ERROR, "no address is known for " + origin.host()));
      return;
    }
    OriginConnection connection =
        new OriginConnection(
            origin.name(), () -> origin.isAt(address), pool, settings.connection(), forwardedHead);
    Dial dial = new Dial(address, connection, pool, addressesLeft);
    ChannelHandler first =
        tls == null
            ? connection.handler()
            : new OriginHandshake(tls, origin.url(), settings.connectTimeout(), dial);
    bootstrap
        .clone()
        .handler(first)
        .connect(address)
        .addListener(result -> onLoop(() -> dial.connected(result.cause())));
  }

  /** A socket that could not even be made is reported on a thread of Netty's own. */
  private void onLoop(Runnable conclusion) {
    if (loop.inEventLoop()) {
      conclusion.run();
    } else {
      loop.execute(conclusion);
    }
  }

  /** One connection on its way to being open. */
  private final class Dial implements OriginHandshake.Owner {

    private final InetSocketAddress address;
    private final OriginConnection connection;
    private final ConnectionPool<OriginConnection> pool;
    private final int addressesLeft;

    Dial(
        InetSocketAddress address,
        OriginConnection connection,
        ConnectionPool<OriginConnection> pool,
        int addressesLeft) {
      this.address = address;
      this.connection = connection;
      this.pool = pool;
      this.addressesLeft = addressesLeft;
    }

    /** TCP is open, or not. */
    void connected(@Nullable Throwable cause) {
      if (cause instanceof ChannelException) {
        pool.dialFailed(noSocket(cause));
      } else if (cause != null) {
        failed(why(address, cause));
      } else if (tls == null) {
        pool.dialed(connection);
      }
    }

    @Override
    public ChannelHandler secured() {
      origin.tlsTrouble("");
      return connection.handler();
    }

    @Override
    public void ready() {
      pool.dialed(connection);
    }

    @Override
    public void failed(Kind kind, String reason) {
      if (origin.tlsTrouble(reason)) {
        LOG.log(Level.WARNING, "no TLS with {0}: it {1}", origin.name(), reason);
      }
      failed(Failure.of(kind, where(address) + " " + reason));
    }

    private void failed(Failure why) {
      origin.passOver(address);
      if (addressesLeft > 1) {
        dial(pool, addressesLeft - 1);
      } else {
        pool.dialFailed(why);
      }
    }
  }

  /** We have too few descriptors, say: nothing is known of the origin. */
  private Failure noSocket(Throwable cause) {
    return Failure.of(
        Kind.CONNECTION_LIMIT_REACHED,
        "no socket for a connection to " + origin.name() + ": " + cause.getMessage());
  }

  private Failure why(InetSocketAddress address, Throwable cause) {
    String where = where(address);
    if (cause instanceof ConnectTimeoutException) {
      return Failure.of(
          Kind.CONNECTION_TIMEOUT,
          "no connection to " + where + " in " + settings.connectTimeout().toMillis() + " ms");
    }
    return cause instanceof ConnectException
        ? Failure.of(Kind.CONNECTION_REFUSED, where + " refused the connection")
        : Failure.of(
            Kind.DESTINATION_UNAVAILABLE, where + " cannot be reached: " + cause.getMessage());
  }

  private String where(InetSocketAddress address) {
    return origin.name() + " (" + address.getAddress().getHostAddress() + ")";
  }
}
