package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.HttpDate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Conditions and ranges of clients, against what is stored (RFC 9110 §13, §14). */
class PartialHitTest {

  private static final String TAG = "\"v1\"";

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @Test
  void aMatchingTagIsAnsweredByNotModifiedWithTheFieldsItNeeds() {
    fixture.store("0123456789", "ETag", TAG, "Content-Type", "text/plain", "Vary", "Accept");
    fixture.advance(3);
    RecordingReply reply = fixture.get("If-None-Match", "\"v0\", " + TAG);
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(reply.status()).isEqualTo(304);
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.text()).isEmpty();
    assertThat(reply.field("ETag")).isEqualTo(TAG);
    assertThat(reply.field("Cache-Control")).isEqualTo("max-age=60");
    assertThat(reply.field("Vary")).isEqualTo("Accept");
    assertThat(reply.field("Date")).isNotNull();
    assertThat(reply.field("Age")).isEqualTo("3");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=57");
    assertThat(reply.field("Content-Type")).isNull();
    assertThat(reply.field("Content-Length")).isNull();
  }

  @Test
  void anotherTagIsAnsweredByTheWhole() {
    fixture.store("0123456789", "ETag", TAG);
    assertThat(fixture.get("If-None-Match", "\"v0\"").text()).isEqualTo("0123456789");
  }

  @Test
  void aDateNoOlderIsAnsweredByNotModified() {
    String date = HttpDate.format(CacheFixture.NOW - 1000);
    fixture.store("0123456789", "Last-Modified", date);
    RecordingReply reply = fixture.get("If-Modified-Since", date);
    assertThat(reply.status()).isEqualTo(304);
    assertThat(reply.field("Last-Modified")).isEqualTo(date);
  }

  @Test
  void aRangeIsAnsweredByThatPart() {
    fixture.store("0123456789", "ETag", TAG);
    RecordingReply reply = fixture.get("Range", "bytes=2-4");
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(reply.status()).isEqualTo(206);
    assertThat(reply.field("Content-Range")).isEqualTo("bytes 2-4/10");
    assertThat(reply.field("Content-Length")).isEqualTo("3");
    assertThat(reply.field("ETag")).isEqualTo(TAG);
    assertThat(reply.text()).isEqualTo("234");
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void aSuffixRangeIsAnsweredByTheEnd() {
    fixture.store("0123456789");
    assertThat(fixture.get("Range", "bytes=-3").text()).isEqualTo("789");
  }

  @Test
  void aRangeBehindTheEndIsNotSatisfiable() {
    fixture.store("0123456789");
    RecordingReply reply = fixture.get("Range", "bytes=10-");
    assertThat(reply.status()).isEqualTo(416);
    assertThat(reply.field("Content-Range")).isEqualTo("bytes */10");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
    assertThat(reply.isComplete()).isTrue();
  }

  @Test
  void ifRangeWithAnotherTagIsAnsweredByTheWhole() {
    fixture.store("0123456789", "ETag", TAG);
    RecordingReply reply = fixture.get("Range", "bytes=2-4", "If-Range", "\"v0\"");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("0123456789");
    assertThat(fixture.get("Range", "bytes=2-4", "If-Range", TAG).status()).isEqualTo(206);
  }

  @Test
  void headIgnoresARange() {
    fixture.store("0123456789");
    RecordingReply reply = fixture.send("HEAD", URI, "Range", "bytes=2-4");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.field("Content-Length")).isEqualTo("10");
  }

  @Test
  void aRangeThatMissesIsForwardedAsItIsAndNotStored() {
    RecordingReply reply = fixture.get("Range", "bytes=2-4");
    assertThat(fixture.origin.last().request().fields().all("Range")).containsExactly("bytes=2-4");
    fixture
        .origin
        .last()
        .respond(206, "234", "Content-Range", "bytes 2-4/10", "Cache-Control", "max-age=60");
    assertThat(reply.status()).isEqualTo(206);
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=uri-miss");
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "0123456789");
  }

  @Test
  void aConditionThatMissesFetchesTheWholeAndIsJudgedHere() {
    RecordingReply reply = fixture.get("If-None-Match", TAG);
    assertThat(fixture.origin.last().request().fields().all("If-None-Match")).isEmpty();
    fixture.origin.last().respond(200, "hello", "ETag", TAG, "Cache-Control", "max-age=60");
    assertThat(reply.status()).isEqualTo(304);
    assertThat(reply.isComplete()).isTrue();
    assertThat(fixture.get().text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void aConditionOnAnUncachableResponseIsTheOriginsNextTime() {
    RecordingReply first = fixture.get("If-None-Match", TAG);
    fixture.origin.last().respond(200, "mine", "ETag", TAG, "Cache-Control", "private");
    assertThat(first.status()).isEqualTo(304);
    RecordingReply second = fixture.get("If-None-Match", TAG);
    assertThat(fixture.origin.last().request().fields().all("If-None-Match")).containsExactly(TAG);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "private");
    assertThat(second.status()).isEqualTo(304);
    assertThat(second.isComplete()).isTrue();
  }

  @Test
  void preconditionsOfTheOriginPassTheCacheBy() {
    fixture.store("0123456789", "ETag", TAG);
    RecordingReply reply = fixture.get("If-Match", "\"v0\"");
    fixture.origin.last().respond(412, "");
    assertThat(reply.status()).isEqualTo(412);
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=request");
  }

  @Test
  void severalRangesAreAnsweredByTheirPartsInOneContent() {
    String content = "0123456789".repeat(100);
    fixture.store(content, "ETag", TAG, "Content-Type", "text/plain");
    RecordingReply reply = fixture.get("Range", "bytes=2-4,500-502,-3");
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(reply.status()).isEqualTo(206);
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.field("ETag")).isEqualTo(TAG);
    assertThat(reply.field("Age")).isEqualTo("0");
    assertThat(reply.field("Content-Range")).isNull();
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
    String type = String.valueOf(reply.field("Content-Type"));
    assertThat(type).startsWith("multipart/byteranges; boundary=");
    String delimiter = "--" + type.substring(type.indexOf('=') + 1);
    assertThat(reply.text())
        .isEqualTo(
            delimiter
                + part("2-4", "234")
                + delimiter
                + part("500-502", "012")
                + delimiter
                + part("997-999", "789")
                + delimiter
                + "--\r\n");
    assertThat(reply.field("Content-Length")).isEqualTo(Integer.toString(reply.text().length()));
  }

  private static String part(String range, String content) {
    return "\r\nContent-Type: text/plain\r\nContent-Range: bytes "
        + range
        + "/1000\r\n\r\n"
        + content
        + "\r\n";
  }

  @Test
  void severalRangesThatMeetAreAnsweredByOnePart() {
    fixture.store("0123456789");
    RecordingReply reply = fixture.get("Range", "bytes=2-4,5-6");
    assertThat(reply.field("Content-Range")).isEqualTo("bytes 2-6/10");
    assertThat(reply.text()).isEqualTo("23456");
    assertThat(fixture.get("Range", "bytes=10-,20-").status()).isEqualTo(416);
  }

  @Test
  void aSlowClientGetsItsPartsAtItsPace() {
    fixture.store("0123456789".repeat(100));
    RecordingReply reply = new RecordingReply();
    reply.whenWritten(reply::pause);
    fixture.handler.handle(fixture.exchange("GET", URI, reply, "Range", "bytes=0-1,500-501"));
    fixture.run();
    for (int i = 0; i < 10 && !reply.isComplete(); i++) {
      reply.resume();
      fixture.run();
    }
    assertThat(reply.isComplete()).isTrue();
    assertThat(reply.text()).contains("\r\n\r\n01\r\n--").endsWith("--\r\n");
  }

  @Test
  void aClientThatLeavesAmidstThePartsHoldsNothing() {
    fixture.store("0123456789".repeat(100));
    for (int writes = 1; writes <= 4; writes++) {
      RecordingReply reply = new RecordingReply();
      int[] left = {writes};
      reply.whenWritten(
          () -> {
            if (--left[0] == 0) {
              reply.leave();
            }
          });
      fixture.handler.handle(fixture.exchange("GET", URI, reply, "Range", "bytes=0-1,500-501"));
      fixture.run();
      assertThat(reply.isComplete()).isFalse();
    }
  }
}
