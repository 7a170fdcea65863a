package io.kamille.core.tls;

import io.netty.handler.ssl.OpenSslCertificateException;
import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertPathValidatorException.Reason;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** Verifies the certificates of clients, or of origins, as the JDK does. Immutable; any thread. */
final class PeerTrust extends X509ExtendedTrustManager {

  /*
   * Netty tells BoringSSL if a client's certificate is expired, not valid yet or revoked, and
   * otherwise that something went wrong: then clients get the alert `internal_error`. So the other
   * reasons are told here, and the alert is `unknown_ca` or `bad_certificate` (RFC 8446 §6.2).
   *
   * The JDK takes the name of an origin from CN if there is no other: RFC 9110 §4.3.4 forbids it.
   */
  private static final Set<Reason> TOLD =
      Set.of(BasicReason.EXPIRED, BasicReason.NOT_YET_VALID, BasicReason.REVOKED);

  // BoringSSL's X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY and X509_V_ERR_CERT_REJECTED.
  private static final int UNKNOWN_ISSUER = 20;
  private static final int REJECTED = 28;

  private static final int DNS_NAME = 2;

  private final X509ExtendedTrustManager usual;

  /**
   * Trusts what these authorities have signed, or nobody if there are none.
   *
   * @throws IOException if they cannot be used
   */
  PeerTrust(Collection<X509Certificate> authorities) throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    for (X509Certificate authority : authorities) {
      store.setCertificateEntry(String.valueOf(store.size()), authority);
    }
    usual = usual(store);
  }

  /** The JDK's trust in these; null for the authorities that it comes with. */
  static X509ExtendedTrustManager usual(@Nullable KeyStore authorities)
      throws GeneralSecurityException {
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(authorities);
    return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    try {
      usual.checkClientTrusted(chain, type, engine);
    } catch (CertificateException refused) {
      throw told(refused);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    usual.checkClientTrusted(chain, type, socket);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    try {
      usual.checkClientTrusted(chain, type);
    } catch (CertificateException refused) {
      throw told(refused);
    }
  }

  private static CertificateException told(CertificateException refused) {
    Throwable cause = refused.getCause();
    if (cause instanceof CertPathValidatorException invalid && TOLD.contains(invalid.getReason())) {
      return refused;
    }
    boolean isUnknown = cause instanceof CertPathBuilderException;
    return new OpenSslCertificateException(
        refused.getMessage(), refused, isUnknown ? UNKNOWN_ISSUER : REJECTED);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    usual.checkServerTrusted(chain, type, engine);
    if (!NetUtil.isValidIpV4Address(engine.getPeerHost())
        && !NetUtil.isValidIpV6Address(engine.getPeerHost())
        && !hasName(chain[0])) {
      throw new CertificateException("it has no name in subjectAltName, and CN does not count");
    }
  }

  private static boolean hasName(X509Certificate certificate) throws CertificateException {
    Collection<List<?>> names = certificate.getSubjectAlternativeNames();
    return names != null && names.stream().anyMatch(name -> name.getFirst().equals(DNS_NAME));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    usual.checkServerTrusted(chain, type, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    usual.checkServerTrusted(chain, type);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return usual.getAcceptedIssuers();
  }
}
