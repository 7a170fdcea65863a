package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 9110 §8.8.3: entity tags. */
class EntityTagTest {

  @ParameterizedTest
  @ValueSource(
      strings = {"\"\"", "\"xyzzy\"", "W/\"xyzzy\"", "\"a,b\"", "\"!#'\\~\"", "\"\u00fc\""})
  void quotedOpaqueTextIsATag(String text) {
    assertThat(EntityTag.isValid(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\"",
        "W/",
        "W/\"",
        "xyzzy",
        "'a'",
        "w/\"a\"",
        "W\"a\"",
        "W\\\"a\"",
        "\"a\"b\"",
        "\"a b\"",
        "\"a",
        "a\"",
        "\"a\" ",
        "*",
        "\"\u007f\"",
        "\"\u0394\""
      })
  void anythingElseIsNone(String text) {
    assertThat(EntityTag.isValid(text)).isFalse();
    assertThat(EntityTag.isValid(null)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "W/\"1\" | W/\"1\" | false | true",
        "W/\"1\" | W/\"2\" | false | false",
        "W/\"1\" | \"1\"   | false | true",
        "\"1\"   | \"1\"   | true  | true",
      })
  void comparisonIsStrongOrWeak(String one, String other, boolean strongly, boolean weakly) {
    assertThat(EntityTag.matchesStrongly(one, other)).isEqualTo(strongly);
    assertThat(EntityTag.matchesStrongly(other, one)).isEqualTo(strongly);
    assertThat(EntityTag.matchesWeakly(one, other)).isEqualTo(weakly);
    assertThat(EntityTag.matchesWeakly(other, one)).isEqualTo(weakly);
  }

  @Test
  void weaknessIsToldByItsPrefix() {
    assertThat(EntityTag.isWeak("W/\"1\"")).isTrue();
    assertThat(EntityTag.isWeak("\"W/\"")).isFalse();
  }

  @Test
  void whatIsNoTagInAListIsPassedOver() {
    assertThat(listMatches("a, \"b\"", "\"b\"")).isTrue();
    assertThat(listMatches("\"b\" x, \"c\"", "\"b\"")).isFalse();
    assertThat(listMatches("\"b\"\t ,", "\"b\"")).isTrue();
  }

  @Test
  void everyTagOfAListIsFoundAndNoOther() {
    long seed = 20261121;
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 50_000; round++) {
      String sought = tag(random);
      StringBuilder list = new StringBuilder();
      boolean isThere = false;
      for (int i = random.nextInt(4); i > 0; i--) {
        String tag = tag(random);
        isThere |= EntityTag.matchesWeakly(tag, sought);
        list.append(" ,".repeat(random.nextInt(2)))
            .append(tag)
            .append(random.nextBoolean() ? "," : " ,\t");
      }
      assertThat(listMatches(list.toString(), sought))
          .as("seed %d: %s in '%s'", seed, sought, list)
          .isEqualTo(isThere);
    }
  }

  private static String tag(SplittableRandom random) {
    StringBuilder tag = new StringBuilder(random.nextBoolean() ? "W/\"" : "\"");
    for (int i = random.nextInt(3); i > 0; i--) {
      tag.append("ab,/W".charAt(random.nextInt(5)));
    }
    return tag.append('"').toString();
  }

  private static boolean listMatches(String list, String tag) {
    byte[] octets = Fields.octetsOf(list);
    return EntityTag.listMatchesWeakly(octets, 0, octets.length, tag);
  }
}
