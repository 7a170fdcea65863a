package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeNotes.CacheResult;
import io.kamille.core.exchange.Trace;
import io.kamille.core.exchange.TraceStep;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HitTest {

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @Test
  void aMissIsForwardedAndAnswered() {
    RecordingReply reply = fixture.get();
    assertThat(reply.isBegun()).isFalse();
    fixture.origin.last().respond(200, "hello", "Cache-Control", "max-age=60");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.announcedLength()).isEqualTo(5);
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=uri-miss; stored; ttl=60");
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-age=60", "no-store"})
  void littleContentGoesToItsFirstClientWithTheHead(String lifetime) {
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(200, "hello", "Cache-Control", lifetime);
    assertThat(reply.isWholeWithHead()).isTrue();
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void theSecondRequestIsAnsweredFromTheStoreInOneGo() {
    fixture.store("hello", "ETag", "\"a\"", "X-Own", "1");
    fixture.advance(7);
    RecordingReply reply = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(reply.isWholeAtOnce()).isTrue();
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("Age")).isEqualTo("7");
    assertThat(reply.field("Content-Length")).isEqualTo("5");
    assertThat(reply.field("ETag")).isEqualTo("\"a\"");
    assertThat(reply.field("X-Own")).isEqualTo("1");
    assertThat(reply.field("Date")).isNotNull();
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=53");
  }

  @Test
  void contentOfUnknownLengthHasALengthAfterwards() {
    fixture.get();
    fixture
        .origin
        .last()
        .head(200, -1, "Cache-Control", "max-age=60")
        .write("one ")
        .write("two")
        .end();
    RecordingReply reply = fixture.get();
    assertThat(reply.text()).isEqualTo("one two");
    assertThat(reply.field("Content-Length")).isEqualTo("7");
  }

  @Test
  void emptyContentIsStoredToo() {
    fixture.get();
    fixture.origin.last().respond(301, "", "Cache-Control", "max-age=60", "Location", "/elsewhere");
    RecordingReply reply = fixture.get();
    assertThat(reply.status()).isEqualTo(301);
    assertThat(reply.field("Location")).isEqualTo("/elsewhere");
    assertThat(reply.field("Content-Length")).isEqualTo("0");
  }

  @Test
  void noContentHasNoContentLength() {
    fixture.get();
    fixture.origin.last().respond(204, "", "Cache-Control", "max-age=60");
    RecordingReply reply = fixture.get();
    assertThat(reply.status()).isEqualTo(204);
    assertThat(reply.field("Content-Length")).isNull();
    assertThat(reply.field("Age")).isEqualTo("0");
  }

  @Test
  void headIsAnsweredFromTheResponseToGet() {
    fixture.store("hello");
    RecordingReply reply = fixture.send("HEAD", URI);
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.field("Content-Length")).isEqualTo("5");
    assertThat(reply.text()).isEmpty();
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void headThatMissesIsForwardedAndNothingIsStored() {
    fixture.send("HEAD", URI);
    fixture.origin.last().head(200, 5, "Cache-Control", "max-age=60").end();
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "hello");
  }

  @Test
  void anUncachableResponsePassesEveryTime() {
    for (int i = 1; i <= 2; i++) {
      RecordingReply reply = fixture.get();
      assertThat(fixture.forwarded()).isEqualTo(i);
      fixture.origin.last().respond(200, "mine", "Cache-Control", "private");
      assertThat(reply.text()).isEqualTo("mine");
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=uri-miss; detail=private");
    }
  }

  @Test
  void aStaleResponseWithoutValidatorIsFetchedAnew() {
    fixture.store("old");
    fixture.advance(60);
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60");
    assertThat(reply.text()).isEqualTo("new");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=stale; stored; ttl=60");
    assertThat(fixture.get().text()).isEqualTo("new");
  }

  @Test
  void whatTheOriginSaysInOurNameIsNotPassedOn() {
    fixture.get();
    String[] forged = {"Cache-Control", "max-age=60", "Cache-Status", "kamille; hit; ttl=9"};
    fixture.origin.last().respond(200, "x", forged);
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
    RecordingReply passed = fixture.send("POST", CacheFixture.URI);
    fixture.origin.last().respond(200, "x", forged);
    assertThat(passed.field("Cache-Status")).startsWith("kamille; fwd=method");
  }

  @Test
  void cachesBehindUsComeFirstInCacheStatus() {
    fixture.store("hello", "Cache-Status", "origin; hit");
    assertThat(fixture.get().field("Cache-Status")).isEqualTo("origin; hit, kamille; hit; ttl=60");
  }

  @Test
  void interimResponsesPass() {
    RecordingReply reply = fixture.get();
    fixture.origin.last().interim(103).respond(200, "x");
    assertThat(reply.interims()).containsExactly(103);
  }

  @Test
  void aPurgedResponseIsGone() {
    fixture.store("hello");
    assertThat(fixture.cache.operations().purge(URI)).hasValue(1);
    assertThat(fixture.cache.operations().purge(URI)).hasValue(0);
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "x");
  }

  @Test
  void aResponsePurgedOnItsWayIsNotStored() {
    RecordingReply reply = fixture.get();
    fixture.origin.last().head(200, 5, "Cache-Control", "max-age=60");
    fixture.cache.operations().purge(URI);
    fixture.origin.last().write("hello").end();
    assertThat(reply.text()).isEqualTo("hello");
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "x");
  }

  @Test
  void hitsAndForwardedRequestsAreCounted() {
    fixture.store("hello");
    fixture.get();
    fixture.get();
    assertThat(fixture.counted("kamille_cache_hits_total", "fresh")).isEqualTo(2);
    assertThat(fixture.counted("kamille_cache_forwarded_total", "uri-miss")).isEqualTo(1);
    assertThat(fixture.counted("kamille_cache_fills_total", "stored")).isEqualTo(1);
    assertThat(fixture.cache.operations().keys()).isEqualTo(1);
  }

  @Test
  void theNotesSayWhatTheCacheDid() {
    assertThat(noteOf("GET", 200, "Cache-Control", "max-age=60, stale-while-revalidate=60"))
        .isEqualTo(CacheResult.MISS);
    assertThat(noteOf("GET", 0)).isEqualTo(CacheResult.HIT);
    fixture.advance(90);
    assertThat(noteOf("GET", 304)).isEqualTo(CacheResult.STALE_HIT);
    assertThat(noteOf("POST", 200)).isEqualTo(CacheResult.BYPASS);
  }

  /**
   * What is noted of a request, which the origin answers with that status code if it comes there.
   */
  private CacheResult noteOf(String method, int status, String... fields) {
    Exchange exchange = fixture.exchange(method, URI, new RecordingReply());
    fixture.origin.answering(forwarded -> forwarded.respond(status, "", fields));
    fixture.handler.handle(exchange);
    fixture.run();
    return exchange.notes().cache();
  }

  @Test
  void aFaultWhileARequestIsDecidedHoldsNoLease() {
    fixture.store("hello");
    AtomicInteger steps = new AtomicInteger();
    Trace trace =
        new Trace(
            new Trace.Ids("", "", "", ""),
            Trace.Cause.ASKED,
            () -> {
              if (steps.incrementAndGet() == 2) {
                throw new IllegalStateException("thrown by the test");
              }
              return 0;
            });
    Exchange exchange = fixture.exchange("GET", URI, new RecordingReply());
    exchange.notes().trace(trace);
    assertThatThrownBy(() -> fixture.handler.handle(exchange)).hasMessage("thrown by the test");
    assertThat(trace.marks()).extracting(Trace.Mark::step).containsExactly(TraceStep.LOOKUP);
    assertThat(fixture.cache.operations().purge(URI)).hasValue(1);
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }
}
