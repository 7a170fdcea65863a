package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists by the grammar of RFC 9651. */
class StructuredListTest {

  private static List<Object> parsed(String... lines) {
    return Objects.requireNonNull(StructuredFields.list(List.of(lines)));
  }

  @Test
  void section3_1MembersKeepTheirOrderAndTheirDoubles() {
    assertThat(StructuredFields.strings(List.of("\"b\", \"a\",\"b\"")))
        .containsExactly("b", "a", "b");
  }

  @Test
  void section3_1ParametersAreCheckedAndForgotten() {
    assertThat(StructuredFields.strings(List.of("\"a\";x;y=\"z, w\"; z, \"b\";  q=1.5")))
        .containsExactly("a", "b");
  }

  @Test
  void section3_1_1InnerListsAreCheckedAndForgotten() {
    for (String text : List.of("( \"a\";x  1 b );y=2", "()", "(   )")) {
      assertThat(parsed(text)).containsExactly(StructuredFields.OTHER);
    }
  }

  @Test
  void section4_2LinesAreOneListAndWhiteSpaceAroundCommasIsNothing() {
    assertThat(StructuredFields.strings(List.of("  \"a\" ,\t\"b\"", "\"c\"  ")))
        .containsExactly("a", "b", "c");
  }

  /** §4.2: lines are joined first, so a string that breaks off in one is no string with another. */
  @Test
  void section4_2AStringOverTwoLinesHasTheCommaBetweenThem() {
    assertThat(StructuredFields.strings(List.of("\"a", "b\""))).containsExactly("a, b");
  }

  @Test
  void section4_2NothingIsAnEmptyList() {
    assertThat(parsed()).isEmpty();
    assertThat(parsed("")).isEmpty();
    assertThat(parsed("   ")).isEmpty();
    assertThat(StructuredFields.strings(List.of())).isEmpty();
  }

  @Test
  void section4_2_5StringsMayHaveSeparatorsAndEscapes() {
    assertThat(StructuredFields.strings(List.of("\"a, b\", \"(\", \"\\\"\\\\\", \"\"")))
        .containsExactly("a, b", "(", "\"\\", "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ",",
        "\"a\",",
        ",\"a\"",
        "\"a\",,\"b\"",
        "\"a\" \"b\"",
        "\"a\"\"b\"",
        "\"a",
        "\"a\\",
        "\"\u00fc\"",
        "\"a\tb\"",
        "\t\"a\"",
        "a=1",
        "(\"a\"",
        "(\"a\",\"b\")",
        "(\"a\"\"b\")",
        "(\t\"a\")",
        "((\"a\"))",
        ")",
        "\"a\" ;x",
        "\"a\";",
        "\"a\";X",
        "\"a\";x=",
        "\"a\";x=()",
        "1.",
        "-",
        "1e3",
        "@",
        "?",
      })
  void section4_2AFieldThatBreaksTheGrammarIsIgnoredAsAWhole(String text) {
    assertThat(StructuredFields.list(List.of(text))).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "1", "?1", "(\"a\")", "\"a\", b", ":YQ==:", "@1", "%\"a\""})
  void aListWithAnythingElseThanStringsIsNoneOfStrings(String text) {
    assertThat(parsed(text)).isNotEmpty();
    assertThat(StructuredFields.strings(List.of(text))).isNull();
  }
}
