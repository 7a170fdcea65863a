package io.kamille.core.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.sec.ECPrivateKey;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.jspecify.annotations.Nullable;

/** Certificates for tests: an authority and what it signs. */
public final class Certificates {

  private final KeyPair keys;
  private final X500Name name;
  private final X509Certificate authority;
  private final Instant now = Instant.now();

  public Certificates(String commonName) throws GeneralSecurityException {
    keys = ec();
    name = SelfSigned.name(commonName);
    authority =
        SelfSigned.issue(
            keys,
            name,
            keys,
            name,
            List.of("authority.test"),
            now,
            now.plus(Duration.ofDays(1)),
            true,
            null);
  }

  public X509Certificate authority() {
    return authority;
  }

  /** The authority as a PEM file has it. */
  public String pem() throws GeneralSecurityException {
    return pem("CERTIFICATE", authority.getEncoded());
  }

  public ServerCertificate ecdsa(String... names) throws GeneralSecurityException {
    return signed(ec(), names);
  }

  public ServerCertificate rsa(String... names) throws GeneralSecurityException {
    return signed(rsaKeys(), names);
  }

  /** One that was good until an hour ago. */
  public ServerCertificate expired(String... names) throws GeneralSecurityException {
    return signed(ec(), now.minus(Duration.ofDays(2)), now.minus(Duration.ofHours(1)), names);
  }

  /** What a server of the JDK needs to show this certificate. */
  public static SSLContext server(ServerCertificate certificate)
      throws GeneralSecurityException, IOException {
    return server(certificate, null);
  }

  /** The same, which asks who comes for a certificate that this authority has signed. */
  public static SSLContext server(ServerCertificate certificate, @Nullable X509Certificate clients)
      throws GeneralSecurityException, IOException {
    char[] none = {};
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, none);
    store.setKeyEntry(
        "own", certificate.key(), none, certificate.chain().toArray(X509Certificate[]::new));
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, none);
    if (clients != null) {
      store.setCertificateEntry("clients", clients);
    }
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), new SecureRandom());
    return context;
  }

  /** One whose name is in CN alone; subjectAltName has an address. */
  public ServerCertificate named(String commonName) throws GeneralSecurityException {
    KeyPair subject = ec();
    X509Certificate certificate =
        SelfSigned.issue(
            subject,
            SelfSigned.name(commonName),
            keys,
            name,
            List.of("192.0.2.1"),
            now,
            now.plus(Duration.ofDays(1)),
            false,
            null);
    return ServerCertificate.of(List.of(certificate, authority), subject.getPrivate(), commonName);
  }

  private ServerCertificate signed(KeyPair subject, String... names)
      throws GeneralSecurityException {
    return signed(subject, now, now.plus(Duration.ofDays(1)), names);
  }

  private ServerCertificate signed(KeyPair subject, Instant from, Instant until, String... names)
      throws GeneralSecurityException {
    X509Certificate certificate =
        SelfSigned.issue(
            subject,
            SelfSigned.name(names[0]),
            keys,
            name,
            List.of(names),
            from,
            until,
            false,
            null);
    return ServerCertificate.of(List.of(certificate, authority), subject.getPrivate(), names[0]);
  }

  public static KeyPair ec() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    return generator.generateKeyPair();
  }

  static KeyPair rsaKeys() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    return generator.generateKeyPair();
  }

  /** Writes chain and key as {@code NAME.pem} and {@code NAME.key} into the directory. */
  public static void write(ServerCertificate certificate, Path directory, String name)
      throws IOException, GeneralSecurityException {
    var text = new StringBuilder();
    for (X509Certificate one : certificate.chain()) {
      text.append(pem("CERTIFICATE", one.getEncoded()));
    }
    Files.writeString(directory.resolve(name + ".pem"), text);
    writeKey(directory.resolve(name + ".key"), pem("PRIVATE KEY", certificate.key().getEncoded()));
  }

  /** Writes what clients trust. */
  public static void writeAuthority(Certificates signer, Path file)
      throws IOException, GeneralSecurityException {
    Files.writeString(file, pem("CERTIFICATE", signer.authority().getEncoded()));
  }

  /** A certificate as a PEM file has it. */
  public static String pem(X509Certificate certificate) throws GeneralSecurityException {
    return pem("CERTIFICATE", certificate.getEncoded());
  }

  static void writeKey(Path file, String text) throws IOException {
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
  }

  static String pem(String kind, byte[] octets) {
    return "-----BEGIN "
        + kind
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(octets)
        + "\n-----END "
        + kind
        + "-----\n";
  }

  /** The key within PKCS #8, in the form of its own algorithm. */
  static byte[] inner(byte[] pkcs8) {
    return PrivateKeyInfo.getInstance(pkcs8).getPrivateKey().getOctets();
  }

  /** An EC key in its own form with the curve in it, as openssl ecparam writes it (RFC 5915). */
  static byte[] withCurve(byte[] pkcs8) throws IOException {
    ECPrivateKey bare = ECPrivateKey.getInstance(inner(pkcs8));
    return new ECPrivateKey(256, bare.getKey(), SECObjectIdentifiers.secp256r1).getEncoded();
  }
}
