package io.kamille.core.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads certificates and private keys from PEM files (RFC 7468). Stateless; any thread. */
final class PemFile {

  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----\\s*([A-Za-z0-9+/=\\s]*)-----END \\1-----");
  private static final long MOST_BYTES = 1 << 20;
  private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");
  private static final byte[] RSA = Der.identifier("1.2.840.113549.1.1.1");
  private static final byte[] EC = Der.identifier("1.2.840.10045.2.1");
  private static final int EC_PARAMETERS = 0xa0;

  private PemFile() {}

  /**
   * The certificates of a file, in its order.
   *
   * @throws IOException with one sentence that names the file and what is wrong with it
   */
  static List<X509Certificate> certificates(Path file) throws IOException {
    List<X509Certificate> chain = new ArrayList<>();
    Matcher blocks = BLOCK.matcher(text(file));
    while (blocks.find()) {
      if (blocks.group(1).endsWith("CERTIFICATE")) {
        chain.add(certificate(file, blocks.group(2)));
      }
    }
    if (chain.isEmpty()) {
      throw new IOException(file + ": no certificate in it (expected: a PEM file)");
    }
    return chain;
  }

  private static X509Certificate certificate(Path file, String base64) throws IOException {
    try {
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(octets(base64)));
    } catch (GeneralSecurityException | IllegalArgumentException wrong) {
      throw new IOException(file + ": a certificate that cannot be read: " + wrong.getMessage());
    }
  }

  /**
   * The first private key of a file that not everybody can read.
   *
   * @throws IOException with one sentence that names the file and what is wrong with it
   */
  static PrivateKey privateKey(Path file) throws IOException {
    Matcher blocks = BLOCK.matcher(text(file));
    while (blocks.find()) {
      if (blocks.group(1).endsWith("PRIVATE KEY")) {
        notForEverybody(file);
        return privateKey(file, blocks.group(1), blocks.group(2));
      }
    }
    throw new IOException(file + ": no private key in it (expected: a PEM file)");
  }

  private static void notForEverybody(Path file) throws IOException {
    try {
      if (Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
        throw new IOException(
            file + ": everybody may read this private key; run chmod o-rwx on it");
      }
    } catch (UnsupportedOperationException withoutPermissions) {
      // A file system without them has nothing to say.
    }
  }

  private static PrivateKey privateKey(Path file, String kind, String base64) throws IOException {
    byte[] key;
    try {
      key =
          switch (kind) {
            case "PRIVATE KEY" -> octets(base64);
            case "RSA PRIVATE KEY" -> wrapped(Der.sequence(RSA, Der.NULL), octets(base64));
            case "EC PRIVATE KEY" -> wrapped(curve(octets(base64)), octets(base64));
            default ->
                throw new IOException(
                    file
                        + ": "
                        + kind
                        + " (expected: a key without a password; see openssl pkcs8)");
          };
    } catch (IllegalArgumentException wrong) {
      throw new IOException(file + ": a private key that cannot be read: " + wrong.getMessage());
    }
    for (String algorithm : ALGORITHMS) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(key));
      } catch (InvalidKeySpecException another) {
        // A key of another algorithm.
      } catch (GeneralSecurityException missing) {
        throw new IllegalStateException(algorithm + " comes with every JDK", missing);
      }
    }
    throw new IOException(file + ": a private key that is neither RSA, EC nor Ed25519");
  }

  /** PKCS #8 around a key in the form of its own algorithm (RFC 5958). */
  private static byte[] wrapped(byte[] algorithm, byte[] key) {
    return Der.sequence(
        Der.integer(BigInteger.ZERO), algorithm, Der.element(Der.OCTET_STRING, key));
  }

  /** The algorithm with the curve that an EC key names (RFC 5915). */
  private static byte[] curve(byte[] key) {
    Der.Element whole = Der.read(key, 0);
    int at = whole.start();
    while (at < whole.end()) {
      Der.Element part = Der.read(key, at);
      if (part.tag() == EC_PARAMETERS) {
        return Der.sequence(EC, Arrays.copyOfRange(key, part.start(), part.end()));
      }
      at = part.end();
    }
    throw new IllegalArgumentException("an EC key that names no curve");
  }

  private static byte[] octets(String base64) {
    return Base64.getMimeDecoder().decode(base64);
  }

  private static String text(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException(file + ": no such file");
    }
    if (Files.size(file) > MOST_BYTES) {
      throw new IOException(file + ": larger than any certificate or key");
    }
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException refused) {
      throw new IOException(file + ": cannot be read: " + refused.getMessage(), refused);
    }
  }
}
