package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.http.Fields;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Any octets make directives, and what is in doubt makes strict ones (RFC 9111 §5.2, §4.2.1). */
class CacheControlFuzzTest {

  private static final int ROUNDS = 10_000;
  private static final String[] PARTS = {
    "max-age",
    "s-maxage",
    "no-store",
    "No-Cache",
    "private",
    "public",
    "max-stale",
    "min-fresh",
    "stale-if-error",
    "must-understand",
    "immutable",
    "stale-while-revalidate",
    "foo",
    "=",
    "=",
    ",",
    ",",
    ", ",
    ";",
    " ",
    "\t",
    "\"",
    "\\",
    "0",
    "1",
    "60",
    "99999999999",
    "-1",
    "1.5",
    "'",
    "\u0000",
    "\u00ff"
  };

  private final SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);

  @Test
  void anythingIsReadAndDeltasAreInRange() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String line = line();
      String other = line();
      assertInRange(CacheControl.parse(line), line);
      assertInRange(CacheControl.ofRequest(Fields.of("Pragma", line)), line);
      assertInRange(
          CacheControl.ofResponse(Fields.of("CDN-Cache-Control", line, "Cache-Control", other)),
          line + " / " + other);
    }
    budget.report("Cache-Control");
  }

  static void assertInRange(CacheControl control, String line) {
    int least =
        IntStream.of(
                control.seconds(Directive.MAX_AGE),
                control.seconds(Directive.S_MAXAGE),
                control.seconds(Directive.MIN_FRESH),
                control.seconds(Directive.MAX_STALE),
                control.seconds(Directive.STALE_WHILE_REVALIDATE),
                control.seconds(Directive.STALE_IF_ERROR))
            .min()
            .orElseThrow();
    assertThat(least).as(because(line)).isGreaterThanOrEqualTo(CacheControl.ABSENT);
  }

  @Test
  void anUnknownDirectiveChangesNothing() {
    FuzzBudget budget = new FuzzBudget(ROUNDS / 10);
    while (budget.hasNext()) {
      addUnknown(line());
    }
    budget.report("Cache-Control with unknown directives");
  }

  static void addUnknown(String line) {
    CacheControl control = CacheControl.parse(line);
    String before = "unknown=\"a, no-store\", " + line;
    assertThat(told(CacheControl.parse(before))).as(because(before)).isEqualTo(told(control));
    String behind = line + ", unknown=1";
    CacheControl longer = CacheControl.parse(behind);
    if (endsWithinQuotes(line)) {
      assertThat(control.has(Directive.NO_STORE) && control.has(Directive.NO_CACHE))
          .as(because(line))
          .isTrue();
      assertThat(longer.has(Directive.NO_STORE) && longer.has(Directive.NO_CACHE))
          .as(because(behind))
          .isTrue();
    } else {
      assertThat(told(longer)).as(because(behind)).isEqualTo(told(control));
    }
  }

  /** Whether what follows is part of a quoted string, and no directive. */
  private static boolean endsWithinQuotes(String line) {
    boolean isWithin = false;
    for (int i = 0; i < line.length(); i++) {
      if (isWithin && line.charAt(i) == '\\') {
        i++;
      } else if (line.charAt(i) == '"') {
        isWithin = !isWithin;
      }
    }
    return isWithin;
  }

  @Test
  void anUnknownMemberOfATargetedFieldChangesNothing() {
    FuzzBudget budget = new FuzzBudget(ROUNDS / 10);
    while (budget.hasNext()) {
      String line = line().strip();
      if (!line.isEmpty()) {
        Fields more = Fields.of("CDN-Cache-Control", "unknown=1, " + line);
        CacheControl control = CacheControl.ofResponse(Fields.of("CDN-Cache-Control", line));
        assertThat(told(CacheControl.ofResponse(more))).as(because(line)).isEqualTo(told(control));
      }
    }
    budget.report("CDN-Cache-Control with unknown members");
  }

  @Test
  void noStoreAsADirectiveOfItsOwnIsSeen() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String line = line();
      assertThat(CacheControl.parse("no-store, " + line).has(Directive.NO_STORE))
          .as(because(line))
          .isTrue();
      assertThat(CacheControl.parse(line + ", No-Store").has(Directive.NO_STORE))
          .as(because(line))
          .isTrue();
    }
    budget.report("no-store");
  }

  @Test
  void noStoreCountsWhereverItStandsOutsideQuotes() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String line = line().replace("\"", "");
      boolean isThere =
          line.toLowerCase(Locale.ROOT)
              .matches("(?s)(.*[^a-z0-9!#$%&'*+.^_`|~=-])?no-store([^a-z0-9!#$%&'*+.^_`|~-].*)?");
      if (isThere) {
        assertThat(CacheControl.parse(line).has(Directive.NO_STORE)).as(because(line)).isTrue();
      }
    }
  }

  @Test
  void aPositiveLifetimeWasSaidProperlyAndOnce() {
    FuzzBudget budget = new FuzzBudget(ROUNDS);
    while (budget.hasNext()) {
      String line = line().replace("\"", "");
      int seconds = CacheControl.parse(line).seconds(Directive.MAX_AGE);
      if (seconds > 0) {
        assertThat(line.toLowerCase(Locale.ROOT))
            .as(because(line))
            .matches("(?s)(.*,)?[ \t]*max-age=[0-9]+[ \t]*(,.*)?");
      }
    }
  }

  @Test
  void linesAreOneListHoweverTheyAreCut() {
    FuzzBudget budget = new FuzzBudget(ROUNDS / 10);
    while (budget.hasNext()) {
      String one = line().replace("\"", "");
      String other = line().replace("\"", "");
      CacheControl cut =
          CacheControl.ofResponse(Fields.of("Cache-Control", one, "Cache-Control", other));
      CacheControl joined = CacheControl.parse(one + "," + other);
      assertThat(told(cut)).as(because(one + " / " + other)).isEqualTo(told(joined));
    }
  }

  /** All that it holds. */
  private static List<Object> told(CacheControl control) {
    List<Integer> seconds = IntStream.of(control.said.seconds).boxed().toList();
    assertThat(seconds).as("six deltas").hasSize(6);
    return List.of(control.said.flags, seconds, control.said.fields);
  }

  private String line() {
    StringBuilder line = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      line.append(PARTS[random.nextInt(PARTS.length)]);
    }
    return line.toString();
  }

  private static String because(String line) {
    return "seed " + FuzzBudget.SEED + ": '" + line + "'";
  }
}
