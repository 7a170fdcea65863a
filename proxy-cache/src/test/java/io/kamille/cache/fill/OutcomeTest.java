package io.kamille.cache.fill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.RequestHead;
import org.junit.jupiter.api.Test;

/** What the end of a leader without a response means for those who have read nothing yet. */
class OutcomeTest {

  private static final Failure WHY = Failure.of(ErrorType.HTTP_RESPONSE_INCOMPLETE, "broken off");

  private final RequestHead plain = RequestHead.of("GET", "http://example.org/");
  private final RequestHead known = RequestHead.of("GET", "http://example.org/");

  OutcomeTest() {
    known.fields().add("Cookie", "id=1");
  }

  @Test
  void nothingIsKnownBeforeAHead() {
    assertThat(Outcome.of(new Stage.Waiting(), plain, null)).isNull();
  }

  @Test
  void whatIsNotSharedIsNobodysAndThoseLikeTheLeaderWaitForNoOther() {
    Stage apart = Stage.Apart.of(plain);
    assertThat(Outcome.of(apart, plain, null)).isEqualTo(new Outcome.Nobodys(false));
    assertThat(Outcome.of(apart, known, null)).isEqualTo(new Outcome.Nobodys(true));
  }

  @Test
  void aResponseThatBrokeOffIsWaitedForAnew() {
    assertThat(Outcome.of(new Stage.Broken(WHY), plain, null)).isEqualTo(new Outcome.Nobodys(true));
  }

  @Test
  void whoAsksAgainWaitsIfTheLeaderSaysSo() {
    assertThat(Outcome.of(new Stage.Again(false), plain, null))
        .isEqualTo(new Outcome.Nobodys(false));
    assertThat(Outcome.of(new Stage.Again(true), plain, null)).isEqualTo(new Outcome.Nobodys(true));
  }

  @Test
  void authorizedRequestsDoNotWaitForOneAnother() {
    RequestHead authorized = RequestHead.of("GET", "http://example.org/");
    authorized.fields().add("Authorization", "Basic eDp5");
    assertThat(Outcome.of(new Stage.Again(true), authorized, null))
        .isEqualTo(new Outcome.Nobodys(false));
  }

  @Test
  void aFailureIsEverybodys() {
    assertThat(Outcome.of(new Stage.Failed(WHY), known, null)).isEqualTo(new Outcome.Failed(WHY));
  }
}
