package io.kamille.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.ClusterMetrics;
import io.kamille.cluster.log.LocalPurges;
import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.cluster.settings.ClusterSettings.WhenCutOff;
import io.kamille.core.Await;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricFamily.Sample;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Certificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The cluster by the API, at a node that is alone; two responses are stored for whatever it is. */
class ClusterApiIT {

  private static final String PURGES = "/v1/cache/purges";
  private static final String TOKENS = "/v1/tokens";
  private static final String TOKEN = "{\"name\":\"robot\",\"scope\":\"read\"}";
  private static final String URL = "{\"url\":\"http://h/\"}";

  @TempDir private Path directory;

  private SmallAppliance appliance;
  private MetricRegistry registry;
  private @Nullable Cluster joined;
  private AdminServer server;
  private String token;

  @BeforeEach
  void open() throws IOException {
    appliance = new SmallAppliance();
    registry = appliance.registry;
    server = appliance.open(directory);
    token = Files.readString(directory.resolve("token")).strip();
  }

  private final Stored stored = new Stored();

  @AfterEach
  void close() {
    server.close();
    if (joined != null) {
      joined.close();
    }
    appliance.close();
  }

  private Cluster join(String... voters) throws Exception {
    return join(Duration.ofSeconds(15), WhenCutOff.REVALIDATE, voters);
  }

  private Cluster join(Duration lease, WhenCutOff whenCutOff, String... voters) throws Exception {
    Certificates authority = new Certificates("cluster");
    Certificates.writeAuthority(authority, directory.resolve("ca.pem"));
    Certificates.write(authority.ecdsa("a"), directory, "a");
    Files.writeString(directory.resolve("secret"), "s".repeat(32));
    ClusterSettings settings =
        Sections.copy(
                Sections.of(
                    ClusterSettings.SECTION,
                    """
                    name: shop
                    node: a
                    voters: %1$s
                    address: '%2$s'
                    tls: {certificate: %3$s/a.pem, key: %3$s/a.key, ca: %3$s/ca.pem}
                    secret-file: %3$s/secret
                    config: local
                    """,
                    List.of(voters),
                    free(),
                    directory))
            .with("lease", lease)
            .with("whenCutOff", whenCutOff)
            .with("purgeWait", Duration.ofMillis(100))
            .record();
    Cluster cluster =
        new Cluster(settings, "1.2.3", directory.resolve("cluster"), stored, registry);
    joined = cluster;
    appliance.cluster = cluster;
    return cluster;
  }

  /** JGroups takes no port 0. */
  private static HostPort free() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return new HostPort("127.0.0.1", socket.getLocalPort());
    }
  }

  private static final class Stored implements LocalPurges {

    private volatile boolean isAlone = true;

    @Override
    public boolean isAlone() {
      return isAlone;
    }

    @Override
    public long purge(long number, PurgeTarget target, boolean isSoft) {
      return 2;
    }

    @Override
    public void invalidate(String uri) {}

    @Override
    public void clear() {}

    @Override
    public boolean stores(String url) {
      return url.equals("http://h/p");
    }

    @Override
    public void whenKept(Runnable action) {}
  }

  @Test
  void aNodeOnItsOwnSaysSo() throws IOException {
    assertThat(request("GET", "/v1/cluster", ""))
        .startsWith("HTTP/1.1 404 ")
        .contains("This node is in no cluster");
    assertThat(request("DELETE", "/v1/cluster/nodes/a", "")).startsWith("HTTP/1.1 404 ");
    assertThat(request("GET", "/v1/cluster/log", "")).startsWith("HTTP/1.1 404 ");
    assertThat(request("GET", "/v1/cluster/key?url=http://h/", "")).startsWith("HTTP/1.1 404 ");
  }

  @Test
  void aPurgeNamesEachNodeThatIsKnown() throws Exception {
    Cluster cluster = join("a");
    assertThat(cluster.awaitCurrent()).isTrue();
    assertThat(request("GET", "/v1/cluster", ""))
        .startsWith("HTTP/1.1 200 ")
        .contains("{\"name\":\"shop\",\"node\":\"a\",\"leader\":\"a\",\"term\":")
        .contains(
            "\"quorum\":true,\"current\":true,\"applied\":0,\"behind\":0,\"waiting\":0,\"level\":1,")
        .contains("\"problem\":\"\",")
        .contains("{\"node\":\"a\",\"state\":\"member\",\"voter\":true,\"leader\":true,");
    assertThat(request("POST", PURGES, URL))
        .startsWith("HTTP/1.1 200 ")
        .endsWith(
            "{\"id\":1,\"state\":\"done\",\"complete\":true,\"safeIn\":\"0s\",\"nodes\":["
                + "{\"node\":\"a\",\"state\":\"done\",\"purged\":2}]}\n");

    assertThat(cluster.purges().known("d", true)).isTrue();
    assertThat(request("POST", PURGES, "{\"tags\":[\"news\"],\"mode\":\"soft\"}"))
        .startsWith("HTTP/1.1 202 ")
        .endsWith(
            "{\"id\":2,\"state\":\"away\",\"complete\":false,\"safeIn\":\"15s\",\"nodes\":["
                + "{\"node\":\"a\",\"state\":\"done\",\"purged\":2},"
                + "{\"node\":\"d\",\"state\":\"away\",\"purged\":0}]}\n");
    assertThat(request("GET", "/v1/cluster", ""))
        .contains(
            "{\"node\":\"d\",\"state\":\"away\",\"voter\":false,\"leader\":false,"
                + "\"current\":false,\"applied\":0,\"config\":0,"
                + "\"diverged\":false,\"version\":\"\",\"level\":0,\"peers\":\"\",\"seconds\":-1.0}")
        .contains("\"version\":\"1.2.3\",\"level\":1,");
    assertThat(value("kamille_cluster_purges_away_total")).isEqualTo(1);
    assertThat(value("kamille_cluster_members", "away")).isEqualTo(1);

    assertThat(request("DELETE", "/v1/cluster/nodes/a", ""))
        .as("a member")
        .startsWith("HTTP/1.1 409 ");
    assertThat(request("DELETE", "/v1/cluster/nodes/e", "")).startsWith("HTTP/1.1 404 ");
    assertThat(request("DELETE", "/v1/cluster/nodes/d", ""))
        .as("it may have been here until just now")
        .startsWith("HTTP/1.1 409 ")
        .contains("may still serve what it has stored: wait ");
    assertThat(cluster.purges().known("d", false)).isTrue();
    assertThat(request("GET", "/v1/cluster", "")).doesNotContain("\"node\":\"d\"");
    assertThat(request("POST", PURGES, "{\"all\":true}"))
        .startsWith("HTTP/1.1 200 ")
        .contains("\"id\":3,\"state\":\"done\"");
    stored.isAlone = false;
    assertThat(request("POST", PURGES, URL))
        .as("the process before this one purges a moment later")
        .startsWith("HTTP/1.1 202 ")
        .contains("{\"node\":\"a\",\"state\":\"away\"");
    assertThat(request("GET", PURGES, "")).as("purged beside the log").contains("{\"purges\":[]}");
    assertThat(request("POST", PURGES, "{\"url\":\"http://h/\",\"dry_run\":true}"))
        .startsWith("HTTP/1.1 200 ")
        .contains("\"matched\":0");
  }

  @Test
  void theLogAndAUrlAreToldWithoutWhatIsPurged() throws Exception {
    Cluster cluster = join("a");
    assertThat(cluster.awaitCurrent()).isTrue();
    request("POST", PURGES, "{\"url\":\"http://h/?secret=1\"}");
    assertThat(request("GET", "/v1/cluster/log", ""))
        .contains("{\"leader\":\"a\",\"term\":", "\"snapshot\":0")
        .endsWith("\"last\":[\"purges 1 to 1\",\"node a\"]}\n")
        .doesNotContain("secret");
    assertThat(request("GET", "/v1/cluster/key?url=http://h/p", ""))
        .endsWith("\"stored\":{\"a\":true}}\n")
        .contains("\"ownership\":null,\"why\":\"Nobody owns it");
    assertThat(request("GET", "/v1/cluster/key?url=http://h/q", ""))
        .endsWith("\"stored\":{\"a\":false}}\n");
    for (String url : List.of("nonsense", "http://*.h/p")) {
      assertThat(request("GET", "/v1/cluster/key?url=" + url, "")).startsWith("HTTP/1.1 400 ");
    }
  }

  @Test
  void aNodeIsForgottenWhenItIsCutOffAndWithServeNobodyIsEverSafe() throws Exception {
    Cluster cluster = join(Duration.ofMillis(500), WhenCutOff.SERVE, "a");
    assertThat(cluster.awaitCurrent()).isTrue();
    assertThat(cluster.purges().known("d", true)).isTrue();
    assertThat(request("POST", PURGES, URL))
        .startsWith("HTTP/1.1 202 ")
        .contains("\"complete\":false")
        .doesNotContain("safeIn\":\"");
    Await.until(() -> cluster.currentnessLeft("d").isNegative(), "its end");
    assertThat(request("DELETE", "/v1/cluster/nodes/d", "")).startsWith("HTTP/1.1 204 ");
    assertThat(request("GET", "/v1/cluster", "")).doesNotContain("\"node\":\"d\"");
  }

  @Test
  void metricsAreThoseOfTheNodeUntilItLeaves() throws Exception {
    Cluster cluster = join("a");
    cluster.awaitCurrent();
    request("POST", PURGES, URL);
    assertThat(value("kamille_cluster_members", "member")).isEqualTo(1);
    assertThat(value("kamille_cluster_members", "away")).isZero();
    assertThat(value("kamille_cluster_is_leader")).isEqualTo(1);
    assertThat(value("kamille_cluster_is_current")).isEqualTo(1);
    assertThat(value("kamille_cluster_has_quorum")).isEqualTo(1);
    assertThat(value("kamille_cluster_applied_number")).isEqualTo(1);
    assertThat(value("kamille_cluster_behind")).isZero();
    assertThat(value("kamille_cluster_leader_changes_total")).isZero();
    assertThat(value("kamille_cluster_purges_away_total")).isZero();
    assertThat(value("kamille_cluster_log_bytes")).isPositive();
    assertThat(value("kamille_cluster_certificate_left_seconds"))
        .isBetween(0.0, (double) Duration.ofDays(1).toSeconds());
    assertThat(sample("kamille_cluster_append_seconds").durations().count()).isEqualTo(1);
    assertThat(sample("kamille_cluster_purge_answer_seconds").durations().count()).isEqualTo(1);
    assertThat(registry.read())
        .extracting(MetricFamily::descriptor)
        .filteredOn(each -> each.name().startsWith("kamille_cluster"))
        .as("what the reference page has")
        .containsExactlyInAnyOrderElementsOf(ClusterMetrics.descriptors());
    cluster.close();
    assertThat(registry.read())
        .filteredOn(family -> family.descriptor().name().startsWith("kamille_cluster"))
        .allMatch(family -> family.samples().isEmpty());
  }

  @Test
  void aTokenIsMadeAndRevokedAtAllNodes() throws Exception {
    String own = made(request("POST", TOKENS, TOKEN));
    Cluster cluster = join("a");
    cluster.awaitCurrent();
    String answer = request("POST", TOKENS, TOKEN);
    assertThat(answer)
        .startsWith("HTTP/1.1 201 ")
        .contains("\"nodes\":[{\"node\":\"a\",\"state\":\"done\"}]");
    String shared = made(answer);
    assertThat(Files.readString(directory.resolve("tokens.json"))).doesNotContain(id(shared));
    assertThat(request("GET", "/v1/status", "", shared)).startsWith("HTTP/1.1 200 ");
    assertThat(request("GET", TOKENS, ""))
        .contains("{\"id\":\"" + id(own) + "\"", "{\"id\":\"" + id(shared) + "\"")
        .containsOnlyOnce("\"lastUsed\":null");

    assertThat(cluster.purges().known("d", true)).isTrue();
    assertThat(request("DELETE", TOKENS + "/" + id(shared), ""))
        .startsWith("HTTP/1.1 202 ")
        .contains("{\"node\":\"d\",\"state\":\"away\"}");
    assertThat(request("GET", "/v1/status", "", shared)).startsWith("HTTP/1.1 401 ");
    assertThat(request("DELETE", TOKENS + "/" + id(shared), "")).startsWith("HTTP/1.1 404 ");
    assertThat(request("DELETE", TOKENS + "/" + id(own), ""))
        .as("one of this node alone")
        .startsWith("HTTP/1.1 200 ")
        .doesNotContain("nodes");
    cluster.values().put("token/x", "[]".getBytes(StandardCharsets.US_ASCII));
    assertThat(request("GET", "/v1/status", "", "kam_x_secret")).startsWith("HTTP/1.1 401 ");
    assertThat(request("GET", TOKENS, "")).contains("{\"tokens\":[]}");
  }

  private static String made(String answer) {
    return answer.replaceAll("(?s).*\"(kam_[^\"]+)\".*", "$1");
  }

  private static String id(String secret) {
    return secret.split("_", -1)[1];
  }

  @Test
  void withoutAMajorityAPurgeSaysWhatIsDone() throws Exception {
    join("a", "b", "c");
    assertThat(request("GET", "/v1/cluster", ""))
        .contains("\"leader\":null", "\"quorum\":false", "\"current\":false", "\"behind\":0,")
        .contains("{\"node\":\"c\",\"state\":\"away\",\"voter\":true,");
    assertThat(request("DELETE", "/v1/cluster/nodes/c", ""))
        .as("a voter")
        .startsWith("HTTP/1.1 409 ");
    assertThat(request("POST", PURGES, URL))
        .startsWith("HTTP/1.1 503 ")
        .contains("content-type: application/problem+json")
        .contains("\"type\":\"/problems/no-quorum\"", "Retry-After: 1\r\n")
        .endsWith("\"errors\":[{\"node\":\"a\",\"state\":\"done\",\"purged\":2}]}\n");
    assertThat(request("POST", TOKENS, TOKEN))
        .startsWith("HTTP/1.1 503 ")
        .contains("\"type\":\"/problems/no-quorum\"")
        .doesNotContain("kam_");
  }

  private Sample sample(String name, String... labels) {
    return registry.read().stream()
        .filter(family -> family.descriptor().name().equals(name))
        .flatMap(family -> family.samples().stream())
        .filter(sample -> sample.labelValues().equals(List.of(labels)))
        .findFirst()
        .orElseThrow();
  }

  private double value(String name, String... labels) {
    return sample(name, labels).value();
  }

  private String request(String method, String path, String content) throws IOException {
    return request(method, path, content, token);
  }

  private String request(String method, String path, String content, String bearer)
      throws IOException {
    try (Wire wire = new Wire(server.address())) {
      return wire.send(
              method
                  + " "
                  + path
                  + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                  + bearer
                  + "\r\nContent-Type: application/json\r\nContent-Length: "
                  + content.length()
                  + "\r\n\r\n"
                  + content)
          .response();
    }
  }
}
