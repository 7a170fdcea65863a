package io.kamille.core.tls;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;

/**
 * Makes a certificate for trying Kamille out: a fresh P-256 key that signs itself (RFC 5280). No
 * client trusts it unless told to. Stateless; any thread.
 */
public final class SelfSigned {

  private static final Duration LIFETIME = Duration.ofDays(30);
  private static final Duration CLOCK_DIFFERENCE = Duration.ofHours(1);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final byte[] ECDSA_WITH_SHA256 =
      Der.sequence(Der.identifier("1.2.840.10045.4.3.2"));
  private static final byte[] COMMON_NAME = Der.identifier("2.5.4.3");
  private static final byte[] SUBJECT_ALTERNATIVE_NAME = Der.identifier("2.5.29.17");
  private static final byte[] BASIC_CONSTRAINTS = Der.identifier("2.5.29.19");
  private static final int DNS_NAME = 0x82;
  private static final int IP_ADDRESS = 0x87;
  private static final int SERIAL_BITS = 127;

  private SelfSigned() {}

  /** A certificate for this machine's loopback names, valid for 30 days from {@code now} on. */
  public static ServerCertificate forTrying(Instant now) {
    return of(now, List.of("localhost", "127.0.0.1", "::1"));
  }

  /**
   * A certificate for these names.
   *
   * @param names DNS names, also with a wildcard, and IP addresses
   */
  public static ServerCertificate of(Instant now, List<String> names) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair keys = generator.generateKeyPair();
      byte[] name = name(names.getFirst());
      X509Certificate certificate =
          issue(keys, name, keys, name, names, now, now.plus(LIFETIME), false);
      return ServerCertificate.of(List.of(certificate), keys.getPrivate(), "self-signed");
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("P-256 and SHA-256 come with every JDK", missing);
    }
  }

  /** A name of one part, the common name. */
  static byte[] name(String commonName) {
    return Der.sequence(Der.element(Der.SET, Der.sequence(COMMON_NAME, Der.utf8(commonName))));
  }

  /**
   * A certificate for the public key of {@code subject}, signed by the P-256 key of {@code issuer}.
   */
  static X509Certificate issue(
      KeyPair subject,
      byte[] subjectName,
      KeyPair issuer,
      byte[] issuerName,
      List<String> names,
      Instant from,
      Instant until,
      boolean isAuthority)
      throws GeneralSecurityException {
    byte[] body =
        Der.sequence(
            Der.element(0xa0, Der.integer(BigInteger.TWO)),
            Der.integer(new BigInteger(SERIAL_BITS, new SecureRandom())),
            ECDSA_WITH_SHA256,
            issuerName,
            Der.sequence(
                Der.time(TIME.format(from.minus(CLOCK_DIFFERENCE))), Der.time(TIME.format(until))),
            subjectName,
            subject.getPublic().getEncoded(),
            Der.element(0xa3, Der.sequence(constraints(isAuthority), alternatives(names))));
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(issuer.getPrivate());
    signature.update(body);
    byte[] whole = Der.sequence(body, ECDSA_WITH_SHA256, Der.bits(signature.sign()));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(whole));
  }

  private static byte[] constraints(boolean isAuthority) {
    byte[] value = isAuthority ? Der.sequence(Der.bool(true)) : Der.sequence();
    return Der.sequence(BASIC_CONSTRAINTS, Der.bool(true), Der.element(Der.OCTET_STRING, value));
  }

  private static byte[] alternatives(List<String> names) {
    byte[][] parts = names.stream().map(SelfSigned::alternative).toArray(byte[][]::new);
    return Der.sequence(
        SUBJECT_ALTERNATIVE_NAME, Der.element(Der.OCTET_STRING, Der.sequence(parts)));
  }

  private static byte[] alternative(String name) {
    if (name.indexOf(':') >= 0 || name.matches("[0-9.]+")) {
      return Der.element(IP_ADDRESS, InetAddress.ofLiteral(name).getAddress());
    }
    return Der.element(DNS_NAME, name.getBytes(StandardCharsets.US_ASCII));
  }
}
