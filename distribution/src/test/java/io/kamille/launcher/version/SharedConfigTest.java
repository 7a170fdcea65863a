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
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What nodes share of their files, and how a change of one becomes that of all. */
class SharedConfigTest {

  // Changes at a node whose cluster is this node, and another one that does as we do

  @TempDir private Path directory;

  private static final class Running implements ConfigControl.Target {

    private Configuration configuration;

    Running(Path file) {
      configuration =
          ((ConfigurationReading.Accepted) ConfigurationFile.read(file)).configuration();
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

  private static final String SHARED =
      """
      include: [node.yaml]
      upstreams: {web: {origins: ["http://127.0.0.1:9000"]}}
      routes: [{upstream: web}]
      cache: {policy: lru}
      """;

  private static final String OF_A =
      """
      listeners: ["127.0.0.1:8080"]
      cache: {memory: {capacity: 8MiB}}
      cluster:
        name: shop
        node: a
        voters: [a]
        address: 127.0.0.1:7800
        discovery: {hosts: [127.0.0.1:7800]}
        tls: {certificate: D/a.pem, key: D/a.key, ca: D/ca.pem}
        secret-file: D/secret
      """;

  @BeforeEach
  void makeFiles() throws Exception {
    Certificates authority = new Certificates("cluster");
    Certificates.writeAuthority(authority, directory.resolve("ca.pem"));
    Certificates.write(authority.ecdsa("a"), directory, "a");
    Files.writeString(directory.resolve("secret"), "s".repeat(32));
  }

  private ConfigControl opened(String node, String own) throws Exception {
    Path home = Files.createDirectory(directory.resolve(node));
    Files.writeString(home.resolve("node.yaml"), own.replace("D/", directory + "/"));
    Path file = Files.writeString(home.resolve("k.yaml"), SHARED);
    return ConfigControlTest.opened(
        file, true, new Running(file), (_, _) -> () -> {}, () -> Instant.EPOCH);
  }

  private String changed = "";
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
        byte[] message = (byte[]) given[0];
        String kind = message[0] == ClusterConfig.PREPARE ? "prepare" : "apply";
        if (kind.equals("prepare")) {
          changed = new String(message, 1, message.length - 1, StandardCharsets.UTF_8);
        }
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

  private interface Changing {
    void run(SharedConfig shared) throws Exception;
  }

  /** At node a of two. */
  private void at(ConfigControl control, Changing changing) throws Exception {
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
            Duration.ofSeconds(10),
            ClusterConfig.AGAIN)) {
      own.set(changes);
      changing.run(shared);
    }
  }

  @Test
  void anAnswerTellsWhatItTellsOnOneNode() throws Exception {
    try (ConfigControl control = opened("a", OF_A)) {
      at(control, this::answers);
    }
  }

  private void answers(SharedConfig shared) throws Exception {
    String more =
        SHARED.replace("policy: lru", "max-object-size: 512KiB") + "limits: {head-size: 50KiB}\n";
    assertThat(text(shared.commit(order(null), more)))
        .contains("\"nodes\":[{\"node\":\"a\",\"problem\":\"\"},{\"node\":\"b\",")
        .contains("\"pendingRestart\":[{\"path\":\"cache.")
        .contains("\"trialDeadline\":null");
    assertThat(
            text(
                shared.commit(
                    order(Duration.ofMinutes(1)), more.replace("web}]", "web, path: /b}]"))))
        .contains("\"trialDeadline\":\"1970-01-01T00:01:00Z\"");
    assertThat(shared.end("revert").status()).isEqualTo(200);
    assertThat(text(shared.end("revert"))).contains("no-trial");
    silent = "prepare";
    Answer unanswered =
        shared.commit(order(null), more.replace("head-size: 50KiB", "head-size: 51KiB"));
    assertThat(unanswered.status()).isEqualTo(503);
    assertThat(text(unanswered)).contains("not-in-force", "\"b\"", "does not answer");
    silent = "apply";
    assertThat(
            shared
                .commit(order(null), more.replace("head-size: 50KiB", "head-size: 51KiB"))
                .status())
        .isEqualTo(202);
    silent = "";
    problem = "its disk is full";
    isEverywhere = true;
    Answer nowhere =
        shared.commit(order(null), more.replace("head-size: 50KiB", "head-size: 53KiB"));
    assertThat(nowhere.status()).isEqualTo(503);
    assertThat(text(nowhere)).contains("not-in-force", "is in force nowhere", "its disk is full");
    isEverywhere = false;
    Answer partly = shared.commit(order(null), more);
    assertThat(partly.status()).isEqualTo(202);
    assertThat(text(partly)).contains("its disk is full");
  }

  private static final String OTHER = SHARED + "limits: {head-size: 50KiB}\n";

  private static String file(ConfigControl control) throws IOException {
    return Files.readString(control.file());
  }

  @Test
  void nodesHaveOneTextAndEachKeepsWhatIsItsOwn() throws Exception {
    String ofB = OF_A.replace("node: a", "node: b").replace("8MiB", "16MiB") + "loops: 3\n";
    try (ConfigControl a = opened("a", OF_A);
        ConfigControl b = opened("b", ofB)) {
      SharedConfig second = new SharedConfig(b, () -> null);
      at(
          a,
          first -> {
            assertThat(first.commit(order(null), OTHER).status()).isEqualTo(200);
            assertThat(first.digest()).isNotEqualTo(second.digest());
            assertThat(second.prepare(changed)).isEmpty();
            assertThat(second.apply(changed)).isEmpty();
            assertThat(first.digest()).isEqualTo(second.digest());
          });
      assertThat(file(b)).isEqualTo(file(a)).isEqualTo(OTHER);
      assertThat(b.file().resolveSibling("node.yaml"))
          .hasContent(ofB.replace("D/", directory + "/"));
      assertThat(b.versions()).hasSize(2).first().extracting(ConfigVersion::by).isEqualTo("me");
    }
  }

  @Test
  void aSettingOfANodeIsNoneOfASharedText() throws Exception {
    try (ConfigControl a = opened("a", OF_A);
        ConfigControl b = opened("b", OF_A + "loops: 3\n")) {
      SharedConfig second = new SharedConfig(b, () -> null);
      at(
          a,
          first -> {
            first.commit(order(null), SHARED + "loops: 2\n");
            assertThat(second.prepare(changed))
                .contains("node.yaml:11:1: loops: found the key a second time")
                .contains("(first in line 5 of the configuration's own file)");
            assertThat(file(b)).isEqualTo(SHARED);
            String alone = OTHER.replace("include: [node.yaml]", "listeners: ['127.0.0.1:1']");
            assertThatThrownBy(() -> first.commit(order(null), alone))
                .isInstanceOf(Refused.class)
                .hasMessageContaining("cannot change include");
          });
    }
  }

  /** What a change says is enough. */
  @Test
  void aNodeThatWasAwayNeedsTheLastChangeAlone() throws Exception {
    try (ConfigControl a = opened("a", OF_A);
        ConfigControl b = opened("b", OF_A)) {
      SharedConfig second = new SharedConfig(b, () -> null);
      String third = OTHER.replace("50", "51");
      at(
          a,
          first -> {
            first.commit(order(null), OTHER);
            first.commit(order(Duration.ofMinutes(1)), third);
            assertThat(second.prepare(changed)).isEmpty();
            assertThat(second.apply(changed)).isEmpty();
            assertThat(file(b)).isEqualTo(OTHER);
            assertThat(b.text()).isEqualTo(third);
            first.end("keep");
            assertThat(second.prepare(changed)).isEmpty();
            b.revertTrial(null);
            assertThat(second.apply(changed)).isEmpty();
            assertThat(file(b)).isEqualTo(file(a)).isEqualTo(third);
          });
    }
  }

  @Test
  void aTrialIsKeptOrRevertedAtAllNodes() throws Exception {
    try (ConfigControl a = opened("a", OF_A);
        ConfigControl b = opened("b", OF_A)) {
      SharedConfig second = new SharedConfig(b, () -> null);
      at(
          a,
          first -> {
            for (String decision : List.of("revert", "keep")) {
              first.commit(order(Duration.ofMinutes(1)), OTHER);
              assertThat(second.apply(changed)).isEmpty();
              assertThat(b.trial()).isNotNull();
              first.end(decision);
              assertThat(second.prepare(changed)).isEmpty();
              assertThat(second.apply(changed)).isEmpty();
              assertThat(b.trial()).isNull();
              assertThat(file(b)).isEqualTo(file(a));
            }
            assertThat(file(b)).isEqualTo(OTHER);
          });
    }
  }

  @Test
  void aTextThatNodesCannotShareIsRefused() throws Exception {
    String long2 = OTHER + ("#".repeat(1_023) + "\n").repeat(2_048);
    try (ConfigControl a = opened("a", OF_A)) {
      at(
          a,
          shared -> {
            assertThat(shared.commit(order(null), long2).status()).isEqualTo(200);
            assertThatThrownBy(
                    () -> shared.commit(order(Duration.ofMinutes(1)), long2.replace("50", "51")))
                .isInstanceOf(Refused.class)
                .hasMessageContaining("at most 4 MiB");
          });
    }
  }

  private static ChangeOrder order(@Nullable Duration confirm) {
    return new ChangeOrder("me", "", null, confirm, null);
  }
}
