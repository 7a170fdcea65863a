package io.kamille.core.tls;

import io.netty.handler.ssl.OpenSslCertificateException;
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
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Verifies clients' certificates by their authorities. Immutable; any thread. */
final class ClientTrust extends X509ExtendedTrustManager {

  /*
   * The JDK verifies. Netty tells BoringSSL if a certificate is expired, not valid yet or revoked,
   * and otherwise that something went wrong: then clients get the alert `internal_error`. So the
   * other reasons are told here, and the alert is `unknown_ca` or `bad_certificate` (RFC 8446 §6.2).
   */
  private static final Set<Reason> TOLD =
      Set.of(BasicReason.EXPIRED, BasicReason.NOT_YET_VALID, BasicReason.REVOKED);

  // BoringSSL's X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY and X509_V_ERR_CERT_REJECTED.
  private static final int UNKNOWN_ISSUER = 20;
  private static final int REJECTED = 28;

  private final X509ExtendedTrustManager verifier;

  /**
   * Trusts these authorities, or nobody if there are none.
   *
   * @throws IOException if they cannot be used
   */
  ClientTrust(List<X509Certificate> authorities) throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    for (int i = 0; i < authorities.size(); i++) {
      store.setCertificateEntry("authority" + i, authorities.get(i));
    }
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    verifier = (X509ExtendedTrustManager) factory.getTrustManagers()[0];
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    try {
      verifier.checkClientTrusted(chain, type, engine);
    } catch (CertificateException refused) {
      throw told(refused);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    verifier.checkClientTrusted(chain, type, socket);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    try {
      verifier.checkClientTrusted(chain, type);
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
    throw isServer();
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    throw isServer();
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    throw isServer();
  }

  private static CertificateException isServer() {
    return new CertificateException("this is a server");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return verifier.getAcceptedIssuers();
  }
}
