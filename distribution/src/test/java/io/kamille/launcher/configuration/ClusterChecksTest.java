package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.setting.Problem;
import io.kamille.core.tls.Certificates;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said of a cluster that cannot work. */
class ClusterChecksTest {

  private static final String BASE =
      """
      listeners: ['127.0.0.1:8080']
      admin: {address: '127.0.0.1:9090'}
      upstreams: {web: {origins: ['http://127.0.0.1:9000']MORE}}
      routes: [{upstream: web}]
      """;

  private static final String CLUSTER =
      """
      cluster:
        name: shop
        node: a
        voters: [a, b, c]
        address: 10.0.0.1:7800
        discovery: {hosts: [10.0.0.2:7800]}
        tls:
          certificate: DIR/node.pem
          key: DIR/node.key
          ca: DIR/ca.pem
        secret-file: DIR/secret
        peers: {address: '10.0.0.1:7801'}
        config: local
      """;

  @TempDir private Path directory;

  /** Of the upstream. */
  private String more = "";

  @BeforeEach
  void makeFiles() throws Exception {
    Certificates authority = new Certificates("shop");
    Certificates.write(authority.ecdsa("a"), directory, "node");
    Files.writeString(directory.resolve("ca.pem"), authority.pem());
    Files.writeString(directory.resolve("secret"), "x".repeat(32));
  }

  private ConfigurationReading read(String cluster) {
    String text = BASE.replace("MORE", more) + cluster.replace("DIR", directory.toString());
    return ConfigurationFile.parse("k", text.getBytes(UTF_8));
  }

  private ClusterSettings accepted(String cluster) {
    return switch (read(cluster)) {
      case ConfigurationReading.Accepted(Configuration configuration) -> configuration.cluster();
      case ConfigurationReading.Refused refused -> throw new AssertionError(refused.problems());
    };
  }

  private List<String> refused(String cluster) {
    var reading = read(cluster);
    assertThat(reading).isInstanceOf(ConfigurationReading.Refused.class);
    return ((ConfigurationReading.Refused) reading)
        .problems().stream()
            .map(Problem::toString)
            .map(problem -> problem.replace(directory.toString(), "DIR"))
            .toList();
  }

  @Test
  void whatAClusterNeedsIsEnough() {
    assertThat(accepted(CLUSTER).isOn()).isTrue();
    assertThat(accepted("").isOn()).isFalse();
  }

  @Test
  void theSecretOfTheClusterSignsCookiesToo() {
    more = ", sticky: {cookie: at}";
    accepted(CLUSTER);
    assertThat(refused("")).singleElement().asString().endsWith("expected secret-file beside it");
  }

  @ParameterizedTest
  @ValueSource(strings = {"hosts: [a:1]", "dns: shop.internal"})
  void oneWayToFindOthersIsEnough(String way) {
    accepted(CLUSTER.replace("hosts: [10.0.0.2:7800]", way));
  }

  @ParameterizedTest
  @ValueSource(strings = {"[a]", "[a, b, c]", "[b, c, d, e, f]"})
  void anOddNumberOfVotersDecides(String voters) {
    accepted(CLUSTER.replace("[a, b, c]", voters));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Each line: what stands there | what stands there now | the problem
        "[a, b, c] | [a, b] | k:8:11: cluster.voters: found \"a, b\", expected an odd number of"
            + " names that differ",
        "[a, b, c] | [a, b, a] | k:8:11: cluster.voters: found \"a, b, a\", expected an odd number"
            + " of names that differ",
        "10.0.0.1:7800 | ':7800' | k:9:12: cluster.address: found \":7800\", expected HOST:PORT by"
            + " which the other nodes reach this one",
        "hosts: [10.0.0.2:7800] | hosts: [] | k:10:14: cluster.discovery: found none, expected"
            + " hosts or dns",
        "node: a | node: a/b | k:7:9: cluster.node: found \"a/b\", expected a name of letters,"
            + " digits and -_.",
        "DIR/node.pem | DIR/no.pem | k:12:18: cluster.tls.certificate: found \"DIR/no.pem\","
            + " expected a file of certificates that can be used (DIR/no.pem: no file of this"
            + " name)",
        "DIR/node.key | DIR/no.key | k:13:10: cluster.tls.key: found \"DIR/no.key\","
            + " expected the key of the certificate (DIR/no.key: no file of this name)",
        "DIR/ca.pem | DIR | k:14:9: cluster.tls.ca: found \"DIR\", expected a file of"
            + " certificates that can be used (DIR: it is no regular file)",
        "DIR/secret | DIR/no | k:15:16: cluster.secret-file: found \"DIR/no\", expected a file of"
            + " 32 octets or more (no file of this name)",
        "10.0.0.1:7801 | 10.0.0.1:7800 | k:16:20: cluster.peers.address: found \"10.0.0.1:7800\","
            + " expected another address than cluster.address has",
        "10.0.0.1:7801 | 127.0.0.1:8080 | k:16:20: cluster.peers.address: found"
            + " \"127.0.0.1:8080\", expected another address than listeners[0].address has",
        "10.0.0.1:7800 | 127.0.0.1:9090 | k:9:12: cluster.address: found \"127.0.0.1:9090\","
            + " expected another address than admin.address has"
      })
  void whatCannotWorkIsAProblemAtItsPlace(String now, String then, String problem) {
    assertThat(refused(CLUSTER.replace(now, then))).containsExactly(problem);
  }

  @Test
  void aKeyOfAnotherCertificateIsSaid() throws Exception {
    Path other = Files.createDirectory(directory.resolve("other"));
    Certificates.write(new Certificates("other").ecdsa("a"), other, "node");
    Files.move(
        other.resolve("node.key"),
        directory.resolve("node.key"),
        StandardCopyOption.REPLACE_EXISTING);
    assertThat(refused(CLUSTER))
        .containsExactly(
            "k:13:10: cluster.tls.key: found \"DIR/node.key\", expected the key of the certificate"
                + " (DIR/node.key: not the private key of the certificate in DIR/node.pem)");
  }

  @Test
  void aShortSecretIsNone() throws Exception {
    Files.writeString(directory.resolve("secret"), "x".repeat(31));
    assertThat(refused(CLUSTER)).singleElement().asString().contains("cluster.secret-file");
  }

  @Test
  void aNameAloneLacksAllElseAtOnce() {
    assertThat(refused("cluster: {name: shop}"))
        .extracting(problem -> problem.replaceFirst(", expected .*", ""))
        .containsExactlyInAnyOrder(
            "k:5:10: cluster.voters: found none",
            "k:5:10: cluster.address: found none",
            "k:5:10: cluster.discovery: found none",
            "k:5:10: cluster.tls.certificate: found none",
            "k:5:10: cluster.tls.key: found none",
            "k:5:10: cluster.tls.ca: found none",
            "k:5:10: cluster.secret-file: found none");
  }

  @Test
  void withoutANameNothingElseIsGiven() {
    assertThat(refused("cluster: {lease: 20s, tls: {ca: /x}, peers: {copies: all}}"))
        .containsExactly(
            "k:5:18: cluster.lease: found \"20s\", expected cluster.name beside it",
            "k:5:33: cluster.tls.ca: found \"/x\", expected cluster.name beside it",
            "k:5:54: cluster.peers.copies: found \"all\", expected cluster.name beside it");
  }

  @Test
  void whatWasRefusedIsNotAlsoCalledMissing() {
    assertThat(refused(CLUSTER.replace("name: shop", "name: 'a b'"))).hasSize(1);
    assertThat(refused(CLUSTER.replace("10.0.0.1:7800", "nowhere"))).hasSize(1);
    assertThat(refused(CLUSTER.replace("hosts: [10.0.0.2:7800]", "hosts: [b]"))).hasSize(1);
  }

  /** A text that all nodes have cannot name one of them. */
  @Test
  void whatDiffersBetweenNodesStandsInAFileOfTheNode() throws Exception {
    String shared = CLUSTER.replace("  config: local\n", "");
    String why =
        ": found it in the file that all nodes share, expected it in an included file of this node,"
            + " such as node.yaml, or cluster.config: local";
    assertThat(refused(shared))
        .containsExactly(
            "k:7:9: cluster.node" + why,
            "k:9:12: cluster.address" + why,
            "k:16:20: cluster.peers.address" + why);
    Files.writeString(directory.resolve("node.yaml"), shared.replace("DIR", directory.toString()));
    Path file =
        Files.writeString(
            directory.resolve("k.yaml"), BASE.replace("MORE", "") + "include: [node.yaml]\n");
    assertThat(ConfigurationFile.read(file)).isInstanceOf(ConfigurationReading.Accepted.class);
  }
}
