package io.kamille.core.tls;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.jspecify.annotations.Nullable;

/**
 * Makes certificates of a fresh P-256 key that signs itself (RFC 5280), to try Kamille or to wait
 * for a real one. No client trusts them unless told to. Stateless; any thread.
 */
public final class SelfSigned {

  /** Where such a certificate is said to come from. */
  static final String SOURCE = "self-signed";

  private static final Duration LIFETIME = Duration.ofDays(30);
  private static final Duration CLOCK_DIFFERENCE = Duration.ofHours(1);
  private static final int SERIAL_BITS = 127;
  private static final KeyPurposeId[] PURPOSES = {
    KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth
  };
  private static final ASN1ObjectIdentifier ACME_IDENTIFIER =
      new ASN1ObjectIdentifier("1.3.6.1.5.5.7.1.31");

  private SelfSigned() {}

  /** A certificate for this machine's loopback names, valid for 30 days from {@code now} on. */
  static ServerCertificate forTrying(Instant now) {
    return of(now, List.of("localhost", "127.0.0.1", "::1"));
  }

  /**
   * A certificate for these names.
   *
   * @param names DNS names, also with a wildcard, and IP addresses
   */
  public static ServerCertificate of(Instant now, List<String> names) {
    return of(now, names, null);
  }

  /**
   * A certificate that proves a name to an authority (RFC 8737 §3).
   *
   * @param hash of what the authority expects
   */
  public static ServerCertificate proving(Instant now, String name, byte[] hash) {
    return of(now, List.of(name), hash);
  }

  private static ServerCertificate of(Instant now, List<String> names, byte @Nullable [] proof) {
    KeyPair keys = freshKeys();
    X500Name name = name(names.getFirst());
    X509Certificate certificate =
        issue(keys, name, keys, name, names, now, now.plus(LIFETIME), false, proof);
    return ServerCertificate.of(List.of(certificate), keys.getPrivate(), SOURCE);
  }

  /** A P-256 key and its public one. */
  public static KeyPair freshKeys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair();
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("P-256 comes with every JDK", missing);
    }
  }

  /** A name of one part, the common name. */
  static X500Name name(String commonName) {
    return new X500NameBuilder(BCStyle.INSTANCE).addRDN(BCStyle.CN, commonName).build();
  }

  /**
   * A certificate for the public key of {@code subject}, signed by the P-256 key of {@code issuer}.
   */
  static X509Certificate issue(
      KeyPair subject,
      X500Name subjectName,
      KeyPair issuer,
      X500Name issuerName,
      List<String> names,
      Instant from,
      Instant until,
      boolean isAuthority,
      byte @Nullable [] proof) {
    var builder =
        new JcaX509v3CertificateBuilder(
            issuerName,
            new BigInteger(SERIAL_BITS, new SecureRandom()),
            Date.from(from.minus(CLOCK_DIFFERENCE)),
            Date.from(until),
            subjectName,
            subject.getPublic());
    GeneralName[] alternatives =
        names.stream().map(SelfSigned::alternative).toArray(GeneralName[]::new);
    try {
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(isAuthority));
      var identifiers = new JcaX509ExtensionUtils();
      builder.addExtension(
          Extension.subjectKeyIdentifier,
          false,
          identifiers.createSubjectKeyIdentifier(subject.getPublic()));
      builder.addExtension(
          Extension.authorityKeyIdentifier,
          false,
          identifiers.createAuthorityKeyIdentifier(issuer.getPublic()));
      if (isAuthority) {
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign));
      } else if (proof == null) {
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(PURPOSES));
      }
      if (!names.isEmpty()) {
        builder.addExtension(
            Extension.subjectAlternativeName, false, new GeneralNames(alternatives));
      }
      if (proof != null) {
        builder.addExtension(ACME_IDENTIFIER, true, new DEROctetString(proof));
      }
      return new JcaX509CertificateConverter()
          .getCertificate(
              builder.build(
                  new JcaContentSignerBuilder("SHA256withECDSA").build(issuer.getPrivate())));
    } catch (CertIOException | OperatorCreationException | GeneralSecurityException missing) {
      throw new IllegalStateException("P-256 and SHA-256 come with every JDK", missing);
    }
  }

  private static GeneralName alternative(String name) {
    return new GeneralName(
        ServerCertificate.isAddress(name) ? GeneralName.iPAddress : GeneralName.dNSName, name);
  }
}
