package io.kamille.cache.semantics;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.Fields;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Any octets make directives, and what is in doubt makes strict ones (RFC 9111 §5.2, §4.2.1). */
class CacheControlFuzzTest {

  private static final long SEED = 20261121;
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

  private final SplittableRandom random = new SplittableRandom(SEED);

  @Test
  void anythingIsReadAndDeltasAreInRange() {
    for (int round = 0; round < 30_000; round++) {
      String line = line();
      CacheControl control = CacheControl.parse(line);
      assertThat(control.maxAgeSeconds()).as(because(line)).isGreaterThanOrEqualTo(-1);
      assertThat(control.sMaxAgeSeconds()).as(because(line)).isGreaterThanOrEqualTo(-1);
      assertThat(control.minFreshSeconds()).as(because(line)).isGreaterThanOrEqualTo(-1);
      assertThat(control.maxStaleSeconds()).as(because(line)).isGreaterThanOrEqualTo(-1);
      assertThat(control.staleIfErrorSeconds()).as(because(line)).isGreaterThanOrEqualTo(-1);
    }
  }

  @Test
  void noStoreCountsWhereverItStandsOutsideQuotes() {
    for (int round = 0; round < 30_000; round++) {
      String line = line().replace("\"", "");
      boolean isThere =
          line.toLowerCase(Locale.ROOT)
              .matches("(?s)(.*[^a-z0-9!#$%&'*+.^_`|~=-])?no-store([^a-z0-9!#$%&'*+.^_`|~-].*)?");
      if (isThere) {
        assertThat(CacheControl.parse(line).isNoStore()).as(because(line)).isTrue();
      }
    }
  }

  @Test
  void aPositiveLifetimeWasSaidProperlyAndOnce() {
    for (int round = 0; round < 30_000; round++) {
      String line = line().replace("\"", "");
      int seconds = CacheControl.parse(line).maxAgeSeconds();
      if (seconds > 0) {
        assertThat(line.toLowerCase(Locale.ROOT))
            .as(because(line))
            .matches("(?s)(.*,)?[ \t]*max-age=0*[0-9]{1,11}[ \t]*(,.*)?");
      }
    }
  }

  @Test
  void linesAreOneListHoweverTheyAreCut() {
    for (int round = 0; round < 2_000; round++) {
      String one = line().replace("\"", "");
      String other = line().replace("\"", "");
      CacheControl cut =
          CacheControl.ofResponse(Fields.of("Cache-Control", one, "Cache-Control", other));
      CacheControl joined = CacheControl.parse(one + "," + other);
      assertThat(cut).as(because(one + " / " + other)).usingRecursiveComparison().isEqualTo(joined);
    }
  }

  private String line() {
    StringBuilder line = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      line.append(PARTS[random.nextInt(PARTS.length)]);
    }
    return line.toString();
  }

  private static String because(String line) {
    return "seed " + SEED + ": '" + line + "'";
  }
}
