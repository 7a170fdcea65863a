package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The heads that the cache makes itself: 304, 206 and 416 (RFC 9110 §15.3.7, §15.4.5, §15.5.17).
 */
class OwnHeadsTest {

  private static final String TAG = "\"v1\"";
  private static final String[] OF_THE_MESSAGE = {
    "Access-Control-Allow-Origin", "*",
    "Access-Control-Expose-Headers", "ETag",
    "Alt-Svc", "h3=\":443\"",
    "Content-Security-Policy", "default-src 'self'",
    "Link", "</a>; rel=preload",
    "Strict-Transport-Security", "max-age=1",
    "Timing-Allow-Origin", "*",
    "Vary", "Origin",
    "X-Own", "1"
  };

  private static final String[] OF_THE_CONTENT = {
    "Content-Type", "text/plain",
    "Content-Language", "de",
    "Content-Digest", "sha-256=:AAAA:",
    "content-md5", "w80m",
    "Repr-Digest", "sha-256=:BBBB:"
  };

  private final CacheFixture fixture = new CacheFixture(8 << 20, TestSettings.of(4 << 20));

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private static String[] fields(String... first) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(List.of(OF_THE_MESSAGE));
    all.addAll(List.of(OF_THE_CONTENT));
    return all.toArray(String[]::new);
  }

  private static void assertKept(RecordingReply reply) {
    for (int i = 0; i < OF_THE_MESSAGE.length; i += 2) {
      assertThat(reply.field(OF_THE_MESSAGE[i])).isEqualTo(OF_THE_MESSAGE[i + 1]);
    }
  }

  private static void assertWithout(RecordingReply reply, String... names) {
    for (String name : names) {
      assertThat(reply.field(name)).as(name).isNull();
    }
  }

  @Test
  void aNotModifiedKeepsAllButWhatTellsOfTheContent() {
    String[] response = fields("Cache-Control", "max-age=60", "ETag", TAG, "Last-Modified", "x");
    RecordingReply miss =
        fixture.fill(CacheFixture.fields("If-None-Match", TAG), 200, "0123456789", response);
    RecordingReply hit = fixture.get("If-None-Match", TAG);
    fixture.advance(100);
    RecordingReply validated = fixture.get("If-None-Match", TAG);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "max-age=60");
    for (RecordingReply reply : List.of(miss, hit, validated)) {
      assertThat(reply.status()).isEqualTo(304);
      assertThat(reply.field("ETag")).isEqualTo(TAG);
      assertKept(reply);
      assertWithout(reply, "Content-Type", "Content-Language", "Content-Digest", "Content-MD5");
      assertWithout(reply, "Repr-Digest", "Content-Length", "Last-Modified");
    }
  }

  /** Also to those who wait for it. */
  @Test
  void aNotModifiedThatIsNotStoredKeepsWhatIsForItsUser() {
    RecordingReply reply = fixture.get("If-None-Match", TAG, "Cookie", "sid=0");
    fixture
        .origin
        .last()
        .respond(
            200,
            "page",
            "Cache-Control",
            "private, no-cache",
            "ETag",
            TAG,
            "Set-Cookie",
            "sid=1",
            "X-Csrf-Token",
            "t",
            "Clear-Site-Data",
            "\"cache\"");
    assertThat(reply.status()).isEqualTo(304);
    assertThat(reply.field("Set-Cookie")).isEqualTo("sid=1");
    assertThat(reply.field("X-Csrf-Token")).isEqualTo("t");
    assertThat(reply.field("Clear-Site-Data")).isEqualTo("\"cache\"");
  }

  @Test
  void anUnsatisfiableRangeKeepsAllButWhatTellsOfTheContent() {
    fixture.fill(200, "0123456789", fields("Cache-Control", "max-age=60", "ETag", TAG));
    RecordingReply reply = fixture.get("Range", "bytes=100-");
    assertThat(reply.status()).isEqualTo(416);
    assertThat(reply.field("Content-Range")).isEqualTo("bytes */10");
    assertKept(reply);
    assertWithout(reply, "Content-Type", "Content-Digest", "Content-MD5", "Repr-Digest", "ETag");
    assertWithout(reply, "Cache-Control", "Age", "Date");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bytes=2-4", "bytes=-5", "bytes=0-1,5-6", "bytes=0-9"})
  void aPartHasNoDigestOfOtherContent(String range) {
    fixture.fill(200, "0123456789", fields("Cache-Control", "max-age=60", "ETag", TAG));
    RecordingReply reply = fixture.get("Range", range);
    assertThat(reply.status()).isEqualTo(206);
    assertKept(reply);
    assertWithout(reply, "Content-Digest", "Content-MD5");
    assertThat(reply.field("Repr-Digest")).isEqualTo("sha-256=:BBBB:");
    assertThat(fixture.get().field("Content-Digest")).isEqualTo("sha-256=:AAAA:");
  }

  /** Nobody waits for the content, and yet it is what the next ones get. */
  @Test
  void aLongResponseThatMeetsAConditionIsStored() {
    String content = "x".repeat(3_000_000);
    String[] response = {"Cache-Control", "max-age=60", "ETag", TAG};
    RecordingReply reply = fixture.get("If-None-Match", TAG);
    var asked = fixture.origin.last().head(200, content.length(), response);
    assertThat(reply.status()).isEqualTo(304);
    assertThat(reply.field("Cache-Status")).contains("stored");
    assertThat(asked.isCancelled()).isFalse();
    asked.write(content).end();
    assertThat(fixture.get().text()).isEqualTo(content);
    assertThat(fixture.forwarded()).isEqualTo(1);
  }
}
