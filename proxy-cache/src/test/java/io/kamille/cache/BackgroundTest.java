package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.settings.BackgroundSettings;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.station.CacheHandler;
import io.kamille.core.exchange.Failure.Kind;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.FieldName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is fetched without a client waiting for it. */
class BackgroundTest {

  private static final String TAG = "\"one\"";
  private static final int LIMIT = 1 << 20;

  private final CacheFixture fixture = fixture(new BackgroundSettings(20, true));

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private static CacheFixture fixture(BackgroundSettings background) {
    return new CacheFixture(4 << 20, settings(background));
  }

  private static CacheSettings settings(BackgroundSettings background) {
    return TestSettings.of(CachePolicy.DEFAULT, CompressionRules.OFF, LIMIT, true, background);
  }

  private void hit() {
    assertThat(fixture.get().field("Cache-Status")).startsWith("kamille; hit");
  }

  // Ahead of the end

  @Test
  void aHitInTheLastPartOfALifetimeHasTheResponseValidated() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(47);
    hit();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.advance(1);
    hit();
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo(TAG);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=60");
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
  }

  @Test
  void withoutAValidatorItIsFetchedAnew() {
    fixture.store("hello");
    fixture.advance(55);
    hit();
    fixture.origin.last().respond(200, "news", "Cache-Control", "max-age=60");
    fixture.run();
    assertThat(fixture.get().text()).isEqualTo("news");
  }

  @Test
  void oneIsEnough() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(55);
    for (int i = 0; i < 5; i++) {
      hit();
    }
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().fail(Kind.CONNECTION_REFUSED);
  }

  @Test
  void afterAFailureItIsLeftAloneForASecond() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(55);
    hit();
    fixture.origin.last().fail(Kind.CONNECTION_REFUSED);
    hit();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.advance(1);
    hit();
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.last().respond(500, "sorry");
    hit();
    assertThat(fixture.forwarded()).isEqualTo(3);
  }

  @Test
  void anAnswerThatMayNotBeStoredLeavesWhatIsThere() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(55);
    hit();
    fixture.origin.last().respond(200, "mine", "Cache-Control", "private");
    fixture.run();
    assertThat(fixture.get().text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void aHeadIsNoReason() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(55);
    fixture.send("HEAD", CacheFixture.URI);
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void offNothingIsFetchedAhead() {
    try (CacheFixture other = fixture(BackgroundSettings.NONE)) {
      other.store("hello", "ETag", TAG);
      other.advance(59);
      other.get();
      assertThat(other.forwarded()).isEqualTo(1);
    }
  }

  // The whole around a range

  @Test
  void aRangeOfWhatIsNotStoredHasTheWholeFetched() {
    RecordingReply reply = fixture.get("Range", "bytes=1-2");
    assertThat(fixture.forwarded()).isEqualTo(2);
    ScriptedOrigin.Forwarded whole = fixture.origin.requests().getFirst();
    ScriptedOrigin.Forwarded part = fixture.origin.requests().getLast();
    assertThat(whole.field(FieldName.RANGE)).isNull();
    assertThat(part.field(FieldName.RANGE)).isEqualTo("bytes=1-2");
    part.respond(206, "el", "Content-Range", "bytes 1-2/5");
    assertThat(reply.status()).isEqualTo(206);
    whole.respond(200, "hello", "Cache-Control", "max-age=60");
    fixture.run();
    assertThat(fixture.get("Range", "bytes=0-0").field("Cache-Status")).startsWith("kamille; hit");
  }

  @Test
  void oneFetchOfTheWholeIsEnough() {
    fixture.get("Range", "bytes=1-2");
    fixture.get("Range", "bytes=3-4");
    assertThat(fixture.forwarded()).isEqualTo(3);
    for (ScriptedOrigin.Forwarded forwarded : fixture.origin.requests()) {
      forwarded.fail(Kind.CONNECTION_REFUSED);
    }
  }

  @Test
  void aWholeThatIsTooLargeIsNotRead() {
    fixture.get("Range", "bytes=1-2");
    ScriptedOrigin.Forwarded whole = fixture.origin.requests().getFirst();
    whole.head(200, 10L * LIMIT, "Cache-Control", "max-age=60");
    assertThat(whole.isCancelled()).isTrue();
    fixture.origin.last().fail(Kind.CONNECTION_REFUSED);
    fixture.get("Range", "bytes=1-2");
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.last().fail(Kind.CONNECTION_REFUSED);
  }

  @Test
  void aWholeThatOutgrowsTheLimitIsNotReadToItsEnd() {
    fixture.get("Range", "bytes=1-2");
    ScriptedOrigin.Forwarded whole = fixture.origin.requests().getFirst();
    whole.head(200, -1, "Cache-Control", "max-age=60");
    for (int i = 0; i < 20 && !whole.isCancelled(); i++) {
      whole.write(new byte[LIMIT / 10]);
      fixture.run();
    }
    assertThat(whole.isCancelled()).isTrue();
    fixture.origin.last().fail(Kind.CONNECTION_REFUSED);
  }

  @Test
  void whereOnlyTheOriginMayJudgeNothingIsFetchedAround() {
    fixture.get("Range", "bytes=1-2", "Authorization", "Basic x");
    fixture.get("Range", "bytes=1-2", "If-Match", TAG);
    fixture.get("Range", "bytes=1-2", "Cache-Control", "no-store");
    assertThat(fixture.forwarded()).isEqualTo(3);
    for (ScriptedOrigin.Forwarded forwarded : fixture.origin.requests()) {
      forwarded.fail(Kind.CONNECTION_REFUSED);
    }
  }

  @Test
  void noMoreThan256AreFetchedInTheBackgroundAtATime() {
    for (int i = 0; i < 300; i++) {
      fixture.send("GET", "http://example.org/" + i, "Range", "bytes=1-2");
    }
    assertThat(fixture.forwarded()).isEqualTo(300 + 256);
    fixture.origin.requests().getFirst().fail(Kind.CONNECTION_REFUSED);
    fixture.send("GET", "http://example.org/more", "Range", "bytes=1-2");
    assertThat(fixture.forwarded()).isEqualTo(300 + 256 + 2);
    for (ScriptedOrigin.Forwarded forwarded : fixture.origin.requests()) {
      forwarded.fail(Kind.CONNECTION_REFUSED);
    }
  }

  @Test
  void allRoutesTogetherFetchNoMoreThan256InTheBackground() {
    CacheHandler other =
        fixture.cache.handler(
            fixture.origin, settings(new BackgroundSettings(20, true)), RouteGate.OPEN);
    for (int i = 0; i < 200; i++) {
      fixture.send("GET", "http://example.org/" + i, "Range", "bytes=1-2");
    }
    assertThat(fixture.forwarded()).isEqualTo(200 + 200);
    for (int i = 0; i < 200; i++) {
      String uri = "http://example.com/" + i;
      other.handle(fixture.exchange("GET", uri, new RecordingReply(), "Range", "bytes=1-2"));
    }
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(200 + 200 + 256);
    for (ScriptedOrigin.Forwarded forwarded : fixture.origin.requests()) {
      forwarded.fail(Kind.CONNECTION_REFUSED);
    }
  }

  @Test
  void manyThatCameToNothingTakeNoPlaceFromOthers() {
    for (int i = 0; i < 600; i++) {
      fixture.send("GET", "http://example.org/" + i, "Range", "bytes=1-2");
      int size = fixture.origin.requests().size();
      ScriptedOrigin.Forwarded whole = fixture.origin.requests().get(size - 2);
      switch (i % 3) {
        case 0 -> whole.respond(200, "mine", "Cache-Control", "private");
        case 1 -> whole.head(200, 10L * LIMIT, "Cache-Control", "max-age=60");
        default -> whole.fail(Kind.CONNECTION_REFUSED);
      }
      fixture.run();
      fixture.origin.last().fail(Kind.CONNECTION_REFUSED);
    }
    assertThat(fixture.forwarded()).isEqualTo(1200);
  }
}
