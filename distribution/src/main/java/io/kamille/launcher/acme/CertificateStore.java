package io.kamille.launcher.acme;

import io.kamille.admin.auth.PrivateFile;
import io.kamille.core.tls.PemFile;
import io.kamille.core.tls.SelfSigned;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The directory of keys, certificates and counts. Whoever may read it reads; one process at a time
 * holds its lock and writes. One thread; another may let go of the lock.
 */
final class CertificateStore implements AutoCloseable {

  /*
   *   lock                               who holds it orders
   *   challenges/HASH                    what an authority may ask now, of any process
   *   HOST/account.pem                   by which HOST knows us
   *   HOST/certificates/NAME/renewal     counts, and the moment of the next order
   *   HOST/certificates/NAME/live        → N, renamed over: key and chain change together
   *   HOST/certificates/NAME/N/          key.pem, chain.pem; and N-1, the one before
   */
  private static final System.Logger LOG = System.getLogger("kamille.certificates");
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Path root;
  private final Path home;
  private @Nullable FileChannel gate;

  /**
   * Of an authority.
   *
   * @param settings say where it lies
   */
  CertificateStore(AcmeSettings settings) {
    root = settings.store();
    home = settings.home();
  }

  @Override
  public String toString() {
    return root.toString();
  }

  /** Whether this process writes from now on: no other one does. */
  boolean lock() throws IOException {
    if (gate != null) {
      return true;
    }
    FileChannel channel = PrivateFile.open(root.resolve("lock"));
    FileLock lock = channel.tryLock();
    if (lock == null) {
      channel.close();
      return false;
    }
    gate = channel;
    return true;
  }

  /** Lets another process write. */
  @Override
  public void close() throws IOException {
    if (gate != null) {
      gate.close();
      gate = null;
    }
  }

  /**
   * The certificate of a name; null if there is none.
   *
   * @param known what it was at the last look, which is not read again
   */
  @Nullable ServerCertificate certificate(String name, @Nullable ServerCertificate known)
      throws IOException {
    Path live = of(name).resolve("live");
    if (!Files.exists(live)) {
      return null;
    }
    Path version = live.toRealPath();
    Path chain = version.resolve("chain.pem");
    return known != null && known.source().equals(chain.toString())
        ? known
        : ServerCertificate.read(chain, version.resolve("key.pem"));
  }

  /** Puts a certificate in the place of the one before it: whole, or not at all. */
  ServerCertificate save(String name, Issuer.Issued made) throws IOException {
    Path directory = of(name);
    Path live = directory.resolve("live");
    int number = Files.exists(live) ? 1 + number(live.toRealPath()) : 1;
    Path next = directory.resolve(Integer.toString(number));
    PrivateFile.replace(next.resolve("key.pem"), pem(List.of(made.keys().getPrivate())));
    PrivateFile.replace(next.resolve("chain.pem"), pem(made.chain()));
    ServerCertificate written =
        ServerCertificate.read(next.resolve("chain.pem"), next.resolve("key.pem"));
    Path link = directory.resolve("next");
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, next.getFileName());
    PrivateFile.publish(link, live);
    delete(directory.resolve(Integer.toString(number - 2)));
    return written;
  }

  private static int number(Path version) throws IOException {
    try {
      return Integer.parseInt(version.getFileName().toString());
    } catch (NumberFormatException strange) {
      throw new IOException(version + ": not a number", strange);
    }
  }

  /** What stays of it takes a few kilobytes. */
  private static void delete(Path version) {
    try {
      for (String file : List.of("key.pem", "chain.pem", "")) {
        Files.deleteIfExists(version.resolve(file));
      }
    } catch (IOException left) {
      LOG.log(Level.DEBUG, "an old certificate stays", left);
    }
  }

  private static byte[] pem(List<?> parts) throws IOException {
    return PemFile.text(parts).getBytes(StandardCharsets.US_ASCII);
  }

  /** What is known of a name's orders. */
  RenewalPlan renewal(String name) throws IOException {
    Path file = of(name).resolve("renewal");
    try {
      return Files.exists(file)
          ? JSON.readValue(file.toFile(), RenewalPlan.class)
          : RenewalPlan.NONE;
    } catch (JacksonException broken) {
      throw new IOException(file + ": " + broken.getOriginalMessage(), broken);
    }
  }

  /** Has it known after a crash. */
  void save(String name, RenewalPlan renewal) throws IOException {
    PrivateFile.replace(of(name).resolve("renewal"), JSON.writeValueAsBytes(renewal));
  }

  private Path of(String name) {
    return home.resolve("certificates").resolve(name.replace('*', '_').replace(':', '_'));
  }

  /** The key by which the authority knows us, on the disk before it is first used. */
  KeyPair accountKey() throws IOException {
    Path file = home.resolve("account.pem");
    if (!Files.exists(file)) {
      KeyPair fresh = SelfSigned.freshKeys();
      PrivateFile.replace(file, pem(List.of(fresh.getPrivate(), fresh.getPublic())));
    }
    try (var parser = new PEMParser(Files.newBufferedReader(file))) {
      if (parser.readObject() instanceof PrivateKeyInfo secret
          && parser.readObject() instanceof SubjectPublicKeyInfo open) {
        var converter = new JcaPEMKeyConverter();
        return new KeyPair(converter.getPublicKey(open), converter.getPrivateKey(secret));
      }
    }
    throw new IOException(file + ": not a private key and its public one");
  }

  /** Has every process answer this, too. */
  void open(Proof proof) throws IOException {
    PrivateFile.replace(challenge(proof), JSON.writeValueAsBytes(proof));
  }

  /** Nobody asks for it any more. */
  void close(Proof proof) throws IOException {
    Files.deleteIfExists(challenge(proof));
  }

  /** Nobody asks for anything: who did so crashed. */
  void closeAll() throws IOException {
    for (Path file : challenges()) {
      Files.deleteIfExists(file);
    }
  }

  private List<Path> challenges() throws IOException {
    Path directory = root.resolve("challenges");
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.filter(file -> !file.getFileName().toString().startsWith(".")).toList();
    }
  }

  private Path challenge(Proof proof) {
    String hash = HexFormat.of().formatHex(Proof.sha256(proof.authorization()));
    return root.resolve("challenges").resolve(hash);
  }

  /** What may be asked now; a file that is changing, or makes no sense, is left out. */
  List<Proof> proofs() throws IOException {
    List<Proof> proofs = new ArrayList<>();
    for (Path file : challenges()) {
      try {
        proofs.add(JSON.readValue(Files.readAllBytes(file), Proof.class));
      } catch (NoSuchFileException | JacksonException strange) {
        LOG.log(Level.DEBUG, "{0}: no challenge: {1}", file, strange.getMessage());
      }
    }
    return proofs;
  }
}
