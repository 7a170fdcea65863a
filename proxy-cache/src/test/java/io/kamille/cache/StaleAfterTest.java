package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.StaleLimits;
import io.kamille.cache.rules.StatusLifetimes;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.http.RequestHead;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An origin that is slow is one that has failed, as far as stale-if-error goes (RFC 5861 §4). */
class StaleAfterTest {

  private static final String STALE = "kamille; fwd=stale; ttl=-43; detail=stale-after";
  private static final String[] OK = {"Cache-Control", "max-age=60", "ETag", "\"2\""};

  private final CacheFixture fixture = new CacheFixture(4 << 20, settings(Duration.ofSeconds(3)));

  @AfterEach
  void close() {
    fixture.close();
  }

  private static CacheSettings settings(Duration after) {
    StaleLimits stale = new StaleLimits(0, 600, Integer.MAX_VALUE, after);
    return TestSettings.of(
        new CachePolicy(
            false, CacheControl.ABSENT, StatusLifetimes.NONE, CacheControl.ABSENT, stale),
        CompressionRules.OFF,
        1 << 20);
  }

  /** Stored, and stale since 40 seconds. */
  private void storeStale() {
    fixture.store("old", "ETag", "\"1\"");
    fixture.advance(100);
  }

  @Test
  void aStoredResponseAnswersAndTheNewOneIsStored() {
    storeStale();
    RecordingReply reply = fixture.get();
    fixture.advance(2);
    assertThat(reply.isBegun()).isFalse();
    fixture.advance(1);
    assertThat(reply.text()).isEqualTo("old");
    assertThat(reply.field("Cache-Status")).isEqualTo(STALE);
    assertThat(reply.isEnded()).isTrue();

    fixture.origin.last().interim(103).respond(200, "new", OK);
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(fixture.get().text()).isEqualTo("new");
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(reply.text()).isEqualTo("old");
  }

  @Test
  void thoseWhoWaitAreAnsweredThenAndThoseWhoComeLaterAtOnce() {
    storeStale();
    RecordingReply first = fixture.get();
    fixture.advance(1);
    RecordingReply second = fixture.get();
    fixture.advance(2);
    assertThat(first.text()).isEqualTo("old");
    assertThat(second.text()).isEqualTo("old");
    assertThat(second.field("Cache-Status"))
        .isEqualTo("kamille; fwd=stale; collapsed; ttl=-43; detail=stale-after");
    fixture.advance(20);
    assertThat(fixture.get().text()).isEqualTo("old");
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(304, "", OK[0], OK[1], "ETag", "\"1\"");
    fixture.run();
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=37");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void whatTheOriginSaysThenReachesNobody() {
    storeStale();
    for (int i = 0; i < 4; i++) {
      RecordingReply reply = fixture.get();
      fixture.advance(3);
      assertThat(reply.text()).isEqualTo("old");
      var asked = fixture.origin.last();
      switch (i) {
        case 0 -> asked.respond(500, "trouble");
        case 1 -> asked.respond(304, "", "ETag", "\"3\"");
        case 2 -> asked.head(200, 10, OK).write("cut").abort();
        default -> asked.respond(200, "not for all", "Cache-Control", "private");
      }
      fixture.run();
      assertThat(reply.text()).isEqualTo("old");
      assertThat(fixture.forwarded()).isEqualTo(2 + i);
      fixture.advance(20);
    }
  }

  @Test
  void withoutAnythingThatMayStandInOneWaits() {
    fixture.store("old", "Cache-Control", "must-revalidate", "ETag", "\"1\"");
    fixture.advance(100);
    RecordingReply reply = fixture.get();
    fixture.advance(30);
    assertThat(reply.isBegun()).isFalse();
    fixture.origin.last().respond(200, "new", OK);
    fixture.run();
    assertThat(reply.text()).isEqualTo("new");
    try (var patient = new CacheFixture(4 << 20, settings(Duration.ZERO))) {
      patient.store("old");
      patient.advance(100);
      RecordingReply waits = patient.get();
      patient.advance(30);
      assertThat(waits.isBegun()).isFalse();
      patient.origin.last().respond(200, "new", OK);
      patient.run();
      assertThat(waits.text()).isEqualTo("new");
    }
  }

  @Test
  void contentThatHasBegunStaysCutIfItBreaksOff() {
    storeStale();
    RecordingReply reply = fixture.get();
    fixture.advance(2);
    fixture.origin.last().head(200, 10, OK).write("half");
    fixture.advance(5);
    assertThat(reply.isEnded()).isFalse();
    fixture.origin.last().abort();
    fixture.run();
    assertThat(reply.text()).isEqualTo("half");
    assertThat(reply.isAborted()).isTrue();
  }

  @Test
  void explained() {
    storeStale();
    assertThat(fixture.handler.explain(RequestHead.of("GET", CacheFixture.URI)).because())
        .contains(
            new Reason(
                "stale-after",
                "RFC 5861 §4",
                "routes[].cache.stale-after: 3s",
                "if no response head comes in that time, the stored response is served"));
  }
}
