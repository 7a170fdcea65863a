package io.kamille.launcher.acme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Sections;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ServerCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three nodes with a store each, and one authority: a clock moved by hand, no network. */
class SharedStoreTest {

  @TempDir private Path directory;
  private final HandClock clock = new HandClock();
  private final FakeIssuer authority = new FakeIssuer(clock, Duration.ofDays(90));
  private final SharedByHand shared = new SharedByHand();
  private final List<CertificateKeeper> nodes = new ArrayList<>();

  private AcmeSettings settings(String node) {
    return Sections.copy(
            Sections.of(
                AcmeSettings.SECTION,
                "{terms-agreed: on, directory: 'https://ca.corp.test/directory'}"))
        .with("store", directory.resolve(node))
        .record();
  }

  private CertificateStore store(String node) {
    return new CertificateStore(settings(node), () -> shared.at(node));
  }

  private Prover prover(String node, Challenges challenges) {
    return new Prover(store(node), challenges);
  }

  private CertificateKeeper keeper(String node, CertificateStore store) {
    var keeper =
        new CertificateKeeper(
            settings(node),
            store,
            new Prover(store, new Challenges()),
            _ -> authority,
            clock,
            new Random(1));
    keeper.reload(settings(node), List.of("a.test"), true);
    return keeper;
  }

  @BeforeEach
  void start() {
    for (String node : List.of("a", "b", "c")) {
      nodes.add(keeper(node, store(node)));
    }
  }

  @AfterEach
  void end() {
    nodes.forEach(CertificateKeeper::close);
  }

  /** All nodes do all that is due within that time, second by second. */
  private void pass(Duration time) throws InterruptedException {
    for (long i = 0; i < time.toSeconds(); i++) {
      for (CertificateKeeper node : nodes) {
        node.doAsked();
        for (int steps = 0; steps < 5 && node.step().isZero(); steps++) {
          node.doAsked();
        }
      }
      clock.pass(Duration.ofSeconds(1));
    }
  }

  private static ServerCertificate of(CertificateKeeper node) {
    return node.certificates(List.of("a.test")).getFirst();
  }

  @Test
  void theLeaderOrdersAndAllNodesHaveTheCertificate() throws Exception {
    pass(Duration.ofSeconds(15));
    assertThat(authority.orders).hasSize(1);
    assertThat(nodes)
        .allSatisfy(node -> assertThat(of(node).chain()).isEqualTo(of(nodes.getFirst()).chain()))
        .noneMatch(node -> of(node).isSelfSigned());
    assertThat(nodes.get(1).renew("a.test")).as("at a node that does not order").isFalse();
    assertThat(nodes.get(0).renew("a.test")).isTrue();
    pass(Duration.ofSeconds(15));
    assertThat(authority.orders).hasSize(2);
    shared.values.clear();
    try (var again = keeper("c", store("c"))) {
      assertThat(of(again).chain()).as("on its disk").isEqualTo(of(nodes.getFirst()).chain());
    }
  }

  @Test
  void theNextLeaderOrdersAgainNoSoonerThanTheLastOneWouldHave() throws Exception {
    authority.answer =
        _ -> {
          shared.leader = "b";
          throw new InterruptedException("as if it had ended");
        };
    try {
      pass(Duration.ofSeconds(1));
    } catch (InterruptedException ended) {
      nodes.removeFirst().close();
    }
    assertThat(authority.orders).hasSize(1);
    authority.answer = order -> FakeIssuer.issue(order.name(), clock.instant(), Duration.ofDays(9));
    pass(Duration.ofSeconds(45));
    assertThat(authority.orders).as("within a minute, less a fifth").hasSize(1);
    pass(Duration.ofSeconds(45));
    assertThat(authority.orders).hasSize(2);
    assertThat(nodes).noneMatch(node -> of(node).isSelfSigned());
  }

  @Test
  void whoLeadsNoMoreFollows() throws Exception {
    pass(Duration.ofSeconds(15));
    ServerCertificate first = of(nodes.getFirst());
    shared.leader = "b";
    pass(Duration.ofSeconds(2));
    assertThat(nodes.get(0).renew("a.test")).isFalse();
    assertThat(nodes.get(1).renew("a.test")).isTrue();
    pass(Duration.ofSeconds(15));
    assertThat(of(nodes.getFirst()).chain())
        .isEqualTo(of(nodes.get(1)).chain())
        .isNotEqualTo(first.chain());
  }

  @Test
  void withoutAMajorityNothingIsOrdered() throws Exception {
    shared.hasQuorum = false;
    pass(Duration.ofSeconds(90));
    assertThat(authority.orders).isEmpty();
    shared.hasQuorum = true;
    pass(Duration.ofSeconds(150));
    assertThat(authority.orders).hasSize(1);
  }

  @Test
  void aCertificateThatCannotBeSharedIsNotOrderedTwice() throws Exception {
    authority.answer =
        order -> {
          shared.hasQuorum = false;
          return FakeIssuer.issue(order.name(), clock.instant(), Duration.ofDays(90));
        };
    pass(Duration.ofSeconds(90));
    shared.hasQuorum = true;
    pass(Duration.ofMinutes(5));
    assertThat(authority.orders).hasSize(1);
    assertThat(nodes).noneMatch(node -> of(node).isSelfSigned());
  }

  @Test
  void aNodeWhoseDiskWasFullTakesWhatWasRenewedLater() throws Exception {
    pass(Duration.ofSeconds(15));
    ServerCertificate first = of(nodes.get(2));
    Path inTheWay = directory.resolve("c/ca.corp.test/certificates/a.test/2");
    Files.writeString(inTheWay, "no room");
    assertThat(nodes.get(0).renew("a.test")).isTrue();
    pass(Duration.ofSeconds(15));
    assertThat(of(nodes.get(2)).chain()).isEqualTo(first.chain());
    Files.delete(inTheWay);
    pass(Duration.ofSeconds(11));
    assertThat(of(nodes.get(2)).chain())
        .isEqualTo(of(nodes.get(0)).chain())
        .isNotEqualTo(first.chain());
  }

  @Test
  void aNodeThatWasAloneBringsWhatItHas() throws Exception {
    CertificateStore alone = new CertificateStore(settings("b"), null);
    alone.save("a.test", FakeIssuer.issue("a.test", clock.instant(), Duration.ofDays(90)));
    var account = alone.accountKey();
    shared.leader = "b";
    pass(Duration.ofSeconds(15));
    assertThat(authority.orders).isEmpty();
    assertThat(nodes).noneMatch(node -> of(node).isSelfSigned());
    assertThat(store("b").accountKey().getPrivate()).isEqualTo(account.getPrivate());
    assertThat(store("c").accountKey().getPrivate())
        .as("one account")
        .isEqualTo(account.getPrivate());
  }

  // What an authority asks

  @Test
  void eachNodeAnswersUntilTheOrderIsOverOrItsLeaderIsLost() throws Exception {
    Challenges ofC = new Challenges();
    Prover follower = prover("c", ofC);
    Proof http = new Proof(Way.HTTP_01, "a.test", "token", "token.authorization");
    Proof tls = new Proof(Way.TLS_ALPN_01, "b.test", "other", "other.authorization");
    store("a").open(http);
    store("a").open(tls);
    follower.refresh();
    assertThat(ofC.answer("token")).isEqualTo("token.authorization");
    Objects.requireNonNull(ofC.choose("b.test")).release();
    store("a").close(http);
    follower.refresh();
    assertThat(ofC.answer("token")).isNull();
    store("b").closeAll();
    follower.refresh();
    assertThat(ofC.choose("b.test")).isNull();
  }

  @Test
  void hostileValuesHarmNobody() throws Exception {
    pass(Duration.ofSeconds(15));
    ServerCertificate mine = of(nodes.get(2));
    String name = "acme/ca.corp.test/certificate/a.test";
    assertThat(shared.values).containsKey(name);
    List<byte[]> hostile =
        List.of(
            new byte[60_000],
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----".getBytes(UTF_8),
            pem("other.test", clock.instant().plusSeconds(60).getEpochSecond()),
            pem("a.test", clock.instant().minusSeconds(60).getEpochSecond()));
    for (byte[] value : hostile) {
      shared.values.put(name, value);
      pass(Duration.ofSeconds(11));
      assertThat(of(nodes.get(2)).chain()).isEqualTo(mine.chain());
    }
    for (int i = 0; i < 1_000; i++) {
      shared.values.put("acme/challenges/x" + i, "{\"name\":1}".getBytes(UTF_8));
    }
    assertThat(store("c").proofs()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 21, 1_000})
  void ofManyChallengesTwentyAreAnsweredAndThatOfTheNodeThatOrders(int open) throws IOException {
    for (int i = 1; i < open; i++) {
      String proof =
          "{\"challenge\":\"TLS_ALPN_01\",\"name\":\"n"
              + i
              + "\",\"token\":\"t\","
              + "\"authorization\":\"a\"}";
      shared.values.put("acme/challenges/" + i, proof.getBytes(UTF_8));
    }
    CertificateStore leader = store("a");
    Proof own = new Proof(Way.HTTP_01, "a.test", "token", "token.authorization");
    leader.open(own);
    assertThat(leader.proofs()).hasSize(20).contains(own);
    assertThat(store("c").proofs()).hasSize(20);
    leader.close(own);
    assertThat(leader.proofs()).hasSize(Math.min(open - 1, 20)).doesNotContain(own);
    leader.closeAll();
    assertThat(store("c").proofs()).isEmpty();
  }

  private byte[] pem(String name, long from) throws IOException {
    Path other = directory.resolve("other" + from);
    CertificateStore made = new CertificateStore(settings(other.getFileName().toString()), null);
    made.save(name, FakeIssuer.issue(name, Instant.ofEpochSecond(from), Duration.ofDays(90)));
    Path live = other.resolve("ca.corp.test/certificates/" + name + "/live");
    return (Files.readString(live.resolve("key.pem")) + Files.readString(live.resolve("chain.pem")))
        .getBytes(UTF_8);
  }
}
