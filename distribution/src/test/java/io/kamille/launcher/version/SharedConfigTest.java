package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.launcher.patch.MergePatch;
import java.util.Map;
import org.junit.jupiter.api.Test;
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
}
