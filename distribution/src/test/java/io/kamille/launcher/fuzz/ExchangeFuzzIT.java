package io.kamille.launcher.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.h1.FuzzBudget;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * No octets, from clients or origins, bring the proxy and its neighbours to disagree about the
 * boundaries of messages (RFC 9112 §6, §11). {@code ./dev fuzz exchange SECONDS} looks longer.
 */
class ExchangeFuzzIT {

  private static final int ROUNDS = 250;

  /** In a long run a sample of all buffers is enough to find each kind of leak. */
  @BeforeAll
  static void watchFewerBuffers() {
    if (FuzzBudget.isLong()) {
      ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.ADVANCED);
    }
  }

  @Test
  void nobodyDisagreesAboutSpoiledRequests() throws IOException {
    try (ExchangeFuzz fuzz = new ExchangeFuzz(FuzzBudget.SEED)) {
      FuzzBudget budget = new FuzzBudget(ROUNDS);
      fuzz.requests(budget);
      finish(fuzz, "requests", budget);
    }
  }

  @Test
  void nobodyDisagreesAboutSpoiledResponses() throws IOException {
    try (ExchangeFuzz fuzz = new ExchangeFuzz(FuzzBudget.SEED)) {
      FuzzBudget budget = new FuzzBudget(ROUNDS);
      fuzz.responses(budget);
      finish(fuzz, "responses", budget);
    }
  }

  private static void finish(ExchangeFuzz fuzz, String name, FuzzBudget budget) {
    String summary = fuzz.summary(name);
    budget.report(summary);
    assertThat(fuzz.disagreements()).as(summary).isEmpty();
    assertThat(fuzz.passed()).as(summary).isGreaterThanOrEqualTo(budget.round() / 10);
  }
}
