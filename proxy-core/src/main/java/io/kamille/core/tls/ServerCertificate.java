package io.kamille.core.tls;

import io.netty.util.NetUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A certificate chain, the private key that belongs to it, and the names it is for. Immutable; any
 * thread.
 *
 * @param chain the server's own certificate first
 * @param names DNS names in lower case, some of which may begin with {@code *.}, and IP addresses
 * @param source where it comes from, for messages and metrics
 */
public record ServerCertificate(
    List<X509Certificate> chain, PrivateKey key, Set<String> names, String source) {

  private static final int DNS_NAME = 2;
  private static final int IP_ADDRESS = 7;
  private static final byte[] PROOF =
      "do these two belong together?".getBytes(StandardCharsets.US_ASCII);

  /**
   * Reads the two PEM files.
   *
   * @throws IOException with one sentence: which file, what is wrong with it
   */
  public static ServerCertificate read(Path chainFile, Path keyFile) throws IOException {
    List<X509Certificate> chain = PemFile.certificates(chainFile);
    PrivateKey key = PemFile.privateKey(keyFile);
    if (!belongTogether(chain.getFirst().getPublicKey(), key)) {
      boolean isBehind =
          chain.stream().anyMatch(other -> belongTogether(other.getPublicKey(), key));
      throw new IOException(
          isBehind
              ? chainFile + ": the certificate of the key stands behind another one; write it first"
              : keyFile + ": not the private key of the certificate in " + chainFile);
    }
    return of(chain, key, chainFile.toString());
  }

  /** What is at hand already. */
  public static ServerCertificate of(List<X509Certificate> chain, PrivateKey key, String source) {
    return new ServerCertificate(List.copyOf(chain), key, names(chain.getFirst()), source);
  }

  /** Whether a private key is that of a public one. */
  public static boolean belongTogether(PublicKey publicKey, PrivateKey key) {
    try {
      String algorithm =
          switch (key.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> "EdDSA";
          };
      Signature signer = Signature.getInstance(algorithm);
      signer.initSign(key);
      signer.update(PROOF);
      byte[] proof = signer.sign();
      Signature verifier = Signature.getInstance(algorithm);
      verifier.initVerify(publicKey);
      verifier.update(PROOF);
      return verifier.verify(proof);
    } catch (GeneralSecurityException different) {
      return false;
    }
  }

  /** RFC 9525 §6.3: only the subject alternative names count. */
  private static Set<String> names(X509Certificate certificate) {
    Set<String> names = new LinkedHashSet<>();
    try {
      Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
      if (alternatives != null) {
        for (List<?> alternative : alternatives) {
          String name = String.valueOf(alternative.get(1));
          if (Integer.valueOf(DNS_NAME).equals(alternative.get(0))) {
            names.add(name.toLowerCase(Locale.ROOT));
          } else if (Integer.valueOf(IP_ADDRESS).equals(alternative.get(0))
              && name.indexOf('/') < 0) { // A network is no address.
            names.add(NetUtil.toAddressString(InetAddress.ofLiteral(name)));
          }
        }
      }
    } catch (CertificateParsingException unreadable) {
      // It has no names that a client could ask for: it can still be the default.
    }
    return Set.copyOf(names);
  }

  /** Whether a handshake with it costs a millisecond of the loop: signing by RSA. */
  boolean isSlow() {
    return key.getAlgorithm().equals("RSA");
  }

  /** Whether it is for this host, in lower case. */
  public boolean isFor(String host) {
    return covers(names, host);
  }

  /** Whether such a name is an IP address. */
  public static boolean isAddress(String name) {
    return name.indexOf(':') >= 0 || name.matches("[0-9.]+");
  }

  /** Whether one of these names, some of which may be wildcards, is this host's, in lower case. */
  public static boolean covers(Collection<String> names, String host) {
    return names.contains(host) || names.contains(ServerNames.wildcard(host));
  }

  /** Whether we have made it, so that no client trusts it. */
  public boolean isSelfSigned() {
    return source.equals(SelfSigned.SOURCE);
  }

  /** Why no client takes it now; null if its time is right. */
  public @Nullable String trouble(Instant now) {
    return now.isAfter(notAfter())
        ? "it has expired at " + notAfter()
        : now.isBefore(notBefore()) ? "it is not valid before " + notBefore() : null;
  }

  /** Since when it is valid. */
  public Instant notBefore() {
    return chain.getFirst().getNotBefore().toInstant();
  }

  /** When it expires. */
  public Instant notAfter() {
    return chain.getFirst().getNotAfter().toInstant();
  }

  /** Names no key. */
  @Override
  public String toString() {
    return source + " for " + names + " until " + notAfter();
  }
}
