package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.Date;
import java.util.HexFormat;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Certificates and keys come from files that make sense, or with one sentence that says why not.
 */
class ServerCertificateTest {

  @TempDir private Path directory;
  private Path chain;
  private Path key;
  private ServerCertificate made;

  @BeforeEach
  void write() throws IOException, GeneralSecurityException {
    made = new Certificates("test authority").ecdsa("Example.ORG", "*.example.org", "127.0.0.1");
    Certificates.write(made, directory, "server");
    chain = directory.resolve("server.pem");
    key = directory.resolve("server.key");
  }

  @Test
  void chainAndKeyAreRead() throws IOException {
    ServerCertificate read = ServerCertificate.read(chain, key);
    assertThat(read.chain()).hasSize(2);
    assertThat(read.names()).containsExactlyInAnyOrder("example.org", "*.example.org", "127.0.0.1");
    assertThat(read.notAfter()).isEqualTo(made.notAfter());
  }

  /** Eight octets are a network (RFC 5280 §4.2.1.6), which no client asks for. */
  @Test
  void aNetworkIsNoName() throws IOException, GeneralSecurityException {
    X500Name name = SelfSigned.name("network");
    var builder =
        new JcaX509v3CertificateBuilder(
            name,
            BigInteger.ONE,
            Date.from(Instant.now()),
            Date.from(made.notAfter()),
            name,
            made.chain().getFirst().getPublicKey());
    builder.addExtension(
        Extension.subjectAlternativeName,
        false,
        new GeneralNames(
            new GeneralName[] {
              new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[8])),
              new GeneralName(GeneralName.dNSName, "a.test")
            }));
    ContentSigner signer =
        assertDoesNotThrow(() -> new JcaContentSignerBuilder("SHA256withECDSA").build(made.key()));
    Files.writeString(chain, Certificates.pem("CERTIFICATE", builder.build(signer).getEncoded()));
    assertThat(ServerCertificate.read(chain, key).names()).containsExactly("a.test");
  }

  @Test
  void rereadingWhatHasNotChangedGivesAnEqualCertificate() throws IOException {
    assertThat(ServerCertificate.read(chain, key)).isEqualTo(ServerCertificate.read(chain, key));
  }

  @Test
  void keysInTheFormOfTheirOwnAlgorithmAreRead() throws IOException, GeneralSecurityException {
    byte[] inner = Certificates.withCurve(made.key().getEncoded());
    Certificates.writeKey(key, Certificates.pem("EC PRIVATE KEY", inner));
    assertThat(ServerCertificate.read(chain, key).names()).contains("example.org");

    ServerCertificate rsa = new Certificates("another").rsa("rsa.example.org");
    Certificates.write(rsa, directory, "rsa");
    Path rsaKey = directory.resolve("rsa.key");
    Certificates.writeKey(
        rsaKey, Certificates.pem("RSA PRIVATE KEY", Certificates.inner(rsa.key().getEncoded())));
    assertThat(ServerCertificate.read(directory.resolve("rsa.pem"), rsaKey).names())
        .containsExactly("rsa.example.org");
  }

  @Test
  void aKeyThatEverybodyMayReadIsRefused() throws IOException {
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessage(key + ": everybody may read this private key; run chmod o-rwx on it");
  }

  @Test
  void theKeyOfAnotherCertificateIsRefused() throws IOException, GeneralSecurityException {
    Certificates.writeKey(
        key, Certificates.pem("PRIVATE KEY", Certificates.ec().getPrivate().getEncoded()));
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessage(key + ": not the private key of the certificate in " + chain);
  }

  @ParameterizedTest
  @CsvSource({
    "Ed25519, Ed25519",
    "Ed448, Ed448",
    "RSASSA-PSS, RSA-PSS",
    "DSA, DSA",
    "RSA 512, RSA of 512 bits",
    "EC secp224r1, EC on P-224",
    "EC secp256k1, EC on secp256k1",
    "EC brainpoolP256r1, 1.3.36.3.3.2.8.1.1.7"
  })
  void aKeyThatNoHandshakeCanUseIsRefused(String kind, String told) throws Exception {
    String[] words = kind.split(" ", -1);
    KeyPairGenerator generator =
        words.length > 1
            ? KeyPairGenerator.getInstance(words[0], new BouncyCastleProvider())
            : KeyPairGenerator.getInstance(words[0]);
    if (words.length > 1 && words[0].equals("EC")) {
      generator.initialize(new ECGenParameterSpec(words[1]));
    } else if (words.length > 1) {
      generator.initialize(Integer.parseInt(words[1]));
    }
    byte[] encoded = generator.generateKeyPair().getPrivate().getEncoded();
    Certificates.writeKey(key, Certificates.pem("PRIVATE KEY", encoded));
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessageContaining("a private key that cannot be used: " + told + " (expected: RSA");
  }

  @ParameterizedTest
  @ValueSource(strings = {"RSA PRIVATE KEY", "EC PRIVATE KEY"})
  void aKeyWithAPasswordInTheOlderFormIsToldAsThat(String kind) throws IOException {
    String text =
        Certificates.pem(kind, new byte[100])
            .replaceFirst("-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n");
    Certificates.writeKey(key, text);
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessageContaining("expected: a key without a password");
  }

  @Test
  void whatIsNoCertificateOrKeyIsSaid() throws IOException {
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(directory.resolve("none.pem"), key))
        .withMessage(directory.resolve("none.pem") + ": no file of this name");
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(key, key))
        .withMessage(key + ": no certificate in it (expected: a PEM file)");
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, chain))
        .withMessage(chain + ": no private key in it (expected: a PEM file)");
    Certificates.writeKey(key, Certificates.pem("ENCRYPTED PRIVATE KEY", new byte[] {1, 2, 3}));
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessageContaining("expected: a key without a password");
    Certificates.writeKey(key, Certificates.pem("EC PRIVATE KEY", new byte[] {0x30, 0x55, 3}));
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessageContaining("a private key that cannot be read");
  }

  @ParameterizedTest
  @ValueSource(strings = {"3000", "3003020100", "0500", "30053003060100"})
  void aSequenceThatIsNoKeyIsSaid(String octets) throws IOException {
    byte[] encoded = HexFormat.of().parseHex(octets);
    Certificates.writeKey(key, Certificates.pem("PRIVATE KEY", encoded));
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessageStartingWith(key + ": a private key that cannot be used");
  }

  /** One thread reads for all. */
  @Test
  @Timeout(value = 10, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aBlockWithoutAnEndIsReadInAMoment() throws IOException {
    Files.writeString(chain, "-----BEGIN A-----\n" + " ".repeat(900_000));
    assertThatIOException()
        .isThrownBy(() -> ServerCertificate.read(chain, key))
        .withMessageContaining("no certificate in it");
  }
}
