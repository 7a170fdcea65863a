package io.kamille.perf.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FindingTest {

  /** A claim about several situations holds if in all of them, and holds less if in some. */
  @ParameterizedTest
  @CsvSource({
    "2.0, 1.5, HOLDS",
    "2.0, 1.0, HOLDS_LESS",
    "1.2, 1.0, HOLDS_LESS",
    "1.0, 1.05, DOES_NOT_HOLD"
  })
  void aClaimIsJudgedByAllSituations(double one, double other, Finding.Today today) {
    assertThat(Finding.atLeast("claim", List.of(one, other), 1.5, 1.1, "figures").today())
        .isEqualTo(today);
  }

  @ParameterizedTest
  @CsvSource({"'', HOLDS", "the budget did not bind, NOT_TESTED"})
  void aClaimWithoutItsCauseIsNotTested(String reason, Finding.Today today) {
    Finding finding = Finding.atLeast("claim", 2, 1, 1, "figures");
    assertThat(finding.unless(Optional.of(reason).filter(why -> !why.isEmpty())).today())
        .isEqualTo(today);
  }
}
