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
import java.security.interfaces.RSAPrivateKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.openssl.PEMException;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.util.io.pem.PemObject;

/** Reads and writes certificates and keys as PEM files (RFC 7468). Stateless; any thread. */
public final class PemFile {

  private static final Pattern BLOCK =
      Pattern.compile(
          "-----BEGIN ([A-Z0-9 ]+)-----\\s*+((?:[A-Za-z-]+:[^\\n]*+\\n\\s*+){0,8}+)"
              + "([A-Za-z0-9+/=\\s]*+)-----END \\1-----");
  private static final int MOST_BYTES = 1 << 20;
  private static final int LEAST_RSA_BITS = 1024;
  private static final int MOST_RSA_BITS = 8192;

  /** The keys that BoringSSL signs with in a handshake, by the identifiers of kind or curve. */
  private static final Map<String, String> ALGORITHMS =
      Map.of(
          "1.2.840.113549.1.1.1", "RSA",
          "1.2.840.10045.3.1.7", "EC",
          "1.3.132.0.34", "EC",
          "1.3.132.0.35", "EC");

  private static final String ELLIPTIC = "1.2.840.10045.2.1";
  private static final Map<String, String> OF_NO_USE =
      Map.of(
          "1.3.101.112", "Ed25519",
          "1.3.101.113", "Ed448",
          "1.2.840.113549.1.1.10", "RSA-PSS",
          "1.2.840.10040.4.1", "DSA",
          "1.3.132.0.33", "EC on P-224",
          "1.3.132.0.10", "EC on secp256k1");

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
        chain.add(certificate(file, blocks.group(3)));
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
        boolean hasPassword = blocks.group(2).contains("ENCRYPTED");
        String kind = hasPassword ? "ENCRYPTED " + blocks.group(1) : blocks.group(1);
        return privateKey(file, kind, blocks.group(3));
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
    try {
      return usable(key);
    } catch (IOException | RuntimeException | InvalidKeySpecException wrong) {
      throw new IOException(file + ": a private key that cannot be used: " + wrong.getMessage());
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("RSA and EC come with every JDK", missing);
    }
  }

  /** The key, if a handshake can sign with it. */
  private static PrivateKey usable(byte[] encoded) throws IOException, GeneralSecurityException {
    AlgorithmIdentifier kind = PrivateKeyInfo.getInstance(encoded).getPrivateKeyAlgorithm();
    String name = kind.getAlgorithm().getId();
    if (name.equals(ELLIPTIC)) {
      name = String.valueOf(kind.getParameters());
    }
    String algorithm = ALGORITHMS.get(name);
    String told = OF_NO_USE.getOrDefault(name, name.matches("[0-9.]+") ? name : "another kind");
    if (algorithm != null) {
      PrivateKey key =
          KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
      int bits = key instanceof RSAPrivateKey rsa ? rsa.getModulus().bitLength() : LEAST_RSA_BITS;
      if (bits >= LEAST_RSA_BITS && bits <= MOST_RSA_BITS) {
        return key;
      }
      told = "RSA of " + bits + " bits";
    }
    throw new IOException(
        told + " (expected: RSA of 1,024 to 8,192 bits, or EC on P-256, P-384 or P-521)");
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
