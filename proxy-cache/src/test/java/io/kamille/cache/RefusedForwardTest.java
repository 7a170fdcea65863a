package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.station.CacheHandler;
import io.kamille.core.exchange.Failure;
import io.kamille.core.gate.Overload;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is answered to a request that may not go on to the origin, such as one that is shed. */
class RefusedForwardTest {

  private static final String TAG = "\"v1\"";
  private static final String KEPT = "max-age=60, stale-if-error=600";

  private final CacheFixture fixture = new CacheFixture();
  private @Nullable Failure refusal;
  private final CacheHandler handler =
      fixture.cache.handler(fixture.origin, TestSettings.of(1 << 20), exchange -> refusal);

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @Test
  void aShedMissIs503() {
    refusal = Overload.SHED;
    assertThat(get().status()).isEqualTo(503);
    assertThat(fixture.forwarded()).isZero();
  }

  @Test
  void aHitIsNotAskedAbout() {
    store("Cache-Control", "max-age=60");
    refusal = Overload.SHED;
    assertThat(get().text()).isEqualTo("hello");
  }

  @Test
  void rfc5861Section4AStaleResponseStandsInForAShedValidation() {
    store("Cache-Control", KEPT, "ETag", TAG);
    fixture.advance(100);
    refusal = Overload.SHED;
    RecordingReply reply = get();
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("Cache-Status"))
        .isEqualTo("kamille; hit; ttl=-40; detail=stale-if-error");
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(fixture.counted("kamille_cache_hits_total", "stale")).isEqualTo(1);
  }

  @Test
  void rfc5861Section4ItStandsInWithoutValidatorToo() {
    store("Cache-Control", KEPT);
    fixture.advance(100);
    refusal = Overload.SHED;
    assertThat(get().text()).isEqualTo("hello");
  }

  @Test
  void aFreshResponseThatIsToBeValidatedStandsInAsAFreshOne() {
    store("Cache-Control", KEPT, "ETag", TAG);
    refusal = Overload.SHED;
    assertThat(get("Cache-Control", "no-cache").text()).isEqualTo("hello");
    assertThat(fixture.counted("kamille_cache_hits_total", "fresh")).isEqualTo(1);
  }

  @Test
  void rfc5861Section4NotForLongerThanAllowed() {
    store("Cache-Control", KEPT, "ETag", TAG);
    fixture.advance(660);
    refusal = Overload.SHED;
    assertThat(get().status()).isEqualTo(503);
  }

  @Test
  void rfc9111Section5_2_2_2NotIfItMustBeValidated() {
    store("Cache-Control", KEPT + ", must-revalidate", "ETag", TAG);
    fixture.advance(100);
    refusal = Overload.SHED;
    assertThat(get().status()).isEqualTo(503);
  }

  @Test
  void rfc9110Section13_1_1NotToARequestThatOnlyTheOriginCanAnswer() {
    store("Cache-Control", KEPT);
    fixture.advance(100);
    refusal = Overload.SHED;
    assertThat(get("If-Match", TAG).status()).isEqualTo(503);
  }

  @Test
  void rfc9110Section14_2APartOfAStaleResponseStandsInForAShedValidation() {
    store("Cache-Control", KEPT, "ETag", TAG);
    fixture.advance(100);
    refusal = Overload.SHED;
    for (String condition : List.of("", TAG)) {
      RecordingReply reply =
          condition.isEmpty()
              ? get("Range", "bytes=1-3")
              : get("Range", "bytes=1-3", "If-Range", condition);
      assertThat(reply.status()).isEqualTo(206);
      assertThat(reply.text()).isEqualTo("ell");
      assertThat(reply.field("Content-Range")).isEqualTo("bytes 1-3/5");
      assertThat(reply.field("Age")).isEqualTo("100");
      assertThat(reply.field("Cache-Status"))
          .isEqualTo("kamille; hit; ttl=-40; detail=stale-if-error");
    }
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void rfc9110Section13_1_5TheWholeStandsInIfTheClientHasAPartOfAnother() {
    store("Cache-Control", KEPT, "ETag", TAG);
    fixture.advance(100);
    refusal = Overload.SHED;
    RecordingReply reply = get("Range", "bytes=1-3", "If-Range", "\"v0\"");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("Content-Range")).isNull();
  }

  @Test
  void rfc9110Section15_5_17ARangeBeyondTheStaleResponseIs416() {
    store("Cache-Control", KEPT, "ETag", TAG);
    fixture.advance(100);
    refusal = Overload.SHED;
    RecordingReply reply = get("Range", "bytes=9-");
    assertThat(reply.status()).isEqualTo(416);
    assertThat(reply.field("Content-Range")).isEqualTo("bytes */5");
  }

  @Test
  void aRangeOfAStaleResponseWithoutValidatorIsServed() {
    store("Cache-Control", KEPT);
    fixture.advance(100);
    refusal = Overload.SHED;
    assertThat(get("Range", "bytes=1-3").status()).isEqualTo(206);
  }

  @Test
  void rfc5861Section4TooManyRequestsOfAClientAreNoError() {
    store("Cache-Control", KEPT, "ETag", TAG);
    fixture.advance(100);
    refusal = Failure.busyClient("too many requests of this client", 1);
    assertThat(get().status()).isEqualTo(429);
  }

  private void store(String... fields) {
    RecordingReply reply = get();
    fixture.origin.last().respond(200, "hello", fields);
    fixture.run();
    assertThat(reply.text()).isEqualTo("hello");
  }

  private RecordingReply get(String... fields) {
    RecordingReply reply = new RecordingReply();
    handler.handle(fixture.exchange("GET", URI, reply, fields));
    fixture.run();
    return reply;
  }
}
