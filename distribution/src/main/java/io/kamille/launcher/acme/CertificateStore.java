package io.kamille.launcher.acme;

import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.setting.DurableFile;
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
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
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
 *
 * <p>Nodes of a cluster have a directory each. The one that leads holds its lock, and the others
 * take from the log what that one writes.
 */
final class CertificateStore implements AutoCloseable {

  /*
   *   lock                               who holds it orders
   *   challenges/HASH                    what an authority may ask now, of any process
   *   HOST/account.pem                   by which HOST knows us
   *   HOST/certificates/NAME/renewal     counts, and the moment of the next order
   *   HOST/certificates/NAME/live        → N, renamed over: key and chain change together
   *   HOST/certificates/NAME/N/          key.pem, chain.pem; and N-1, the one before
   *
   * In the log: acme/challenges/HASH, and account, renewal/NAME, certificate/NAME of acme/HOST.
   * Counts and account of the log go before those of the directory: they are of whoever ordered
   * last. Of two certificates the one counts that was issued later, for the log may be new.
   */
  private static final System.Logger LOG = System.getLogger("kamille.certificates");
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String CHALLENGES = "acme/challenges/";
  private static final String CHAIN = "-----BEGIN CERTIFICATE";

  /** A node orders one certificate after the other; others are of those that crashed. */
  private static final int MOST_PROOFS = 20;

  private final Path root;
  private final Path home;
  private final @Nullable Supplier<SharedValues> shared;
  private final Map<String, byte[]> taken = new ConcurrentHashMap<>();
  private final Map<String, String> troubles = new ConcurrentHashMap<>();
  private @Nullable FileChannel gate;
  private boolean isFull;

  /**
   * Of an authority.
   *
   * @param settings say where it lies
   * @param shared what the nodes of the cluster have; null without one
   */
  CertificateStore(AcmeSettings settings, @Nullable Supplier<SharedValues> shared) {
    root = settings.store();
    home = settings.home();
    this.shared = shared;
  }

  /** Whether other nodes have to see what is written. */
  boolean isShared() {
    return shared != null;
  }

  private String named(String part) {
    return "acme/" + home.getFileName() + "/" + part;
  }

  private void share(String name, byte @Nullable [] content) throws IOException {
    if (shared != null) {
      shared.get().put(name, content);
    }
  }

  private byte @Nullable [] ofOthers(String name) {
    return shared == null ? null : shared.get().get(name);
  }

  @Override
  public String toString() {
    return root.toString();
  }

  /** Whether this process writes from now on: no other one does. */
  boolean lock() throws IOException {
    if (shared != null && !shared.get().leads()) {
      close();
      return false;
    }
    if (gate != null) {
      return true;
    }
    FileChannel channel = DurableFile.open(root.resolve("lock"));
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
   * @param known what it was at the last look, which is not read again, and stays if it is gone
   */
  @Nullable ServerCertificate certificate(String name, @Nullable ServerCertificate known)
      throws IOException {
    ServerCertificate own = own(name, known);
    byte[] others = ofOthers(named("certificate/" + name));
    if (others == null || Arrays.equals(others, taken.get(name))) {
      return own;
    }
    try {
      String pem = new String(others, StandardCharsets.US_ASCII);
      int chain = Math.max(0, pem.indexOf(CHAIN));
      ServerCertificate saved = save(name, pem.substring(0, chain), pem.substring(chain), own);
      taken.put(name, others);
      troubles.remove(name);
      return saved;
    } catch (IOException unusable) {
      String why = String.valueOf(unusable.getMessage());
      if (!why.equals(troubles.put(name, why))) {
        LOG.log(Level.WARNING, "{0}: not as the log has it: {1}", name, why);
      }
      return own;
    }
  }

  private @Nullable ServerCertificate own(String name, @Nullable ServerCertificate known)
      throws IOException {
    Path live = of(name).resolve("live");
    if (!Files.exists(live)) {
      return known;
    }
    Path version = live.toRealPath();
    Path chain = version.resolve("chain.pem");
    return known != null && known.source().equals(chain.toString())
        ? known
        : ServerCertificate.read(chain, version.resolve("key.pem"));
  }

  /** Puts a certificate in the place of the one before it: whole, or not at all. */
  ServerCertificate save(String name, Issuer.Issued made) throws IOException {
    ServerCertificate written =
        save(
            name,
            PemFile.text(List.of(made.keys().getPrivate())),
            PemFile.text(made.chain()),
            null);
    publish(name);
    return written;
  }

  /** Has the other nodes take the certificate of that name, unless they have it. */
  void publish(String name) throws IOException {
    Path live = of(name).resolve("live");
    if (shared != null && Files.exists(live)) {
      String pem =
          Files.readString(live.resolve("key.pem")) + Files.readString(live.resolve("chain.pem"));
      byte[] content = pem.getBytes(StandardCharsets.US_ASCII);
      if (!Arrays.equals(content, ofOthers(named("certificate/" + name)))) {
        share(named("certificate/" + name), content);
      }
    }
  }

  private ServerCertificate save(
      String name, String key, String chain, @Nullable ServerCertificate before)
      throws IOException {
    Path directory = of(name);
    Path live = directory.resolve("live");
    int number = Files.exists(live) ? 1 + number(live.toRealPath()) : 1;
    Path next = directory.resolve(Integer.toString(number));
    DurableFile.replace(next.resolve("key.pem"), key.getBytes(StandardCharsets.US_ASCII));
    DurableFile.replace(next.resolve("chain.pem"), chain.getBytes(StandardCharsets.US_ASCII));
    ServerCertificate written =
        ServerCertificate.read(next.resolve("chain.pem"), next.resolve("key.pem"));
    if (before != null && !written.notBefore().isAfter(before.notBefore())) {
      return before;
    }
    if (!written.names().contains(name)) {
      throw new IOException(next + ": for " + written.names() + " and not for " + name);
    }
    Path link = directory.resolve("next");
    Files.deleteIfExists(link);
    Files.createSymbolicLink(link, next.getFileName());
    DurableFile.publish(link, live);
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

  /** What is known of a name's orders. */
  RenewalPlan renewal(String name) throws IOException {
    Path file = of(name).resolve("renewal");
    byte[] others = ofOthers(named("renewal/" + name));
    try {
      if (others != null) {
        return JSON.readValue(others, RenewalPlan.class);
      }
      return Files.exists(file)
          ? JSON.readValue(file.toFile(), RenewalPlan.class)
          : RenewalPlan.NONE;
    } catch (JacksonException broken) {
      throw new IOException(file + ": " + broken.getOriginalMessage(), broken);
    }
  }

  /** Has it known after a crash, and at the other nodes before. */
  void save(String name, RenewalPlan renewal) throws IOException {
    byte[] content = JSON.writeValueAsBytes(renewal);
    share(named("renewal/" + name), content);
    DurableFile.replace(of(name).resolve("renewal"), content);
  }

  private Path of(String name) {
    return home.resolve("certificates").resolve(name.replace('*', '_').replace(':', '_'));
  }

  /** The key by which the authority knows us, on the disk before it is first used. */
  KeyPair accountKey() throws IOException {
    Path file = home.resolve("account.pem");
    byte[] others = ofOthers(named("account"));
    if (others != null) {
      DurableFile.replace(file, others);
    } else if (!Files.exists(file)) {
      KeyPair fresh = SelfSigned.freshKeys();
      String text = PemFile.text(List.of(fresh.getPrivate(), fresh.getPublic()));
      DurableFile.replace(file, text.getBytes(StandardCharsets.US_ASCII));
    }
    if (others == null) {
      share(named("account"), Files.readAllBytes(file));
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
    byte[] content = JSON.writeValueAsBytes(proof);
    DurableFile.replace(challenge(proof), content);
    share(CHALLENGES + hash(proof), content);
  }

  /** Nobody asks for it any more. */
  void close(Proof proof) throws IOException {
    Files.deleteIfExists(challenge(proof));
    share(CHALLENGES + hash(proof), null);
  }

  /** Nobody asks for anything: who did so crashed. */
  void closeAll() throws IOException {
    for (Path file : challenges()) {
      Files.deleteIfExists(file);
    }
    if (shared != null) {
      for (String name : shared.get().under(CHALLENGES).keySet()) {
        share(name, null);
      }
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
    return root.resolve("challenges").resolve(hash(proof));
  }

  private static String hash(Proof proof) {
    return HexFormat.of().formatHex(Proof.sha256(proof.authorization()));
  }

  /** What may be asked now; a file that is changing, or makes no sense, is left out. */
  List<Proof> proofs() throws IOException {
    List<byte[]> contents = new ArrayList<>();
    for (Path file : challenges()) {
      try {
        contents.add(Files.readAllBytes(file));
      } catch (NoSuchFileException gone) {
        LOG.log(Level.DEBUG, "{0}: nobody asks for it any more", file);
      }
    }
    if (shared != null) {
      contents.addAll(shared.get().under(CHALLENGES).values());
    }
    Set<Proof> proofs = new LinkedHashSet<>();
    for (byte[] content : contents) {
      try {
        proofs.add(JSON.readValue(content, Proof.class));
      } catch (JacksonException strange) {
        LOG.log(Level.DEBUG, "no challenge: {0}", strange.getMessage());
      }
    }
    if (proofs.size() > MOST_PROOFS && !isFull) {
      String said = "{0}: {1} challenges are open, and {2} of them are answered";
      LOG.log(Level.WARNING, said, root, proofs.size(), MOST_PROOFS);
    }
    isFull = proofs.size() > MOST_PROOFS;
    return proofs.stream().limit(MOST_PROOFS).toList();
  }
}
