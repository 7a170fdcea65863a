package io.kamille.core.origin.dial;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginProtocol;
import io.kamille.core.origin.ProxyAnnouncement;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.pool.ConnectionPool;
import io.kamille.core.origin.wire.RequestConnection;
import io.kamille.core.origin.wire.h1.H1OriginConnection;
import io.kamille.core.origin.wire.h2.H2Lines;
import io.kamille.core.origin.wire.h2.H2OriginConnection;
import io.kamille.core.socket.Connector;
import io.kamille.core.tls.HandshakeTrouble;
import io.kamille.core.tls.OriginTls;
import io.kamille.core.tls.OriginTlsHandler;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.NetUtil;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections to one origin, at whichever of its addresses answers first. Confined to its
 * loop.
 */
final class OriginDialer implements ConnectionPool.Dialer<RequestConnection> {

  /*
   * A connection in clear text is open once TCP is, one by TLS once the handshake has ended: until
   * then a Handshake stands in the pipeline where the connection will stand, and ALPN
   * settles which kind that is. In HTTP/2 the origin's settings have to come, too. Whatever fails,
   * the next address is tried, and so it is while TCP takes long. Where a PROXY header names the
   * client, it comes before TLS. So such a connection is open once TCP is, and its handshake begins
   * with its request.
   */
  private static final System.Logger LOG = System.getLogger("kamille.upstream");

  private final Origin origin;
  private final UpstreamSettings settings;
  private final OriginProtocol protocol;
  private final H2Lines lines;
  private final EventLoop loop;
  private final Connector connector;
  private final Bootstrap bootstrap;
  private final @Nullable OriginTls tls;

  /**
   * Opens connections to {@code origin}.
   *
   * @param tls null if it speaks none
   * @param protocol that of the settings, or one of those that it may be
   * @param lines what its connections have in common
   */
  OriginDialer(
      Origin origin,
      @Nullable OriginTls tls,
      UpstreamSettings settings,
      OriginProtocol protocol,
      H2Lines lines,
      EventLoop loop,
      Connector connector) {
    this.origin = origin;
    this.tls = tls;
    this.settings = settings;
    this.protocol = protocol;
    this.lines = lines;
    this.loop = loop;
    this.connector = connector;
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            // A failed write must not destroy an early answer that we have not read yet.
            .option(ChannelOption.AUTO_CLOSE, false)
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS,
                (int) Math.min(settings.connectTimeout().toMillis(), Integer.MAX_VALUE));
    if (!protocol.mayBeH2(tls != null)) {
      bootstrap.option(ChannelOption.SO_RCVBUF, settings.connection().receiveBufferBytes());
    }
  }

  @Override
  public void dial(ConnectionPool<RequestConnection> pool) {
    Deque<InetSocketAddress> addresses = origin.addressesInTurn();
    if (addresses.isEmpty()) {
      pool.dialFailed(Failure.of(ErrorType.DNS_ERROR, "no address is known for " + origin.host()));
      return;
    }
    new AddressRace(
            origin,
            addresses,
            (race, address) -> new Dial(race, address, pool),
            (millis, action) -> {
              var timer = loop.schedule(action, millis, TimeUnit.MILLISECONDS);
              return () -> timer.cancel(false);
            },
            pool::dialFailed)
        .next();
  }

  private boolean namesClients() {
    return settings.connection().proxyProtocol() != ProxyAnnouncement.OFF;
  }

  /** Logs what is wrong with the origin, unless it is known. */
  private void troubled(String reason) {
    if (origin.trouble(reason) && !reason.isEmpty()) {
      LOG.log(Level.WARNING, "no connection with {0}: it {1}", origin.name(), reason);
    }
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
  private final class Dial extends ChannelInitializer<Channel>
      implements AddressRace.Runner, H2OriginConnection.Opening {

    private final AddressRace race;
    private final InetSocketAddress address;
    private final ConnectionPool<RequestConnection> pool;
    private @Nullable Channel channel;
    private boolean isAbandoned;
    private @Nullable RequestConnection connection;
    private Runnable opened = this::ready;

    Dial(AddressRace race, InetSocketAddress address, ConnectionPool<RequestConnection> pool) {
      this.race = race;
      this.address = address;
      this.pool = pool;
    }

    @Override
    public InetSocketAddress address() {
      return address;
    }

    @Override
    public void start() {
      connector
          .connect(bootstrap.clone().handler(this), address)
          .addListener(result -> onLoop(() -> connected(result.cause())));
    }

    @Override
    public void abandon() {
      isAbandoned = true;
      if (channel != null) {
        channel.close();
      }
    }

    @Override
    protected void initChannel(Channel made) {
      channel = made;
      if (isAbandoned) {
        made.close();
      } else if (tls == null) {
        made.pipeline().addLast(connection(protocol.mayBeH2(false)));
      } else if (!namesClients()) {
        made.pipeline().addLast(new Handshake());
      } else {
        made.pipeline().addLast(new LateHandshake(), connection(false));
      }
    }

    /** TCP is open, or not. */
    private void connected(@Nullable Throwable cause) {
      if (isAbandoned) {
        return;
      }
      if (cause instanceof ChannelException) {
        race.failedByUs(this, noSocket(cause));
      } else if (cause != null) {
        race.failed(this, why(address, cause));
      } else {
        race.opened(this);
        if (tls == null || namesClients()) {
          opened.run();
        }
      }
    }

    /** What the channel is for. */
    private ChannelHandler connection(boolean isH2) {
      BooleanSupplier isCurrent = () -> origin.isAt(address);
      if (isH2) {
        var made = new H2OriginConnection(lines, isCurrent, pool, this);
        connection = made;
        opened = () -> made.start(settings.connectTimeout());
        return made.handler();
      }
      var made =
          new H1OriginConnection(
              origin.name(), isCurrent, pool, settings.connection(), lines.head());
      connection = made;
      return made.handler();
    }

    /** What stands behind a handshake that settled this protocol; null if that will not do. */
    private @Nullable ChannelHandler secured(@Nullable String settled, Channel channel) {
      boolean isH2 = OriginProtocol.H2_NAME.equals(settled);
      if (!isH2 && protocol == OriginProtocol.H2) {
        return null;
      }
      if (!isH2) {
        channel
            .config()
            .setOption(ChannelOption.SO_RCVBUF, settings.connection().receiveBufferBytes());
      }
      return connection(isH2);
    }

    @Override
    public void ready() {
      if (isUsual() && !(tls != null && namesClients())) {
        origin.trouble("");
      }
      pool.dialed(Objects.requireNonNull(connection));
    }

    @Override
    public void failed(ErrorType kind, String reason) {
      if (!isUsual()) {
        pool.dialFailed(Failure.of(kind, where(address) + " " + reason + " (for HTTP/1.1 alone)"));
        return;
      }
      troubled(reason);
      race.failed(this, Failure.of(kind, where(address) + " " + reason));
    }

    /** Whether it is offered what the settings say: the handshake tells of the origin then. */
    private boolean isUsual() {
      return protocol == settings.protocol();
    }

    /** TLS at once; afterwards the connection takes its place in the pipeline. */
    private final class Handshake extends ChannelInboundHandlerAdapter {

      @Override
      public void handlerAdded(ChannelHandlerContext context) {
        secure(context);
      }

      @Override
      public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
          return;
        }
        HandshakeTrouble trouble = handshake.isSuccess() ? null : trouble(handshake);
        if (trouble != null) {
          failed(trouble.kind(), trouble.reason());
        } else if (!handshake.isSuccess()) {
          failed(ErrorType.CONNECTION_TERMINATED, "closed the connection within the TLS handshake");
        } else {
          String settled = context.pipeline().get(OriginTlsHandler.class).applicationProtocol();
          ChannelHandler next = secured(settled, context.channel());
          if (next == null) {
            context.close();
            failed(ErrorType.TLS_PROTOCOL_ERROR, "does not speak HTTP/2");
          } else {
            context.pipeline().replace(this, null, next);
            opened.run();
          }
        }
      }

      /** The handshake has said so, and the connection is closed. */
      @Override
      public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {}
    }
  }

  /** TLS behind the first write, a PROXY header, which passes as it is. */
  private final class LateHandshake extends ChannelDuplexHandler {

    private boolean hasBegun;

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      context.write(message, promise);
      if (!hasBegun) {
        hasBegun = true;
        secure(context);
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof SslHandshakeCompletionEvent handshake) {
        HandshakeTrouble trouble = handshake.isSuccess() ? null : trouble(handshake);
        if (handshake.isSuccess() || trouble != null) {
          troubled(trouble == null ? "" : trouble.reason());
        }
      }
      context.fireUserEventTriggered(event);
    }
  }

  private void secure(ChannelHandlerContext context) {
    context
        .pipeline()
        .addFirst(
            tls()
                .handler(
                    context.alloc(),
                    origin.host(),
                    origin.url().port(),
                    settings.connectTimeout()));
  }

  private @Nullable HandshakeTrouble trouble(SslHandshakeCompletionEvent handshake) {
    return HandshakeTrouble.of(handshake.cause(), tls().name(origin.host()));
  }

  private OriginTls tls() {
    return Objects.requireNonNull(tls);
  }

  /** We have too few descriptors, say: nothing is known of the origin. */
  private Failure noSocket(Throwable cause) {
    return Failure.of(
        ErrorType.CONNECTION_LIMIT_REACHED,
        "no socket for a connection to " + origin.name() + ": " + cause.getMessage());
  }

  private Failure why(InetSocketAddress address, Throwable cause) {
    String where = where(address);
    if (cause instanceof ConnectTimeoutException) {
      return Failure.of(
          ErrorType.CONNECTION_TIMEOUT,
          "no connection to " + where + " in " + settings.connectTimeout().toMillis() + " ms");
    }
    return cause instanceof ConnectException
        ? Failure.of(ErrorType.CONNECTION_REFUSED, where + " refused the connection")
        : Failure.of(
            ErrorType.DESTINATION_UNAVAILABLE, where + " cannot be reached: " + cause.getMessage());
  }

  private String where(InetSocketAddress address) {
    return origin.name() + " (" + NetUtil.toAddressString(address.getAddress()) + ")";
  }
}
