package io.kamille.cluster.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.HostPort;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who owns which keys, as nodes come and go. */
class OwnersTest {

  private static final int KEYS = 20_000;
  private static final long NOW = Duration.ofDays(1).toNanos();

  private static PeerNode node(String name) {
    return node(name, 0, false);
  }

  private static PeerNode node(String name, long sinceNanos, boolean isDraining) {
    return new PeerNode(name, new HostPort("127.0.0.1", 1), sinceNanos, isDraining);
  }

  private static Owners owners(PeerNode... nodes) {
    return new Owners(List.of(nodes), "a");
  }

  private static String owner(Owners owners, long key) {
    return name(owners.owner(key, NOW));
  }

  private static String name(@Nullable PeerNode node) {
    return node == null ? "nobody" : node.name();
  }

  private static List<Long> keys() {
    return new SplittableRandom(1).longs(KEYS).boxed().toList();
  }

  private static Map<String, Integer> shares(Owners owners) {
    Map<String, Integer> shares = new HashMap<>();
    keys().forEach(key -> shares.merge(owner(owners, key), 1, Integer::sum));
    return shares;
  }

  @Test
  void eachNodeOwnsItsPartAndAllAgreeWhateverTheOrder() {
    List<PeerNode> nodes = new ArrayList<>(List.of(node("a"), node("b"), node("c")));
    Owners one = new Owners(nodes, "a");
    Collections.reverse(nodes);
    Owners other = new Owners(nodes, "c");
    for (long key : keys()) {
      assertThat(owner(one, key)).isEqualTo(owner(other, key));
    }
    assertThat(shares(one).values()).allMatch(share -> Math.abs(share - KEYS / 3) < KEYS / 50);
  }

  @Test
  void aNodeThatGoesTakesNoOtherKeysAlong() {
    Owners before = owners(node("a"), node("b"), node("c"));
    Owners after = owners(node("a"), node("c"));
    for (long key : keys()) {
      PeerNode had = before.owner(key, NOW);
      String expected =
          name(had).equals("b") ? name(before.nearest(key, NOW, had, _ -> 0)) : name(had);
      assertThat(owner(after, key)).isEqualTo(expected);
    }
  }

  @Test
  void aNodeThatJoinsGetsItsPartByAndBy() {
    Owners half = owners(node("a"), node("b", NOW - Owners.WARM.toNanos() / 2, false));
    assertThat(shares(half).get("b")).isBetween(KEYS / 3 - KEYS / 50, KEYS / 3 + KEYS / 50);
    Owners fresh = owners(node("a"), node("b", NOW, false));
    assertThat(shares(fresh).get("b")).isBetween(1, KEYS / 50);
    Owners warm = owners(node("a"), node("b", NOW - Owners.WARM.toNanos(), false));
    assertThat(shares(warm).get("b")).isBetween(KEYS / 2 - KEYS / 50, KEYS / 2 + KEYS / 50);
  }

  @Test
  void theFormerOwnerIsWhoHadTheKeyBeforeNodesCameOrBeganToGo() {
    Owners before = owners(node("a"), node("b"), node("c"));
    Owners joining = owners(node("a"), node("b"), node("c"), node("d", NOW, false));
    Owners leaving = owners(node("a"), node("b"), node("c", 0, true));
    for (long key : keys()) {
      assertThat(before.former(key, NOW)).isNull();
      assertThat(name(joining.former(key, NOW))).isEqualTo(owner(before, key));
      assertThat(name(leaving.former(key, NOW))).isEqualTo(owner(before, key));
      assertThat(owner(leaving, key)).isNotEqualTo("c");
    }
  }

  @Test
  void whoHasTooMuchToDoIsPassedOverButNotForALittle() {
    Owners owners = owners(node("a"), node("b"), node("c"));
    long key = keys().stream().filter(each -> owner(owners, each).equals("b")).findFirst().get();
    assertThat(name(owners.nearest(key, NOW, null, node -> node.name().equals("b") ? 63 : 0)))
        .isEqualTo("b");
    assertThat(name(owners.nearest(key, NOW, null, node -> node.name().equals("b") ? 64 : 0)))
        .isNotEqualTo("b");
    assertThat(name(owners.nearest(key, NOW, null, node -> 1_000))).isEqualTo("b");
  }

  @Test
  void nobodyOwnsAnythingWhereNobodyIs() {
    assertThat(owner(owners(), 1)).isEqualTo("nobody");
    assertThat(owner(owners(node("a", 0, true)), 1)).isEqualTo("nobody");
  }
}
