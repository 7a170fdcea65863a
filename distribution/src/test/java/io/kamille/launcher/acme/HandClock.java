package io.kamille.launcher.acme;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that the test moves. */
final class HandClock implements InstantSource {

  private Instant now = Instant.parse("2027-03-01T00:00:00Z");

  @Override
  public Instant instant() {
    return now;
  }

  void pass(Duration time) {
    now = now.plus(time);
  }
}
