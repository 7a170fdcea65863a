package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.StructuredFields.Value;
import io.kamille.core.http.StructuredFields.Value.Kind;
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

  private static Map<String, Value> parsed(String... lines) {
    return Objects.requireNonNull(StructuredFields.dictionary(List.of(lines)));
  }

  private static Value value(String text) {
    return Objects.requireNonNull(parsed("a=" + text).get("a"));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "0 | INTEGER",
        "-42 | INTEGER",
        "007 | INTEGER",
        "999999999999999 | INTEGER",
        "1.5 | DECIMAL",
        "-123456789012.125 | DECIMAL",
        "\"\" | STRING",
        "\"a \\\" \\\\ z\" | STRING",
        "foo | TOKEN",
        "*f/o:o!#$%&'*+-.^_~ | TOKEN",
        ":aGVsbG8=: | BYTE_SEQUENCE",
        ":: | BYTE_SEQUENCE",
        "?1 | BOOLEAN",
        "?0 | BOOLEAN",
        "@1659578233 | DATE",
        "@-62135596800 | DATE",
        "%\"f%c3%bcr\" | DISPLAY_STRING",
        "() | INNER_LIST",
        "( 1 \"b\";x=1  c );y | INNER_LIST",
      })
  void section3_3EveryTypeIsKnown(String text, Kind kind) {
    assertThat(value(text).kind()).isEqualTo(kind);
  }

  @Test
  void section3_2AKeyWithoutAValueIsTrue() {
    Map<String, Value> members = parsed("a, b;x=1;y, c=?0");
    assertThat(members.keySet()).containsExactly("a", "b", "c");
    assertThat(Objects.requireNonNull(members.get("b")).isTrue()).isTrue();
    assertThat(Objects.requireNonNull(members.get("c")).isFalse()).isTrue();
    assertThat(members.get("d")).isNull();
  }

  @Test
  void section3_2TheLastOfTwoEqualKeysCounts() {
    assertThat(Objects.requireNonNull(parsed("a=1, b=2, a=3").get("a")).number()).isEqualTo(3);
    assertThat(Objects.requireNonNull(parsed("a=1", "a=3").get("a")).number()).isEqualTo(3);
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
    assertThat(value("\"a\\\"\\\\\"").text()).isEqualTo("a\"\\");
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
  void anyOctetsGiveADictionaryOrNone() {
    Random random = new Random(1);
    String alphabet = "ab*A01-.,;=\"\\:?@%() \t\u0000\u00fc";
    for (int round = 0; round < 200_000; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(12); i >= 0; i--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      Map<String, Value> members = StructuredFields.dictionary(List.of(text.toString()));
      assertThat(members == null || members.keySet().stream().noneMatch(String::isEmpty))
          .as("%s", text)
          .isTrue();
    }
  }
}
