package io.kamille.cache.key;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.h1.Spoiler;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * {@code No-Vary-Search}, sound and spoiled, and queries beside a second reading of them
 * (draft-ietf-httpbis-no-vary-search).
 */
class SearchVarianceFuzzTest {

  private static final int ROUNDS = 5_000;
  private static final Pattern ENCODED = Pattern.compile("%([0-9A-Fa-f]{2})");
  private static final List<String> FIELDS =
      List.of(
          "params",
          "key-order",
          "params=(\"a\" \"b\")",
          "params, except=(\"a\")",
          "params, except=(\"a%20b\" \"b\"), key-order=?1",
          "key-order, params=(\"a\" \"\" \"+\")");
  private static final List<String> FIELD_WORDS =
      List.of(
          "params",
          "except",
          "key-order",
          "=",
          "(",
          ")",
          "\"",
          "\"a\"",
          "\"%C3%BC\"",
          "\"%\"",
          " ",
          ",",
          ", ",
          ";",
          ";x=1",
          "?0",
          "?1",
          "1",
          "1.5",
          ":YQ==:",
          "\\",
          "\\\"",
          "\t",
          "\u00fc");
  private static final List<String> QUERIES =
      List.of("a=1&b=2", "b=2&a=1", "a=1&a=2", "a", "a=", "x=a%26b=2", "%61=1&c=%3D", "a+b=1");
  private static final List<String> QUERY_WORDS =
      List.of(
          "a", "b", "c", "=", "&", "&&", "%", "%2", "%26", "%3d", "%61", "+", "%00", "%ff", "?");

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
  private final Spoiler fields = new Spoiler(random, FIELDS, FIELD_WORDS);
  private final Spoiler queries = new Spoiler(random, QUERIES, QUERY_WORDS);

  private record Parameter(String name, String value) {}

  private static SearchVariance of(String value) {
    return SearchVariance.of(Fields.of("No-Vary-Search", value));
  }

  private static String simplified(SearchVariance variance, String query) {
    return variance.simplified(RequestHead.of("GET", "http://example.org/a?" + query));
  }

  @Test
  void whatWasReadSaysItself() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String value = fields.next().strip();
      SearchVariance variance = of(value);
      assertThat(of(variance.toString())).as(because(value)).isEqualTo(variance);
      assertThat(of("unknown=1, " + value)).as(because(value)).isEqualTo(emptyOr(value, variance));
    }
    budget.report("No-Vary-Search");
  }

  private static SearchVariance emptyOr(String value, SearchVariance variance) {
    return value.isBlank() ? SearchVariance.DEFAULT : variance;
  }

  @Test
  void queriesAreEquivalentIfTheirParametersThatCountAreTheSame() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      SearchVariance variance = of(fields.next());
      String one = queries.next();
      String other = queries.next();
      assertThat(simplified(variance, one).equals(simplified(variance, other)))
          .as(because(variance + ": " + one + " / " + other))
          .isEqualTo(parameters(variance, one).equals(parameters(variance, other)));
    }
    budget.report("equivalent queries");
  }

  @Test
  void aSimplifiedQueryIsEquivalentAndStaysAsItIs() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      SearchVariance variance = of(fields.next());
      String query = queries.next();
      String simplified = simplified(variance, query);
      assertThat(simplified(variance, simplified))
          .as(because(variance + ": " + query))
          .isEqualTo(simplified);
    }
    budget.report("simplified queries");
  }

  private static List<Parameter> parameters(SearchVariance variance, String query) {
    List<Parameter> parameters = new ArrayList<>();
    for (String pair : query.split("&", -1)) {
      String[] parts = pair.split("=", 2);
      String name = decoded(parts[0]);
      if (!pair.isEmpty() && variance.names().contains(name) == variance.countsNamed()) {
        parameters.add(new Parameter(name, parts.length < 2 ? "" : decoded(parts[1])));
      }
    }
    if (!variance.countsOrder()) {
      parameters.sort(Comparator.comparing(Parameter::name));
    }
    return parameters;
  }

  private static String decoded(String text) {
    return ENCODED
        .matcher(text.replace('+', ' '))
        .replaceAll(
            encoded -> {
              byte[] octet = {(byte) Integer.parseInt(encoded.group(1), 16)};
              return Matcher.quoteReplacement(new String(octet, ISO_8859_1));
            });
  }

  private static String because(String text) {
    return "seed " + FuzzBudget.SEED + ": '" + text + "'";
  }
}
