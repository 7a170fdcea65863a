package io.kamille.core.tls;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;

/** A client and a server in memory, with the records that go between them. */
final class Handshake implements AutoCloseable {

  final EmbeddedChannel client;
  final EmbeddedChannel server;
  final SslHandler clientTls;
  final SslHandler serverTls;

  /** Lets the two talk until neither has more to say. */
  Handshake(SslContext clientContext, ServerTls tls, String name) {
    this(clientContext.newHandler(ByteBufAllocator.DEFAULT, name, 443), tls, name);
  }

  /** The same with a client of any kind. */
  Handshake(SslHandler clientHandler, ServerTls tls, String name) {
    clientTls = clientHandler;
    client = new EmbeddedChannel(clientTls);
    var choosing = new EmbeddedChannel();
    ServerTls.Choice choice = tls.choose(name, choosing.eventLoop().newPromise()).getNow();
    serverTls = tls.handler(choice, ByteBufAllocator.DEFAULT);
    choice.release();
    choosing.finishAndReleaseAll();
    server = new EmbeddedChannel(serverTls);
    talk();
  }

  void talk() {
    boolean moved = true;
    while (moved) {
      boolean fromClient = carry(client, server);
      moved = carry(server, client) || fromClient;
    }
  }

  private static boolean carry(EmbeddedChannel from, EmbeddedChannel to) {
    from.runPendingTasks();
    to.runPendingTasks();
    boolean moved = false;
    for (ByteBuf octets = from.readOutbound(); octets != null; octets = from.readOutbound()) {
      moved = true;
      if (to.isOpen()) {
        deliver(to, octets);
      } else {
        octets.release();
      }
    }
    return moved;
  }

  /** A handshake that fails is seen by its future. */
  private static void deliver(EmbeddedChannel to, ByteBuf octets) {
    try {
      to.writeInbound(octets);
    } catch (DecoderException refused) {
      to.runPendingTasks();
    }
  }

  boolean isDone() {
    return clientTls.handshakeFuture().isSuccess() && serverTls.handshakeFuture().isSuccess();
  }

  /** The certificate that the client was shown. */
  X509Certificate shown() throws SSLPeerUnverifiedException {
    return (X509Certificate) clientTls.engine().getSession().getPeerCertificates()[0];
  }

  String cipher() {
    return clientTls.engine().getSession().getCipherSuite();
  }

  String version() {
    return clientTls.engine().getSession().getProtocol();
  }

  static SslContextBuilder client() {
    return SslContextBuilder.forClient()
        .sslProvider(ServerContext.isNative() ? SslProvider.OPENSSL : SslProvider.JDK)
        .trustManager(InsecureTrustManagerFactory.INSTANCE)
        .endpointIdentificationAlgorithm(null);
  }

  static SslContext client(String version, String... protocols) throws SSLException {
    SslContextBuilder builder = client().protocols(version);
    if (protocols.length > 0) {
      builder.applicationProtocolConfig(
          new ApplicationProtocolConfig(
              Protocol.ALPN,
              SelectorFailureBehavior.NO_ADVERTISE,
              SelectedListenerFailureBehavior.ACCEPT,
              protocols));
    }
    return builder.build();
  }

  /** A client that comes back with the ticket it was given. */
  static SslContext resuming(String version) throws SSLException {
    return client().sslProvider(SslProvider.JDK).protocols(version).build();
  }

  static SslContext client(ServerCertificate own) throws SSLException {
    return client().clientAuth(ClientAuth.NONE).keyManager(own.key(), own.chain()).build();
  }

  static TlsPolicy policy(ClientCertificates clients) {
    return new TlsPolicy(TlsProfile.INTERMEDIATE, clients, List.of("h2", "http/1.1"));
  }

  @Override
  public void close() {
    try {
      talk();
      client.close();
      talk();
      server.close();
      talk();
    } finally {
      client.releaseOutbound();
      client.releaseInbound();
      server.releaseOutbound();
      server.releaseInbound();
    }
  }
}
