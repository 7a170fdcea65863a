package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Matching by Vary on generated values (RFC 9111 §4.1). */
class SelectingFieldsFuzzTest {

  private static final int ROUNDS = 10_000;
  private static final long SEED = FuzzBudget.SEED;
  private static final String[] CODINGS = {"gzip", "br", "zstd", "deflate", "identity", "*"};
  private static final String[] WEIGHTS = {"", ";q=1", ";q=0.5", ";q=0.50", ";q=0", " ; q=0.25"};

  private final Random random = new Random(SEED);

  @Test
  void anyRequestMatchesItselfUnlessVarySaysOtherwise() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String vary = text("Foo,Bar,Accept-Encoding,Accept,Accept-Language, *;\"".split("(?<=,)"));
      RequestHead request =
          get(
              "Foo",
              junk(),
              "Accept-Encoding",
              junk(),
              "Accept",
              junk(),
              "Accept-Language",
              junk());
      var selecting = SelectingFields.of(Fields.of("Vary", vary), request, VaryBy.NONE);
      boolean isAll = vary.contains("*");
      assertThat(selecting.matches(request))
          .as("seed %d: Vary: %s\n%s", SEED, vary, request)
          .isEqualTo(!isAll);
    }
  }

  @Test
  void acceptEncodingIgnoresOrderCaseAndWhiteSpaceAndNothingElse() {
    FuzzBudget budget = new FuzzBudget(ROUNDS / 2);
    while (budget.hasNext()) {
      List<String> codings = new ArrayList<>(List.of(CODINGS));
      Collections.shuffle(codings, random);
      List<String> chosen = new ArrayList<>();
      for (String coding : codings.subList(0, 1 + random.nextInt(CODINGS.length - 1))) {
        chosen.add(coding + WEIGHTS[random.nextInt(WEIGHTS.length)]);
      }
      String one = String.join(", ", chosen);
      Collections.shuffle(chosen, random);
      String same = String.join(" ,", chosen).toUpperCase(Locale.ROOT);
      assertThat(matches(one, same)).as("seed %d: '%s' '%s'", SEED, one, same).isTrue();
      String more = same + "," + codings.getLast() + "x";
      assertThat(matches(one, more)).as("seed %d: '%s' '%s'", SEED, one, more).isFalse();
    }
  }

  @Test
  void aFieldWeKnowNothingOfMatchesTheSameValueOnly() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String one = junk();
      String other = random.nextBoolean() ? one : junk();
      var selecting =
          SelectingFields.of(Fields.of("Vary", "X-Foo"), get("X-Foo", one), VaryBy.NONE);
      assertThat(selecting.matches(get("x-foo", other)))
          .as("seed %d: '%s' '%s'", SEED, one, other)
          .isEqualTo(one.equals(other));
      assertThat(selecting.matches(get("X-Bar", one))).as("seed %d: '%s'", SEED, one).isFalse();
    }
    budget.report("selecting fields of any name");
  }

  @Test
  void membersOfVaryAreOneSetHoweverTheyAreWritten() {
    FuzzBudget budget = new FuzzBudget(ROUNDS / 2);
    while (budget.hasNext()) {
      List<String> names = new ArrayList<>();
      for (int i = random.nextInt(5); i >= 0; i--) {
        names.add(text("a", "b", "-", "Accept", "*", "/", " "));
      }
      Fields cut = new Fields();
      names.forEach(name -> cut.add("Vary", "," + name.toUpperCase(Locale.ROOT) + " ,"));
      String joined = String.join(", ", names);
      RequestHead request = get("a", junk(), "b", junk(), "Accept", junk());
      assertThat(SelectingFields.of(cut, request, VaryBy.NONE))
          .as("seed %d: Vary: %s", SEED, joined)
          .isEqualTo(SelectingFields.of(Fields.of("Vary", joined), request, VaryBy.NONE));
    }
    budget.report("members of Vary");
  }

  private static boolean matches(String original, String presented) {
    return SelectingFields.of(
            Fields.of("Vary", "Accept-Encoding"), get("Accept-Encoding", original), VaryBy.NONE)
        .matches(get("Accept-Encoding", presented));
  }

  private String junk() {
    return text("a", "gzip", ",", ";", "q=", "0.5", " ", "\t", "\"", "\\", "*", "\u00fc").strip();
  }

  private String text(String... parts) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(6); i > 0; i--) {
      text.append(parts[random.nextInt(parts.length)]);
    }
    return text.toString();
  }

  private static RequestHead get(String... namesAndValues) {
    return RequestHead.of("GET", "http://example.org/", namesAndValues);
  }
}
