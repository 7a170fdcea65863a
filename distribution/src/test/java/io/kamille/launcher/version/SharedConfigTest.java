package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.admin.api.Answer;
import io.kamille.cluster.config.ClusterConfig;
import io.kamille.cluster.config.ConfigChanges;
import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.engine.PlaceFile;
import io.kamille.core.setting.SettingChange;
import io.kamille.core.tls.Certificates;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.patch.MergePatch;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** What nodes share of their files, and how a change of one becomes that of all. */
class SharedConfigTest {

  private static final String A =
      """
      listeners: ["10.0.0.1:80"]
      cluster: {name: shop, node: a}
      cache: {memory: {capacity: 1GiB}, policy: lru}
      routes: [{upstream: web}]
      """;

  @Test
  void nodesThatDifferInWhatIsTheirOwnHaveOneDigest() {
    String b =
        """
        # another order, too
        routes: [{upstream: web}]
        cache: {policy: lru, memory: {capacity: 8GiB}}
        listeners: ["10.0.0.2:80", "10.0.0.2:443"]
        loops: 8
        cluster: {name: shop, node: b}
        """;
    assertThat(SharedConfig.digestOf(b)).isEqualTo(SharedConfig.digestOf(A));
  }

  @Test
  void nodesThatDifferInWhatTheyShareDoNot() {
    assertThat(SharedConfig.digestOf(A.replace("lru", "auto")))
        .isNotEqualTo(SharedConfig.digestOf(A));
    assertThat(SharedConfig.digestOf(A + "limits: {fields: 50}\n"))
        .isNotEqualTo(SharedConfig.digestOf(A));
  }

  /** RFC 7396: applied to the first text, the difference makes the values of the second. */
  @Test
  void theDifferenceOfTwoTextsIsAPatch() {
    String next =
        """
        listeners: ["10.0.0.1:80"]
        cluster: {name: shop, node: a}
        cache: {memory: {capacity: 1GiB}, purge-from: ["10.0.0.0/8"]}
        routes: [{upstream: web}, {upstream: web, path: /b}]
        """;
    Map<String, ?> patch = MergePatch.between(A, next);
    assertThat(patch.keySet()).containsExactlyInAnyOrder("cache", "routes");
    String made = MergePatch.apply(A, new JsonMapper().valueToTree(patch));
    assertThat(MergePatch.members(made)).isEqualTo(MergePatch.members(next));
  }

  @Test
  void textsOfTheSameValuesDifferInNothing() {
    assertThat(MergePatch.between(A, "# said otherwise\n" + A)).isEmpty();
  }

  // Changes at a node whose cluster is this node, and another one that does as we do

  @TempDir private Path directory;

  private static final class Running implements ConfigControl.Target {

    private Configuration configuration;

    Running(String text) {
      configuration = configuration(text);
    }

    private static Configuration configuration(String text) {
      var reading = ConfigurationFile.parse("k.yaml", text.getBytes(StandardCharsets.UTF_8));
      return ((ConfigurationReading.Accepted) reading).configuration();
    }

    @Override
    public List<SettingChange> changes(Configuration next) {
      return next.changesFrom(configuration);
    }

    @Override
    public TrialGuard.Counts counts() {
      return TrialGuard.Counts.NONE;
    }

    @Override
    public ConfigControl.Step prepare(Configuration next) {
      return new ConfigControl.Step() {
        @Override
        public void apply() {
          configuration = next.reloadedOver(configuration);
        }

        @Override
        public void abandon() {}
      };
    }
  }

  private String clustered() throws Exception {
    Certificates authority = new Certificates("cluster");
    Certificates.writeAuthority(authority, directory.resolve("ca.pem"));
    Certificates.write(authority.ecdsa("a"), directory, "a");
    Files.writeString(directory.resolve("secret"), "s".repeat(32));
    return """
    listeners: ["127.0.0.1:8080"]
    upstreams: {web: {origins: ["http://127.0.0.1:9000"]}}
    routes: [{upstream: web}]
    cluster:
      name: shop
      node: a
      voters: [a]
      address: 127.0.0.1:7800
      discovery: {hosts: [127.0.0.1:7800]}
      tls: {certificate: D/a.pem, key: D/a.key, ca: D/ca.pem}
      secret-file: D/secret
    """
        .replace("D/", directory + "/");
  }

  private String problem = "";
  private String silent = "";
  private boolean isEverywhere;

  private Object engine(String method, Object[] given, ConfigChanges log, ClusterConfig own)
      throws Exception {
    return switch (method) {
      case "members" -> List.of("a", "b");
      case "append" -> {
        byte[] entry = (byte[]) given[0];
        yield log.read(new DataInputStream(new ByteArrayInputStream(entry, 1, entry.length - 1)))
            .get();
      }
      case "ask" -> {
        var answered = new CompletableFuture<byte[]>();
        own.asked((byte[]) given[0], answered::complete);
        String kind = ((byte[]) given[0])[0] == ClusterConfig.PREPARE ? "prepare" : "apply";
        byte[] ofA = answered.get();
        byte[] ofB = problem.getBytes(StandardCharsets.UTF_8);
        yield silent.equals(kind)
            ? Map.of("a", ofA)
            : Map.of(
                "a",
                kind.equals("apply") && isEverywhere ? ofB : ofA,
                "b",
                kind.equals("apply") ? ofB : new byte[0]);
      }
      default -> "";
    };
  }

  private static String text(Answer answer) {
    return new String(answer.content(), StandardCharsets.UTF_8);
  }

  @Test
  void anAnswerTellsWhatItTellsOnOneNode() throws Exception {
    String text = clustered();
    Path file = Files.writeString(directory.resolve("k.yaml"), text);
    ConfigControl control =
        ConfigControlTest.opened(
            file, true, new Running(text), (_, _) -> () -> {}, () -> Instant.EPOCH);
    var own = new AtomicReference<ClusterConfig>();
    ConfigChanges log = new ConfigChanges();
    SharedConfig shared = new SharedConfig(control, own::get);
    var engine =
        (ClusterEngine)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ClusterEngine.class},
                (_, method, given) -> engine(method.getName(), given, log, own.get()));
    try (ClusterConfig changes =
            new ClusterConfig(
                engine,
                log,
                new PlaceFile(directory.resolve("place")),
                shared,
                Duration.ofSeconds(10));
        control) {
      own.set(changes);
      String more = text + "limits: {fields: 50}\ncache: {max-object-size: 1MiB}\n";
      assertThat(text(shared.commit(order(null), _ -> more)))
          .contains("\"nodes\":[{\"node\":\"a\",\"problem\":\"\"},{\"node\":\"b\",")
          .contains("\"pendingRestart\":[{\"path\":\"cache.max-object-size\"")
          .contains("\"trialDeadline\":null");
      assertThat(
              text(
                  shared.commit(
                      order(Duration.ofMinutes(1)), _ -> more.replace("web}]", "web, path: /b}]"))))
          .contains("\"trialDeadline\":\"1970-01-01T00:01:00Z\"");
      shared.end("revert", "me");
      silent = "prepare";
      Answer unanswered = shared.commit(order(null), _ -> more.replace("fields: 50", "fields: 51"));
      assertThat(unanswered.status()).isEqualTo(503);
      assertThat(text(unanswered)).contains("not-in-force", "\"b\"", "does not answer");
      silent = "apply";
      assertThat(shared.commit(order(null), _ -> more.replace("fields: 50", "fields: 51")).status())
          .isEqualTo(202);
      silent = "";
      problem = "its disk is full";
      isEverywhere = true;
      Answer nowhere = shared.commit(order(null), _ -> more.replace("fields: 50", "fields: 53"));
      assertThat(nowhere.status()).isEqualTo(503);
      assertThat(text(nowhere)).contains("not-in-force", "is in force nowhere", "its disk is full");
      isEverywhere = false;
      Answer partly = shared.commit(order(null), _ -> more);
      assertThat(partly.status()).isEqualTo(202);
      assertThat(text(partly)).contains("its disk is full");
      assertThatThrownBy(() -> shared.commit(order(null), _ -> more.replace("node: a", "node: b")))
          .isInstanceOf(Refused.class)
          .hasMessageContaining("the name of another node");
      assertThat(text(shared.commit(order(null), _ -> more.replace("node: a", "node: d"))))
          .contains("\"path\":\"cluster.node\"");
    }
  }

  private static ChangeOrder order(@Nullable Duration confirm) {
    return new ChangeOrder("me", "", null, confirm, null);
  }
}
