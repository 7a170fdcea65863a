package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
}
