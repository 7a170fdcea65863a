package io.kamille.cache;

import static io.kamille.cache.CacheFixture.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The time of day is set back or forward while responses are stored (RFC 9111 §4.2.3). */
class ClockJumpTest {

  private static final long HOUR_SECONDS = 3_600;

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @Test
  void setBackNoAgeIsNegativeAndNoLifetimeLongerThanItWas() {
    fixture.store("hello");
    set(NOW - HOUR_SECONDS);
    RecordingReply reply = fixture.get();
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("Age")).isEqualTo("0");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
  }

  @Test
  void setForwardWhatIsStoredIsOlderAndValidated() {
    fixture.store("hello", "ETag", "\"a\"");
    set(NOW + HOUR_SECONDS);
    RecordingReply reply = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(304, "", "ETag", "\"a\"", "Cache-Control", "max-age=60");
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
  }

  @Test
  void setBackWhileTheOriginAnswersItsAgeIsStillNotNegative() {
    RecordingReply reply = fixture.get();
    set(NOW - HOUR_SECONDS);
    fixture.origin.last().respond(200, "hello", "Cache-Control", "max-age=60");
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(fixture.get().field("Age")).isEqualTo("0");
  }

  private void set(long epochSeconds) {
    fixture.clock.setTimeOfDay(epochSeconds * 1_000);
  }
}
