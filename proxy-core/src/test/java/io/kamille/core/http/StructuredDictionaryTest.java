package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Dictionaries by the grammar of RFC 9651. */
class StructuredDictionaryTest {

  private static Map<String, Object> parsed(String... lines) {
    return Objects.requireNonNull(StructuredFields.dictionary(List.of(lines)));
  }

  private static Object value(String text) {
    return Objects.requireNonNull(parsed("a=" + text).get("a"));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "0 | 0",
        "-42 | -42",
        "007 | 7",
        "999999999999999 | 999999999999999",
        "1.5 | other",
        "-123456789012.125 | other",
        "\"\" | ``",
        "\"a \\\" \\\\ z\" | a \" \\ z",
        "foo | other",
        "*f/o:o!#$%&'*+-.^_~ | other",
        ":aGVsbG8=: | other",
        ":: | other",
        "?1 | true",
        "?0 | false",
        "@1659578233 | other",
        "@-62135596800 | other",
        "%\"f%c3%bcr\" | other",
        "%\"\\ %00%7f%c2%80%e0%a0%80%ed%9f%bf%ee%80%80%f0%90%80%80%f4%8f%bf%bf\" | other",
        "() | other",
        "( 1 \"b\";x=1  c );y | other",
      })
  void section3_3EveryTypeIsKnown(String text, String expected) {
    Object value = value(text);
    assertThat(value.equals(StructuredFields.OTHER) ? "other" : value.toString())
        .isEqualTo(expected);
  }

  @Test
  void section3_2AKeyWithoutAValueIsTrue() {
    Map<String, Object> members = parsed("a, b;x=1;y, c=?0");
    assertThat(members.keySet()).containsExactly("a", "b", "c");
    assertThat(members.get("b")).isEqualTo(true);
    assertThat(members.get("c")).isEqualTo(false);
    assertThat(members.get("d")).isNull();
  }

  @Test
  void section3_2TheLastOfTwoEqualKeysCounts() {
    assertThat(parsed("a=1, b=2, a=3").get("a")).isEqualTo(3L);
    assertThat(parsed("a=1", "a=3").get("a")).isEqualTo(3L);
  }

  @Test
  void section4_2LinesAreOneListAndWhiteSpaceAroundCommasIsNothing() {
    assertThat(parsed("  a=1 ,\tb", "c  ").keySet()).containsExactly("a", "b", "c");
  }

  @Test
  void section4_2NothingIsAnEmptyDictionary() {
    assertThat(parsed().isEmpty()).isTrue();
    assertThat(parsed("").isEmpty()).isTrue();
    assertThat(parsed("   ").isEmpty()).isTrue();
  }

  @Test
  void section4_2_5EscapesAreTakenOutOfStrings() {
    assertThat(value("\"a\\\"\\\\\"")).isEqualTo("a\"\\");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "A=1",
        "1",
        "=1",
        "a =1",
        "a= 1",
        "a=",
        "a,",
        "a,,b",
        ",a",
        "a b",
        "a=1 b=2",
        "&&&&&",
        "a=1, &&&&&",
        "a=--1",
        "a=-",
        "a=1000000000000000",
        "a=1234567890123.0",
        "a=1.",
        "a=1.2345",
        "a=.5",
        "a=\"",
        "a=\"\\n\"",
        "a=\"\\",
        "a=\"\u007f\"",
        "a=\"\u00fc\"",
        "a='1'",
        "a=:aGVs",
        "a=:a!:",
        "a=?2",
        "a=?",
        "a=@1.5",
        "a=@",
        "a=%\"%C3\"",
        "a=%\"%c3\"",
        "a=%\"%g0\"",
        "a=%\"%80\"",
        "a=%\"%c0%80\"",
        "a=%\"%c3%7f\"",
        "a=%\"%e0%9f%80\"",
        "a=%\"%ed%a0%80\"",
        "a=%\"%f0%8f%80%80\"",
        "a=%\"%f4%90%80%80\"",
        "a=%x",
        "a=(",
        "a=(1",
        "a=(1,2)",
        "a=(1\"b\")",
        "a=1;",
        "a=1;X",
        "a=1;x=",
        "a;=1",
        "\ta",
        "a\u0000",
      })
  void section4_2AFieldThatBreaksTheGrammarIsIgnoredAsAWhole(String text) {
    assertThat(StructuredFields.dictionary(List.of(text))).isNull();
  }

  @Test
  void longValuesTakeNoStack() {
    String many = "\\\"".repeat(100_000);
    assertThat(value("\"" + many + "\"").toString()).hasSize(100_000);
    assertThat(value("(" + "a;x=1 ".repeat(50_000) + ")")).isEqualTo(StructuredFields.OTHER);
    assertThat(value("%\"" + "%c3%bc".repeat(50_000) + "\"")).isEqualTo(StructuredFields.OTHER);
    assertThat(parsed("a;b=1" + ";c".repeat(100_000)).get("a")).isEqualTo(true);
    assertThat(parsed("a, ".repeat(100_000) + "b")).hasSize(2);
  }

  @Test
  void anyOctetsGiveADictionaryOrNone() {
    Random random = new Random(1);
    String alphabet = "ab*A01-.,;=\"\\:?@%() \t\u0000\u00fc";
    for (int round = 0; round < 200_000; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(12); i >= 0; i--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      Map<String, Object> members = StructuredFields.dictionary(List.of(text.toString()));
      assertThat(members == null || members.keySet().stream().noneMatch(String::isEmpty))
          .as("%s", text)
          .isTrue();
    }
  }
}
