package io.kamille.core.tls;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts as the JDK does, but takes no name from CN, which the JDK falls back to: RFC 9110 §4.3.4
 * forbids it. Any thread.
 */
final class NamedTrust extends X509ExtendedTrustManager {

  private static final int DNS_NAME = 2;

  private final X509ExtendedTrustManager usual;

  private NamedTrust(X509ExtendedTrustManager usual) {
    this.usual = usual;
  }

  /** Trust in what these have signed. */
  static NamedTrust in(Collection<X509Certificate> authorities)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    for (X509Certificate authority : authorities) {
      store.setCertificateEntry(String.valueOf(store.size()), authority);
    }
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return new NamedTrust((X509ExtendedTrustManager) factory.getTrustManagers()[0]);
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
  public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
      throws CertificateException {
    usual.checkClientTrusted(chain, type, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    usual.checkServerTrusted(chain, type, socket);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
      throws CertificateException {
    usual.checkClientTrusted(chain, type, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
    usual.checkServerTrusted(chain, type);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
    usual.checkClientTrusted(chain, type);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return usual.getAcceptedIssuers();
  }
}
