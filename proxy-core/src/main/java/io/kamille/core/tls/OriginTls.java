package io.kamille.core.tls;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.setting.OriginUrl;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/** TLS toward the origins of one upstream (RFC 8446, RFC 9525). Any thread. */
public final class OriginTls {

  /*
   * One context per upstream and content of its files, so that sessions are resumed by all loops,
   * and none that was begun under another trust. The context is native memory: engines hold it
   * while their connections last, and this object while a pool may open another one. Pools end one
   * by one long after a reload, so nobody but the garbage collector knows when the last one has.
   *
   * A certificate is verified on the loop, by the JDK: under a millisecond, and not again for a
   * session that is resumed.
   */
  private static final Cleaner CLEANER = Cleaner.create();
  private static final int MOST_SESSIONS = 256;

  private static final String HTTP_1_1 = "http/1.1";

  private final SslContext context;
  private final OriginTlsSettings settings;
  private final OriginTrust trust;
  private final @Nullable String name;

  @GuardedBy("this")
  private @Nullable OriginTls http11;

  private OriginTls(SslContext context, OriginTlsSettings settings, OriginTrust trust) {
    this.context = context;
    this.settings = settings;
    this.trust = trust;
    this.name = settings.name();
    CLEANER.register(this, () -> ReferenceCountUtil.release(context));
  }

  /**
   * TLS by these settings.
   *
   * @param trust what was in their files
   * @param protocols what may be spoken inside, the preferred first, in the words of ALPN
   * @throws IOException with one sentence, if a certificate or key is refused
   */
  public static OriginTls open(
      OriginTlsSettings settings, OriginTrust trust, List<String> protocols) throws IOException {
    return open(settings, trust, protocols, MOST_SESSIONS);
  }

  /** The same with as many sessions. */
  static OriginTls open(
      OriginTlsSettings settings, OriginTrust trust, List<String> protocols, int mostSessions)
      throws IOException {
    try {
      SslContextBuilder builder =
          TlsProfile.INTERMEDIATE
              .offer(SslContextBuilder.forClient(), protocols)
              .sslProvider(ServerContext.isNative() ? SslProvider.OPENSSL_REFCNT : SslProvider.JDK)
              .sessionCacheSize(mostSessions);
      if (ServerContext.isNative()) {
        builder.option(OpenSslContextOption.GROUPS, ServerContext.groups());
      }
      if (settings.verify()) {
        builder.trustManager(new PeerTrust(trust.authorities()));
      } else {
        builder
            .trustManager(InsecureTrustManagerFactory.INSTANCE)
            .endpointIdentificationAlgorithm(null);
      }
      ServerCertificate own = trust.own();
      if (own != null) {
        builder.keyManager(own.key(), own.chain());
      }
      return new OriginTls(builder.build(), settings, trust);
    } catch (GeneralSecurityException | IllegalStateException | IllegalArgumentException refused) {
      throw new IOException("TLS to origins: refused: " + refused.getMessage(), refused);
    }
  }

  /** The same with nothing but HTTP/1.1 on offer; made at the first call, in milliseconds. */
  public synchronized OriginTls withHttp11Only() {
    OriginTls made = http11;
    if (made == null) {
      try {
        made = open(settings, trust, List.of(HTTP_1_1));
      } catch (IOException impossible) {
        throw new IllegalStateException("what was accepted before is refused", impossible);
      }
      http11 = made;
    }
    return made;
  }

  /**
   * A handler for one connection, whose handshake must have ended after {@code timeout}.
   *
   * @param host that of the origin, which its certificate must be for unless the settings say
   *     another name
   */
  public OriginTlsHandler handler(
      ByteBufAllocator allocator, String host, int port, Duration timeout) {
    String expected = name(host);
    SSLEngine engine = context.newEngine(allocator, expected, port);
    nameSingleLabel(engine, expected);
    OriginTlsHandler handler = new OriginTlsHandler(engine);
    handler.setHandshakeTimeoutMillis(timeout.toMillis());
    return handler;
  }

  /** What the certificate of the origin with this host must be for. */
  public String name(String host) {
    return name == null ? OriginUrl.withoutDot(host) : name;
  }

  /** Netty and the JDK ask for names of several labels only; `https://backend` is one, too. */
  private static void nameSingleLabel(SSLEngine engine, String host) {
    if (host.indexOf('.') < 0 && host.indexOf(':') < 0) {
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setServerNames(List.of(new SNIHostName(host)));
      engine.setSSLParameters(parameters);
    }
  }
}
