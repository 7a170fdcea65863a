package io.kamille.cache.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sections are those of draft-ietf-httpbis-no-vary-search. */
class SearchVarianceTest {

  private static final String ORIGIN = "http://example.org/a";

  private static SearchVariance of(String... lines) {
    Fields fields = new Fields();
    for (String line : lines) {
      fields.add("No-Vary-Search", line);
    }
    return SearchVariance.of(fields);
  }

  private static String simplified(String variance, String query) {
    return of(variance).simplified(RequestHead.of("GET", ORIGIN + query));
  }

  private static boolean areEquivalent(String variance, String one, String other) {
    return simplified(variance, one).equals(simplified(variance, other));
  }

  // Parsing

  @Test
  void parseAUrlSearchVarianceExamples() {
    assertThat(of("params")).isEqualTo(new SearchVariance(Set.of(), true, true));
    assertThat(of("params=(\"a\")")).isEqualTo(new SearchVariance(Set.of("a"), false, true));
    assertThat(of("params, except=(\"x\")")).isEqualTo(new SearchVariance(Set.of("x"), true, true));
    assertThat(of("key-order")).isEqualTo(new SearchVariance(Set.of(), false, false));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "params=?1 | params",
        "key-order=?1 | key-order",
        "params, key-order, except=(\"x\") | key-order, params, except=(\"x\")",
        "params=(\"a\" \"b\") | params=(\"b\" \"a\" \"b\")",
        "params=(\"a\");x=1, unknown=5 | params=(\"a\";y)",
        "params=(\"z\"), params=(\"a\") | params=(\"a\")",
      })
  void parseAUrlSearchVarianceTakesUnconventionalForms(String text, String conventional) {
    assertThat(of(text)).isEqualTo(of(conventional));
    assertThat(of(text).isDefault()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "unknown-key",
        "key-order=\"not a boolean\"",
        "params=\"not a boolean or inner list\"",
        "params=(not-a-string)",
        "params=(\"a\"), except=(\"x\")",
        "params=(), except=()",
        "params=?0, except=(\"x\")",
        "params, except=(not-a-string)",
        "params, except=\"not an inner list\"",
        "params, except=?1",
        "except=(\"x\")",
        "except=()",
        "params=?0",
        "params=()",
        "key-order=?0",
        "params=(\"a\"), key-order=1",
        "params=(\"a\" 1)",
        "params=(\"a\"",
        "params,",
        "",
      })
  void parseAUrlSearchVarianceTreatsWhatIsInvalidAsTheDefault(String text) {
    assertThat(of(text)).isEqualTo(SearchVariance.DEFAULT);
  }

  @Test
  void obtainAUrlSearchVarianceReadsAllLinesAsOneField() {
    assertThat(of("params", "except=(\"x\")")).isEqualTo(of("params, except=(\"x\")"));
    assertThat(SearchVariance.of(new Fields()).isDefault()).isTrue();
    assertThat(SearchVariance.isIn(new Fields())).isFalse();
    assertThat(SearchVariance.isIn(Fields.of("no-vary-search", "?"))).isTrue();
  }

  @Test
  void parseAKeyDecodesNames() {
    assertThat(of("params=(\"%C3%A9+%E6%B0%97\")").names())
        .as("octets")
        .containsExactly("\u00c3\u00a9 \u00e6\u00b0\u0097");
    assertThat(of("params=(\"%2b%zz\")").names()).containsExactly("+%zz");
  }

  @Test
  void aFieldThatNamesTooMuchIsIgnored() {
    assertThat(of(names(SearchVariance.NAMES_LIMIT)).isDefault()).isFalse();
    assertThat(of(names(SearchVariance.NAMES_LIMIT + 1)).isDefault()).isTrue();
    String longest = "x".repeat(SearchVariance.OCTETS_LIMIT);
    assertThat(of("params=(\"" + longest + "\")").isDefault()).isFalse();
    assertThat(of("params=(\"" + longest + "x\")").isDefault()).isTrue();
  }

  private static String names(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\"p" + i + '"')
        .collect(Collectors.joining(" ", "params=(", ")"));
  }

  // Comparing

  @ParameterizedTest
  @CsvSource({
    "'', ?",
    "?a=x, ?%61=%78",
    "?a=x&&&&, ?a=x",
    "?a=, ?a",
    "?a=%20, ?a=+",
    "?a=%c3%b6, ?a=%C3%B6",
    "?a=1=2, ?a=1%3D2",
    "?b=2&a=1, ?a=1&b=2",
  })
  void comparingReadsQueriesAsForms(String one, String other) {
    assertThat(areEquivalent("key-order", one, other)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "key-order, ?a=1&a=2, ?a=2&a=1",
    "key-order, ?a=1, ?A=1",
    "key-order, ?a=1%26b=2, ?a=1&b=2",
    "key-order, ?a%3D1, ?a=1",
    "key-order, ?a=%2B, ?a=+",
    "key-order, ?a=%f6, ?a=%fc",
    "key-order, ?a=%f6, ?a=%ef%bf%bd",
    "key-order, ?a=%f6, ?a=%c3%b6",
    "params=(\"%f6\"), ?%fe=1, ''",
    "params=(\"x\"), ?a=1&b=2, ?b=2&a=1",
    "params=(\"x\"), ?X=1, ?X=2",
    "'params, except=(\"x\")', ?x=1, ?x=2",
    "'params, except=(\"x\")', ?x=1, ?x=1&x=1",
    "'params, except=(\"x\")', ?x=, ''",
    "'params, except=(\"x\" \"y\")', ?x=1&y=2, ?y=2&x=1",
  })
  void comparingKeepsApartWhatDiffers(String variance, String one, String other) {
    assertThat(areEquivalent(variance, one, other)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "params, ?a=1&b=2, ''",
    "params=(\"x\"), ?x=1&a=1&x, ?a=1",
    "params=(\"x\"), ?%78=1&a=1, ?a=1&x=5",
    "params=(\"%f6\"), ?%F6=1, ?%f6=2",
    "params=(\"%c3%b6\"), ?%C3%B6=1, ''",
    "'params, except=(\"x\")', ?z=1&x=1&y=2, ?x=1",
    "'params, except=(\"x\" \"y\"), key-order', ?y=2&z&x=1, ?x=1&y=2",
    "'params=(\"x\"), key-order', ?b=1&x=3&a=2, ?a=2&b=1",
  })
  void comparingLeavesOutWhatDoesNotCount(String variance, String one, String other) {
    assertThat(areEquivalent(variance, one, other)).isTrue();
  }

  @Test
  void comparingSortsByOctetsAndKeepsTheOrderOfEqualNames() {
    assertThat(simplified("key-order", "?b=1&a=2&%EF%BF%BD=3&%F0%9F%98%80=4&a=1&B=5"))
        .isEqualTo("B=5&a=2&a=1&b=1&%EF%BF%BD=3&%F0%9F%98%80=4");
  }

  @Test
  void peopleSeeItAsAFieldWouldSayIt() {
    for (String text :
        List.of(
            "params",
            "key-order",
            "params=(\"a\" \"b\")",
            "key-order, params, except=(\"x\" \"%C3%A9\")")) {
      assertThat(of(text)).hasToString(text);
    }
  }
}
