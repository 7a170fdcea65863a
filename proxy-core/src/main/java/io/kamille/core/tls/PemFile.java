package io.kamille.core.tls;

import io.kamille.core.setting.Problems;
import io.kamille.core.setting.SmallFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
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
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bouncycastle.openssl.PEMException;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.util.io.pem.PemObject;

/** Reads and writes certificates and keys as PEM files (RFC 7468). Stateless; any thread. */
public final class PemFile {

  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----\\s*([A-Za-z0-9+/=\\s]*)-----END \\1-----");
  private static final int MOST_BYTES = 1 << 20;
  private static final List<String> ALGORITHMS = List.of("EC", "RSA", "EdDSA");

  private PemFile() {}

  /**
   * The certificates of a file, in its order.
   *
   * @throws IOException with one sentence that names the file and what is wrong with it
   */
  public static List<X509Certificate> certificates(Path file) throws IOException {
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
  public static PrivateKey privateKey(Path file) throws IOException {
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

  private static PrivateKey privateKey(Path file, String kind, String block) throws IOException {
    byte[] key;
    try {
      key =
          switch (kind) {
            case "PRIVATE KEY" -> octets(block);
            case "RSA PRIVATE KEY", "EC PRIVATE KEY" -> ofOlderForm(kind, block);
            default ->
                throw new IOException(
                    file
                        + ": "
                        + kind
                        + " (expected: a key without a password; see openssl pkcs8)");
          };
    } catch (IllegalArgumentException | PEMException wrong) {
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

  /** PKCS #8 (RFC 5958) of a key in the form of its own algorithm, which names its curve. */
  private static byte[] ofOlderForm(String kind, String base64) throws IOException {
    String block = "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n";
    try (var parser = new PEMParser(new StringReader(block))) {
      if (parser.readObject() instanceof PEMKeyPair pair) {
        return pair.getPrivateKeyInfo().getEncoded();
      }
    }
    throw new IllegalArgumentException("no key in it");
  }

  private static byte[] octets(String base64) {
    return Base64.getMimeDecoder().decode(base64);
  }

  private static String text(Path file) throws IOException {
    try {
      return new String(SmallFile.read(file, MOST_BYTES), StandardCharsets.ISO_8859_1);
    } catch (IOException refused) {
      throw new IOException(file + ": " + Problems.reason(refused), refused);
    }
  }

  /** The text of a file with these certificates and keys. */
  public static String text(List<?> parts) throws IOException {
    StringWriter text = new StringWriter();
    try (var writer = new JcaPEMWriter(text)) {
      for (Object part : parts) {
        writer.writeObject(
            part instanceof PrivateKey key ? new PemObject("PRIVATE KEY", key.getEncoded()) : part);
      }
    }
    return text.toString();
  }
}
