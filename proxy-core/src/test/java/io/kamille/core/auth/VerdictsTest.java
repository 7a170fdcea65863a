package io.kamille.core.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.auth.Verdicts.Verdict;
import io.kamille.core.http.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictsTest {

  private final Verdicts verdicts = new Verdicts();

  @Test
  void aVerdictHoldsUntilItsEndForItsDigestAlone() {
    Verdict verdict = new Verdict(digest(verdicts, "a", "bc"), 100, new Fields());
    verdicts.keep(verdict, 0);
    assertThat(verdicts.find(digest(verdicts, "a", "bc"), 99)).isSameAs(verdict);
    assertThat(verdicts.find(digest(verdicts, "a", "bc"), 100)).isNull();
    assertThat(verdicts.find(digest(verdicts, "ab", "c"), 0)).isNull();
    assertThat(digest(new Verdicts(), "a", "bc")).isNotEqualTo(verdict.digest());
  }

  @Test
  void aCrowdTakesABoundedPlaceAndMostAreThere() {
    for (int i = 0; i < 4_000; i++) {
      verdicts.keep(new Verdict(digest(verdicts, "u", "" + i), 100, new Fields()), 0);
    }
    int found = 0;
    for (int i = 0; i < 4_000; i++) {
      found += verdicts.find(digest(verdicts, "u", "" + i), 0) == null ? 0 : 1;
    }
    assertThat(found).isGreaterThan(3_900);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "max-age=60; 60",
        "MAX-AGE=60, s-maxage=5; 5",
        "s-maxage=60,max-age=5; 5",
        "x-private, max-age=60; 60",
        "max-age=60,private; 0",
        "stale-max-age=60; 0",
        "private, max-age=60; 0",
        "max-age=60, no-store; 0",
        "no-cache=\"x\", max-age=60; 0",
        "max-age=6x; 0",
        "max-age; 0",
        "max-age=99999999999; 0",
        "max-age=999999999; 86400",
        "public; 0"
      })
  void theAnswerSaysHowLongItHolds(String control, long seconds) {
    assertThat(AuthServerStation.lifetimeSeconds(Fields.of("Cache-Control", control)))
        .isEqualTo(seconds);
  }

  @Test
  void anOldAnswerOrOneWithACookieHoldsLess() {
    assertThat(lifetime("Cache-Control", "max-age=60", "Age", "20")).isEqualTo(40);
    assertThat(lifetime("Cache-Control", "max-age=60", "Age", "80")).isZero();
    assertThat(lifetime("Cache-Control", "max-age=60", "Set-Cookie", "a=b")).isZero();
    assertThat(lifetime("Cache-Control", "max-age=60", "Cache-Control", "no-store")).isZero();
    assertThat(lifetime()).isZero();
  }

  private static long lifetime(String... fields) {
    return AuthServerStation.lifetimeSeconds(Fields.of(fields));
  }

  private static byte[] digest(Verdicts verdicts, String kind, String text) {
    return verdicts.digest(kind, 1, text);
  }
}
