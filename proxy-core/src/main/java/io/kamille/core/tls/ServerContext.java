package io.kamille.core.tls;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslCredential;
import io.netty.handler.ssl.OpenSslCredentialBuilder;
import io.netty.handler.ssl.OpenSslServerSessionContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import javax.net.ssl.KeyManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * The native context of the certificates for one set of names, made when first asked for. Any
 * thread.
 */
public final class ServerContext {

  /*
   * A context is native memory with a count of its users: this object holds one reference until it
   * is retired, each engine holds one while its connection lasts. Making one takes milliseconds, so
   * it is not done on a loop. A loop that finds it gone a moment after it was retired asks the
   * table again.
   *
   * The session id context keeps apart what client-certificate policies demand: without it, a
   * ticket from a listener that asks for no certificate is resumed by one that requires it (the
   * flaw of CVE-2025-23419).
   *
   * BoringSSL signs with ECDSA in a tenth of a millisecond, on the loop. RSA takes ten times as
   * long, so a context with an RSA key has the workers do it.
   */
  private static final boolean NATIVE = OpenSsl.isAvailable();
  private static final String[] GROUPS = {"X25519MLKEM768", "X25519", "P-256", "P-384"};
  private static final char[] NO_PASSWORD = {};

  private final List<ServerCertificate> certificates;
  private final TlsPolicy policy;
  private final boolean slow;
  private volatile @Nullable SslContext built;

  @GuardedBy("this")
  private boolean retired;

  ServerContext(List<ServerCertificate> certificates, TlsPolicy policy) {
    this.certificates = List.copyOf(certificates);
    this.policy = policy;
    this.slow = certificates.stream().anyMatch(ServerCertificate::isSlow);
  }

  /** Whether BoringSSL is there, or the JDK's TLS stands in for it. */
  public static boolean isNative() {
    return NATIVE;
  }

  /** The groups that keys are exchanged by, the preferred first. */
  static String[] groups() {
    return GROUPS.clone();
  }

  List<ServerCertificate> certificates() {
    return certificates;
  }

  /** Whether clients are asked for a certificate. */
  public boolean asksClients() {
    return policy.clients().demand() != ClientCertificates.Demand.NONE;
  }

  /** Whether its certificates are of our own making. */
  public boolean isSelfSigned() {
    return certificates.getFirst().isSelfSigned();
  }

  /** Whether one of its certificates is for this host, in lower case. */
  public boolean covers(String host) {
    for (ServerCertificate certificate : certificates) {
      if (certificate.isFor(host)) {
        return true;
      }
    }
    return false;
  }

  /** The context with a reference that the caller releases; null if it is to be built, or gone. */
  @Nullable SslContext acquire() {
    SslContext context = built;
    if (context == null) {
      return null;
    }
    try {
      return ReferenceCountUtil.retain(context);
    } catch (IllegalReferenceCountException gone) {
      return null;
    }
  }

  /**
   * Builds it if nobody has. Not on a loop.
   *
   * @param keys those of the moment: a rotation meanwhile comes before them, or waits for us
   * @return false if it was retired before
   * @throws IOException if the certificates are refused
   */
  synchronized boolean build(Supplier<TicketKeys> keys) throws IOException {
    if (retired) {
      return false;
    }
    if (built == null) {
      SslContext context = make();
      built = context;
      keys(keys.get());
    }
    return true;
  }

  /** Has it go by these ticket keys from now on. */
  synchronized void keys(TicketKeys keys) {
    SslContext context = built;
    if (context != null
        && context.sessionContext() instanceof OpenSslServerSessionContext session) {
      keys.giveTo(session);
    }
  }

  /** Lets go of the context: it lives on until the last connection under it has ended. */
  synchronized void retire() {
    retired = true;
    SslContext context = built;
    built = null;
    if (context != null) {
      ReferenceCountUtil.release(context);
    }
  }

  /**
   * A handler for one connection. It has no timer of its own.
   *
   * @param context acquired from this; borrowed
   * @param workers sign with slow keys
   */
  SslHandler handler(SslContext context, ByteBufAllocator allocator, Executor workers) {
    SslHandler handler =
        slow ? context.newHandler(allocator, workers) : context.newHandler(allocator);
    handler.setHandshakeTimeoutMillis(0);
    handler.setCloseNotifyFlushTimeoutMillis(0);
    handler.setCloseNotifyReadTimeoutMillis(0);
    return handler;
  }

  private SslContext make() throws IOException {
    List<OpenSslCredential> credentials = new ArrayList<>();
    try {
      SslContextBuilder builder = NATIVE ? forNative(credentials) : forJdk();
      SslContext context = policy.profile().offer(clients(builder), policy.protocols()).build();
      if (context.sessionContext() instanceof OpenSslServerSessionContext session) {
        session.setSessionCacheEnabled(false);
        session.setSessionIdContext(policy.clients().sessionContext());
      }
      return context;
    } catch (GeneralSecurityException | IllegalStateException | IllegalArgumentException refused) {
      throw new IOException(
          certificates.getFirst().source() + ": refused: " + refused.getMessage(), refused);
    } finally {
      credentials.forEach(ReferenceCountUtil::release);
    }
  }

  private SslContextBuilder forNative(List<OpenSslCredential> credentials) {
    ServerCertificate first = certificates.getFirst();
    SslContextBuilder builder =
        SslContextBuilder.forServer(first.key(), first.chain())
            .sslProvider(SslProvider.OPENSSL_REFCNT)
            .option(OpenSslContextOption.GROUPS, GROUPS)
            .option(OpenSslContextOption.USE_TASKS, slow);
    if (certificates.size() > 1) {
      for (ServerCertificate certificate : certificates) {
        OpenSslCredential credential =
            OpenSslCredentialBuilder.forX509(
                    certificate.key(), certificate.chain().toArray(X509Certificate[]::new))
                .build();
        credentials.add(credential);
        builder.addCredential(credential);
      }
    }
    return builder;
  }

  private SslContextBuilder forJdk() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    for (int i = 0; i < certificates.size(); i++) {
      ServerCertificate certificate = certificates.get(i);
      store.setKeyEntry(
          "key" + i,
          certificate.key(),
          NO_PASSWORD,
          certificate.chain().toArray(X509Certificate[]::new));
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, NO_PASSWORD);
    return SslContextBuilder.forServer(keys).sslProvider(SslProvider.JDK);
  }

  /** Without authorities it trusts nobody: else each context would load those of the JDK. */
  private SslContextBuilder clients(SslContextBuilder builder)
      throws GeneralSecurityException, IOException {
    ClientCertificates clients = policy.clients();
    return builder.clientAuth(clients.mode()).trustManager(new PeerTrust(clients.authorities()));
  }
}
