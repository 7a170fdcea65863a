package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.HttpsPolicy;
import io.kamille.core.client.ServerShard;
import io.kamille.core.client.h1.H1ClientConnection;
import io.kamille.core.client.h1.H1Shard;
import io.kamille.core.client.h2.H2ClientConnection;
import io.kamille.core.client.h2.H2Shard;
import io.kamille.core.socket.SocketEnd;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ClientCertificate;
import io.kamille.core.tls.HandshakeCounters;
import io.kamille.core.tls.ServerContext;
import io.kamille.core.tls.ServerTls;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.AbstractSniHandler;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what is spoken on a new connection of one listener, and puts it into the pipeline. One
 * for each loop. Confined to it.
 */
final class ConnectionOpener {

  private static final System.Logger LOG = System.getLogger("kamille.server");

  /** TLS handshakes of one listener that may be under way at a time. */
  private static final int MOST_HANDSHAKES = 2_048;

  /** Of a ClientHello with the headers of its records and its own. */
  private static final int MOST_HELLO_BYTES = 16 * 1024;

  private static final int HELLO_HEADERS = 5 + 4;

  /** The fatal alert {@code no_application_protocol} (RFC 7301 §3.2) as a record. */
  private static final byte[] NO_APPLICATION_PROTOCOL = {21, 3, 3, 0, 2, 2, 120};

  /** What is answered to a request in clear text. */
  private static final byte[] CLEAR_TEXT =
      String.join(
              "\r\n",
              "HTTP/1.1 400 Bad Request",
              "Content-Type: text/plain",
              "Content-Length: 48",
              "Connection: close",
              "",
              "This port speaks HTTPS: use https:// in the URL\n")
          .getBytes(StandardCharsets.US_ASCII);

  /** No request of HTTP/1 begins like this: the method {@code PRI} is reserved. */
  private static final byte[] H2_BEGINNING = "PRI * HTTP/2".getBytes(StandardCharsets.US_ASCII);

  private final ServerShard server;
  private final H1Shard h1;
  private final H2Shard h2;
  // Of connections whose certificate nobody has to trust yet: HSTS would lock clients out.
  private final H1Shard untrustedH1;
  private final H2Shard untrustedH2;
  private final Protocols protocols;
  private final @Nullable ServerTls tls;
  private final @Nullable Challenges challenges;

  /*
   * Each handshake holds native memory that its client has paid nothing for. When there are too
   * many, the oldest yields: a client that does nothing wrong is done within a few round trips.
   * Those that come later are not kept waiting by those that never go on.
   */
  private final Set<TlsOpening> handshakes = new LinkedHashSet<>();
  private final int mostHandshakes;

  /**
   * Opens connections of one listener on one loop.
   *
   * @param tls null for clear text
   * @param challenges answered to certificate authorities; null for none
   * @param loops among which the listener's connections are spread
   */
  ConnectionOpener(
      ServerShard server,
      ListenerSettings settings,
      @Nullable ServerTls tls,
      @Nullable Challenges challenges,
      int loops) {
    this.server = server;
    HttpsPolicy policy = settings.httpsPolicy(challenges);
    this.h1 = new H1Shard(server, policy);
    this.h2 = new H2Shard(server, policy);
    HttpsPolicy untrusted = HttpsPolicy.of(0, Duration.ZERO, challenges);
    this.untrustedH1 = policy.hasHsts() ? new H1Shard(server, untrusted) : h1;
    this.untrustedH2 = policy.hasHsts() ? new H2Shard(server, untrusted) : h2;
    this.protocols = settings.spoken();
    this.tls = tls;
    this.challenges = challenges;
    this.mostHandshakes = Math.max(1, MOST_HANDSHAKES / loops);
  }

  ServerShard server() {
    return server;
  }

  void open(Accepted accepted) {
    if (tls != null) {
      new TlsOpening(tls, accepted).begin();
    } else if (protocols == Protocols.BOTH) {
      accepted.channel().pipeline().addLast(new PrefaceOpening(accepted));
    } else {
      accepted.channel().pipeline().addLast(inClear(protocols == Protocols.H2, accepted));
    }
  }

  private ChannelHandler inClear(boolean isH2, Accepted accepted) {
    return isH2
        ? new H2ClientConnection(h2, accepted, null, null)
        : new H1ClientConnection(h1, accepted, false);
  }

  /**
   * What handles a connection behind its handshake.
   *
   * @param protocol as ALPN named it; null if the client did not ask
   */
  private ChannelHandler over(
      @Nullable String protocol,
      Accepted accepted,
      ServerTls tls,
      @Nullable ServerContext certificates) {
    boolean isH2 = protocol == null ? protocols == Protocols.H2 : Objects.equals(protocol, "h2");
    boolean isUntrusted = certificates != null && certificates.isSelfSigned();
    return isH2
        ? new H2ClientConnection(isUntrusted ? untrustedH2 : h2, accepted, tls, certificates)
        : new H1ClientConnection(isUntrusted ? untrustedH1 : h1, accepted, true);
  }

  /**
   * A connection in clear text of which the first octets tell whether HTTP/2 is spoken on it: its
   * clients know that beforehand (RFC 9113 §3.3). Confined to its loop.
   */
  private final class PrefaceOpening extends OpeningConnection {

    PrefaceOpening(Accepted accepted) {
      super(server, accepted);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf in = behindKept((ByteBuf) message);
      int length = Math.min(in.readableBytes(), H2_BEGINNING.length);
      boolean same = true;
      for (int i = 0; i < length && same; i++) {
        same = in.getByte(in.readerIndex() + i) == H2_BEGINNING[i];
      }
      if (same && length < H2_BEGINNING.length) {
        keep(in);
        return;
      }
      becomes(inClear(same, accepted));
      channel.pipeline().fireChannelRead(in);
    }
  }

  /**
   * A connection during its TLS handshake: the server name chooses the certificate, ALPN what is
   * spoken then. Confined to its loop.
   */
  private final class TlsOpening extends OpeningConnection {

    private final ServerTls tls;
    private final HandshakeCounters counters;
    private @Nullable ServerContext certificates;
    private boolean isDisplaced;
    private boolean isChallenge;

    /** Whether the client offers protocols, and none that is spoken here. */
    private boolean isForeign;

    TlsOpening(ServerTls tls, Accepted accepted) {
      super(server, accepted);
      this.tls = tls;
      this.counters = tls.counters();
    }

    /** Puts what reads the ClientHello before this into the pipeline. */
    void begin() {
      channel.pipeline().addLast(new NameReader()).addLast(this);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
      super.handlerAdded(context);
      handshakes.add(this);
      if (handshakes.size() > mostHandshakes) {
        handshakes.iterator().next().displace();
      }
    }

    @Override
    void leave() {
      super.leave();
      handshakes.remove(this);
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
        if (isChallenge) {
          // The authority has what it wants once our Finished is sent: nothing else is spoken.
          context.close();
          return;
        }
        ServerContext own = certificates;
        Accepted known =
            own != null && own.asksClients()
                ? accepted.with(ClientCertificate.of(session))
                : accepted;
        becomes(over(handler.applicationProtocol(), known, tls, own));
      } else if (!isDisplaced) {
        counters.failed(accepted.client(), handshake.cause());
      }
    }

    /** Somebody speaks in clear text: is told so, and what else comes is dropped. */
    private void refuseClearText(ChannelHandlerContext context) {
      counters.failed(accepted.client(), new NotSslRecordException("a request in clear text"));
      if (counters.tellsClearText(server.nowNanos())) {
        LOG.log(
            Level.INFO,
            "{0} speaks clear text at the TLS port {1}: it gets 400, and others like it do not"
                + " stand here for a minute",
            NetUtil.toSocketAddressString(accepted.client()),
            Integer.toString(accepted.local().getPort()));
      }
      channel.pipeline().remove(context.name());
      channel
          .writeAndFlush(Unpooled.wrappedBuffer(CLEAR_TEXT))
          .addListener(sent -> SocketEnd.send(channel));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ReferenceCountUtil.release(message);
    }

    /**
     * Reads the ClientHello and gives way to the TLS of the name in it. Netty reads each record to
     * its end, however long that is, before it looks at the length of the ClientHello.
     */
    private final class NameReader extends AbstractSniHandler<ServerTls.Choice> {

      private boolean isBegun;
      private boolean isWhole;
      private int octets;

      NameReader() {
        super(MOST_HELLO_BYTES - HELLO_HEADERS, 0);
      }

      /** Each method of HTTP begins with a letter, and no record of TLS does. */
      @Override
      public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        ByteBuf in = (ByteBuf) message;
        if (!isBegun && Character.isLetter(in.getByte(in.readerIndex()))) {
          in.release();
          refuseClearText(context);
          return;
        }
        isBegun = true;
        octets += in.readableBytes();
        super.channelRead(context, message);
        if (octets > MOST_HELLO_BYTES && !isWhole && channel.isOpen()) {
          counters.failed(
              accepted.client(),
              new TooLongFrameException("a ClientHello exceeds " + MOST_HELLO_BYTES + " octets"));
          TlsOpening.this.close();
        }
      }

      @Override
      protected Future<ServerTls.Choice> lookup(
          ChannelHandlerContext context, @Nullable ByteBuf hello) throws Exception {
        isWhole = true;
        List<String> offered = hello == null ? List.of() : Challenges.offered(hello);
        isChallenge = challenges != null && Challenges.areAskedBy(offered);
        isForeign = !offered.isEmpty() && Collections.disjoint(offered, protocols.names());
        return super.lookup(context, hello);
      }

      /** A client names no server if it knows an address alone (RFC 6066 §3): that is the name. */
      @Override
      protected Future<ServerTls.Choice> lookup(
          ChannelHandlerContext context, @Nullable String name) {
        Promise<ServerTls.Choice> promise = context.executor().newPromise();
        if (isChallenge && challenges != null) {
          return promise.setSuccess(challenges.choose(name));
        }
        if (isForeign) {
          return promise.setFailure(new SSLHandshakeException("no common protocol (ALPN)"));
        }
        return tls.choose(
            name == null ? NetUtil.toAddressString(accepted.local().getAddress()) : name, promise);
      }

      @Override
      protected void onLookupComplete(
          ChannelHandlerContext context, @Nullable String name, Future<ServerTls.Choice> lookup) {
        ServerTls.Choice choice = lookup.getNow();
        if (choice == null) {
          counters.failed(accepted.client(), lookup.cause());
          if (isForeign) {
            context.writeAndFlush(Unpooled.wrappedBuffer(NO_APPLICATION_PROTOCOL));
          }
          // Else it would read the same ClientHello again at the end of the connection.
          context.pipeline().remove(this);
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
  }
}
