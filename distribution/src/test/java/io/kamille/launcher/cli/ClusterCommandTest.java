package io.kamille.launcher.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.tls.ServerCertificate;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code kamille cluster init} makes. */
class ClusterCommandTest {

  private static final String SITE =
      """
      listeners: ['127.0.0.1:0']
      upstreams: {a: {origins: ['http://127.0.0.1:9000']}}
      routes: [{upstream: a}]
      """;

  @TempDir private Path temporary;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int init(Path directory, String... words) {
    String[] start = {"cluster", "init", "--name", "shop", "--directory", directory.toString()};
    return KamilleCommand.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(Stream.of(start, words).flatMap(Stream::of).toArray(String[]::new));
  }

  private Path three() {
    Path directory = temporary.resolve("shop");
    assertThat(init(directory, "a=10.0.0.1", "b=[2001:db8::2]", "c=c.example.org")).isZero();
    return directory;
  }

  private static ServerCertificate certificate(Path directory, String node) throws IOException {
    return ServerCertificate.read(
        directory.resolve(node + ".pem"), directory.resolve(node + ".key"));
  }

  private static X509Certificate authority(Path directory) throws IOException {
    return ServerCertificate.read(directory.resolve("ca.pem"), directory.resolve("authority.key"))
        .chain()
        .getFirst();
  }

  private Configuration checked(Path part) throws IOException {
    Files.copy(part, temporary.resolve("node.yaml"), StandardCopyOption.REPLACE_EXISTING);
    Path file = Files.writeString(temporary.resolve("k.yaml"), SITE + "include: [node.yaml]\n");
    return switch (ConfigurationFile.read(file)) {
      case ConfigurationReading.Accepted(Configuration configuration) -> configuration;
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }

  @Test
  void eachNodeGetsACompletePartOfItsConfiguration() throws IOException {
    Path directory = three();
    for (String node : List.of("a", "b", "c")) {
      var cluster = checked(directory.resolve(node + ".yaml")).cluster();
      assertThat(cluster.name()).isEqualTo("shop");
      assertThat(cluster.node()).isEqualTo(node);
      assertThat(cluster.voters()).containsExactly("a", "b", "c");
      assertThat(cluster.discovery().hosts())
          .containsExactly("10.0.0.1:7800", "[2001:db8::2]:7800", "c.example.org:7800");
    }
    var second = checked(directory.resolve("b.yaml")).cluster();
    assertThat(second.bound()).hasToString("[2001:db8::2]:7800");
    assertThat(second.peers().address()).hasToString("[2001:db8::2]:7801");
    assertThat(out.toString()).endsWith("voters: a, b, c\n");
  }

  @Test
  void keysAndTheSecretAreTheirOwnersAlone() throws IOException {
    Path directory = three();
    for (String file : List.of("authority.key", "a.key", "b.key", "c.key", "cluster.secret")) {
      assertThat(Files.getPosixFilePermissions(directory.resolve(file)))
          .as(file)
          .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }
    assertThat(Files.readAllBytes(directory.resolve("cluster.secret"))).hasSize(32);
  }

  @Test
  void aCertificateIsForItsNodeAndOfTheAuthority() throws Exception {
    Path directory = three();
    X509Certificate authority = authority(directory);
    X509Certificate node = certificate(directory, "a").chain().getFirst();
    node.verify(authority.getPublicKey());
    assertThat(node.getSubjectX500Principal().getName()).isEqualTo("CN=a");
    assertThat(certificate(directory, "a").names()).containsExactlyInAnyOrder("a", "10.0.0.1");
    assertThat(certificate(directory, "b").names()).containsExactlyInAnyOrder("b", "2001:db8::2");
    assertThat(certificate(directory, "c").names()).containsExactlyInAnyOrder("c", "c.example.org");
    assertThat(node.getExtendedKeyUsage())
        .containsExactlyInAnyOrder("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2");
    assertThat(node.getBasicConstraints()).as("it signs none").isEqualTo(-1);
    assertThat(authority.getBasicConstraints()).isNotNegative();
    Instant now = Instant.now();
    assertThat(ChronoUnit.DAYS.between(now, node.getNotAfter().toInstant())).isBetween(728L, 731L);
    assertThat(ChronoUnit.DAYS.between(now, authority.getNotAfter().toInstant()))
        .isBetween(3648L, 3653L);
  }

  @Test
  void twoNodesShakeHandsAndAStrangerIsRefused() throws Exception {
    Path directory = three();
    Path other = temporary.resolve("other");
    assertThat(init(other, "a=10.0.0.1")).isZero();
    assertThat(handshake(directory, "a", directory, "b")).isEqualTo("TLSv1.3");
    assertThatThrownBy(() -> handshake(directory, "a", other, "a")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> handshake(other, "a", directory, "a")).isInstanceOf(IOException.class);
  }

  @Test
  void whileAnAuthorityIsReplacedBothAreTrusted() throws Exception {
    Path old = three();
    Path fresh = temporary.resolve("fresh");
    assertThat(init(fresh, "a=10.0.0.1", "b=10.0.0.2", "c=10.0.0.3")).isZero();
    Files.writeString(
        old.resolve("ca.pem"),
        Files.readString(fresh.resolve("ca.pem")),
        StandardOpenOption.APPEND);
    Files.copy(old.resolve("ca.pem"), fresh.resolve("ca.pem"), StandardCopyOption.REPLACE_EXISTING);
    assertThat(handshake(old, "a", fresh, "b")).isEqualTo("TLSv1.3");
    assertThat(handshake(fresh, "a", old, "b")).isEqualTo("TLSv1.3");
  }

  /** The protocol between a server and a client that each ask for a certificate. */
  private static String handshake(Path one, String server, Path two, String client)
      throws Exception {
    try (var listener =
        (SSLServerSocket)
            context(one, server)
                .getServerSocketFactory()
                .createServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      listener.setNeedClientAuth(true);
      listener.setEnabledProtocols(new String[] {"TLSv1.3"});
      CompletableFuture<Void> accepted = CompletableFuture.runAsync(() -> answer(listener));
      try (var socket =
          (SSLSocket)
              context(two, client)
                  .getSocketFactory()
                  .createSocket(listener.getInetAddress(), listener.getLocalPort())) {
        assertThat(socket.getInputStream().read()).isEqualTo(1);
        accepted.join();
        return socket.getSession().getProtocol();
      }
    }
  }

  private static void answer(SSLServerSocket listener) {
    try (var connection = listener.accept()) {
      connection.getOutputStream().write(1);
    } catch (IOException refused) {
      throw new UncheckedIOException(refused);
    }
  }

  /** As the nodes have it. */
  private static SSLContext context(Path directory, String node) throws SSLException {
    var context =
        SslContextBuilder.forServer(
                directory.resolve(node + ".pem").toFile(),
                directory.resolve(node + ".key").toFile())
            .trustManager(directory.resolve("ca.pem").toFile())
            .clientAuth(ClientAuth.REQUIRE)
            .sslProvider(SslProvider.JDK)
            .build();
    return ((JdkSslContext) context).context();
  }

  @Test
  void aFurtherNodeJoinsByTheAuthorityThatIsThere() throws Exception {
    Path directory = three();
    byte[] authority = Files.readAllBytes(directory.resolve("ca.pem"));
    byte[] secret = Files.readAllBytes(directory.resolve("cluster.secret"));
    assertThat(init(directory, "--port", "7900", "--peer-port", "7901", "d=10.0.0.4")).isZero();
    assertThat(Files.readAllBytes(directory.resolve("ca.pem"))).isEqualTo(authority);
    assertThat(Files.readAllBytes(directory.resolve("cluster.secret"))).isEqualTo(secret);
    var cluster = checked(directory.resolve("d.yaml")).cluster();
    assertThat(cluster.voters()).as("who decides stays").containsExactly("a", "b", "c");
    assertThat(cluster.discovery().hosts()).hasSize(4).contains("10.0.0.1:7800", "10.0.0.4:7900");
    assertThat(cluster.peers().address()).hasToString("10.0.0.4:7901");
    certificate(directory, "d").chain().getFirst().verify(authority(directory).getPublicKey());
  }

  @Test
  void aNodeWhoseFilesAreMovedAwayGetsNewOnes() throws IOException {
    Path directory = three();
    Configuration before = checked(directory.resolve("a.yaml"));
    byte[] certificate = Files.readAllBytes(directory.resolve("a.pem"));
    for (String end : List.of("pem", "key", "yaml")) {
      Files.delete(directory.resolve("a." + end));
    }
    assertThat(init(directory, "a=10.0.0.1")).isZero();
    assertThat(Files.readAllBytes(directory.resolve("a.pem"))).isNotEqualTo(certificate);
    var after = checked(directory.resolve("a.yaml")).cluster();
    assertThat(after.voters()).isEqualTo(before.cluster().voters());
    assertThat(after.discovery().hosts())
        .containsExactlyInAnyOrderElementsOf(before.cluster().discovery().hosts());
  }

  @Test
  void ofAnEvenNumberTheLastDoesNotVote() {
    assertThat(init(temporary.resolve("two"), "a=10.0.0.1", "b=10.0.0.2")).isZero();
    assertThat(out.toString()).endsWith("voters: a\n");
    assertThat(err.toString()).contains("if a is away, all nodes are cut off");
    assertThat(init(temporary.resolve("four"), "a=h1", "b=h2", "c=h3", "d=h4")).isZero();
    assertThat(out.toString()).endsWith("voters: a, b, c\n");
    assertThat(err.toString()).containsOnlyOnce("note:");
  }

  @Test
  void nothingIsOverwritten() throws IOException {
    Path directory = three();
    byte[] key = Files.readAllBytes(directory.resolve("a.key"));
    assertThat(init(directory, "e=10.0.0.5", "a=10.0.0.1")).isEqualTo(66);
    assertThat(err.toString()).contains("a.pem is there already");
    assertThat(Files.readAllBytes(directory.resolve("a.key"))).isEqualTo(key);
    assertThat(directory.resolve("e.key")).as("all or none").doesNotExist();
  }

  @Test
  void theNodesOfAnotherClusterAreNotAddedTo() {
    Path directory = three();
    String[] words = {
      "cluster", "init", "--name", "other", "--directory", directory.toString(), "d=10.0.0.4"
    };
    assertThat(KamilleCommand.commandLine().setErr(new PrintWriter(err, true)).execute(words))
        .isEqualTo(66);
    assertThat(err.toString()).contains("has no NODE.yaml of a cluster other");
    assertThat(directory.resolve("d.key")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "a=",
        "=h",
        "../a=h",
        "a/b=h",
        "#a=h",
        "10.1=h",
        "a_b=h",
        "a-=h",
        "a=0.0.0.0",
        "a=::1",
        "a=h i"
      })
  void whatIsNoNodeIsRefused(String word) {
    assertThat(init(temporary.resolve("none"), word)).isEqualTo(64);
    assertThat(temporary.resolve("none")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ca", "authority", "b"})
  void aNameThatIsTakenIsRefused(String name) {
    assertThat(init(temporary.resolve("none"), "b=h", name + "=h")).isEqualTo(66);
    assertThat(temporary.resolve("none")).doesNotExist();
  }
}
