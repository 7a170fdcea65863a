package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.station.CacheHandler;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.FieldName;
import io.kamille.core.setting.Sections;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is fetched without a client waiting for it. */
class BackgroundTest {

  private static final String TAG = "\"one\"";
  private static final int LIMIT = 1 << 20;
  private static final CacheSettings SETTINGS =
      Sections.copy(TestSettings.of(LIMIT)).with("fillsRanges", true).record();

  private final CacheFixture fixture = new CacheFixture(4 << 20, SETTINGS);

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

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
      forwarded.fail(ErrorType.CONNECTION_REFUSED);
    }
  }

  @Test
  void aWholeThatIsTooLargeIsNotRead() {
    fixture.get("Range", "bytes=1-2");
    ScriptedOrigin.Forwarded whole = fixture.origin.requests().getFirst();
    whole.head(200, 10L * LIMIT, "Cache-Control", "max-age=60");
    assertThat(whole.isCancelled()).isTrue();
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
    fixture.get("Range", "bytes=1-2");
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
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
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
  }

  @Test
  void whereOnlyTheOriginMayJudgeNothingIsFetchedAround() {
    fixture.get("Range", "bytes=1-2", "Authorization", "Basic x");
    fixture.get("Range", "bytes=1-2", "If-Match", TAG);
    fixture.get("Range", "bytes=1-2", "Cache-Control", "no-store");
    assertThat(fixture.forwarded()).isEqualTo(3);
    for (ScriptedOrigin.Forwarded forwarded : fixture.origin.requests()) {
      forwarded.fail(ErrorType.CONNECTION_REFUSED);
    }
  }

  @Test
  void noMoreThan256AreFetchedInTheBackgroundAtATime() {
    for (int i = 0; i < 300; i++) {
      fixture.send("GET", "http://example.org/" + i, "Range", "bytes=1-2");
    }
    assertThat(fixture.forwarded()).isEqualTo(300 + 256);
    fixture.origin.requests().getFirst().fail(ErrorType.CONNECTION_REFUSED);
    fixture.send("GET", "http://example.org/more", "Range", "bytes=1-2");
    assertThat(fixture.forwarded()).isEqualTo(300 + 256 + 2);
    for (ScriptedOrigin.Forwarded forwarded : fixture.origin.requests()) {
      forwarded.fail(ErrorType.CONNECTION_REFUSED);
    }
  }

  @Test
  void allRoutesTogetherFetchNoMoreThan256InTheBackground() {
    CacheHandler other = fixture.cache.handler(fixture.origin, SETTINGS, RouteGate.OPEN);
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
      forwarded.fail(ErrorType.CONNECTION_REFUSED);
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
        default -> whole.fail(ErrorType.CONNECTION_REFUSED);
      }
      fixture.run();
      fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
    }
    assertThat(fixture.forwarded()).isEqualTo(1200);
  }
}
