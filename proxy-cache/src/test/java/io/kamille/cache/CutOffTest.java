package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.FieldName;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A node that may have missed a purge serves nothing without asking the origin. */
class CutOffTest {

  private static final String TAG = "\"v1\"";

  private final CacheFixture fixture = new CacheFixture();
  private final AtomicLong until = new AtomicLong(Long.MAX_VALUE / 2);

  @BeforeEach
  void follow() {
    fixture.cache.currentness().follow(until::get);
  }

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private void cutOff() {
    until.set(System.nanoTime() - 1);
  }

  @Test
  void whatIsFreshIsValidated() {
    fixture.store("hello", "ETag", TAG);
    cutOff();
    RecordingReply reply = fixture.get();
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo(TAG);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=30");
    assertThat(reply.text()).isEqualTo("hello");
    assertThat(reply.field("Cache-Status")).contains("fwd=request").contains("detail=cut-off");
  }

  @Test
  void nothingStandsInForAnError() {
    fixture.store("hello", "Cache-Control", "max-age=60, stale-if-error=600");
    cutOff();
    RecordingReply reply = fixture.get();
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
    assertThat(reply.failure()).isNotNull();
  }

  @Test
  void staleIsNotServedWhileItIsValidated() {
    fixture.store("hello", "Cache-Control", "max-age=60, stale-while-revalidate=600");
    fixture.advance(100);
    cutOff();
    assertThat(fixture.get().isBegun()).isFalse();
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60");
  }

  /** A process goes on after SIGSTOP: the response of its old fetch has waited in the socket. */
  @Test
  void aFetchThatTheProcessSleptThroughIsForThoseWhoCameBeforeAlone() {
    RecordingReply before = fixture.get();
    ScriptedOrigin.Forwarded slept = fixture.origin.last();
    fixture.advance(20);
    cutOff();
    RecordingReply after = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    slept.respond(200, "purged meanwhile", "Cache-Control", "max-age=60");
    assertThat(after.isBegun()).isFalse();
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60");
    assertThat(before.text()).isEqualTo("purged meanwhile");
    assertThat(after.text()).isEqualTo("new");
  }

  /** It may ask another node, which may have missed the same purge. */
  @Test
  void aFetchThatBeganBeforeTheEndOfTheLeaseIsNotFollowed() {
    fixture.get();
    ScriptedOrigin.Forwarded early = fixture.origin.last();
    cutOff();
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    early.respond(200, "old", "Cache-Control", "max-age=60");
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60");
  }

  @Test
  void thoseWhoAreCutOffShareAFetchForASecond() {
    cutOff();
    RecordingReply leader = fixture.get();
    ScriptedOrigin.Forwarded first = fixture.origin.last();
    RecordingReply follower = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.advance(2);
    RecordingReply later = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    first.respond(200, "one", "Cache-Control", "max-age=60");
    fixture.origin.last().respond(200, "two", "Cache-Control", "max-age=60");
    fixture.run();
    assertThat(leader.text()).isEqualTo("one");
    assertThat(follower.text()).isEqualTo("one");
    assertThat(later.text()).isEqualTo("two");
  }

  @Test
  void aClientThatWantsOnlyWhatIsStoredGetsNothing() {
    fixture.store("hello");
    cutOff();
    assertThat(fixture.get("Cache-Control", "only-if-cached").status()).isEqualTo(504);
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void allIsAsBeforeOnceItIsCurrentAgain() {
    fixture.store("hello");
    cutOff();
    until.set(Long.MAX_VALUE / 2);
    assertThat(fixture.get().text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(1);
  }
}
