package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static io.kamille.cache.CacheFixture.fields;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.semantics.NamePatterns;
import io.kamille.cache.semantics.VaryBy;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.http.RequestHead;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which requests use the cache, and how their responses are told apart, as an operator says. */
class RequestPolicyTest {

  @Test
  void aRequestWithABypassCookieIsNeitherAnsweredFromTheStoreNorStored() {
    try (CacheFixture fixture = bypassing("session")) {
      fixture.store("page");
      RecordingReply reply =
          fixture.fill(fields("Cookie", "session=1"), 200, "mine", "Cache-Control", "max-age=60");
      assertThat(reply.text()).isEqualTo("mine");
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=bypass; detail=cookie");
      assertThat(fixture.get("Cookie", "a=b").text()).isEqualTo("page");
    }
  }

  @Test
  void requestsWithABypassCookieDoNotWaitForOneAnother() {
    try (CacheFixture fixture = bypassing("session")) {
      fixture.get("Cookie", "session=1");
      fixture.get("Cookie", "session=1");
      fixture.get();
      assertThat(fixture.forwarded()).isEqualTo(3);
      fixture.origin.requests().forEach(request -> request.respond(200, "x"));
    }
  }

  @Test
  void anUnsafeRequestInvalidatesWhateverCookieItHas() {
    try (CacheFixture fixture = bypassing("session")) {
      fixture.store("page");
      fixture.send("POST", URI, "Cookie", "session=1");
      fixture.origin.last().respond(200, "done");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aBypassedPathUsesNoStore() {
    try (CacheFixture fixture = new CacheFixture()) {
      fixture.store("page");
      ExchangeHandler bypass = fixture.handler.bypass();
      RecordingReply reply = new RecordingReply();
      bypass.handle(CacheFixture.exchange(fixture.loop(), RequestHead.of("GET", URI), reply));
      fixture.origin.last().respond(200, "mine", "Cache-Control", "max-age=60");
      assertThat(reply.text()).isEqualTo("mine");
      assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=bypass; detail=path");
      assertThat(fixture.get().text()).isEqualTo("page");
    }
  }

  @Test
  void aRoutesFieldsTellResponsesApartAndStandInVary() {
    try (CacheFixture fixture = varyingBy("X-Device")) {
      RecordingReply reply =
          fixture.fill(fields("X-Device", "phone"), 200, "small", "Cache-Control", "max-age=60");
      assertThat(reply.field("Vary")).isEqualTo("x-device");
      fixture.fill(fields("X-Device", "desk"), 200, "large", "Cache-Control", "max-age=60");
      assertThat(fixture.get("X-Device", "phone").text()).isEqualTo("small");
      assertThat(fixture.get("X-Device", "desk").text()).isEqualTo("large");
      assertThat(fixture.get("X-Device", "phone").field("Vary")).isEqualTo("x-device");
      assertThat(fixture.isReused()).isFalse();
    }
  }

  @Test
  void aPurgeTakesAllThatARoutesFieldsTellApart() {
    try (CacheFixture fixture = varyingBy("X-Device")) {
      fixture.fill(fields("X-Device", "phone"), 200, "small", "Cache-Control", "max-age=60");
      fixture.fill(fields("X-Device", "desk"), 200, "large", "Cache-Control", "max-age=60");
      assertThat(fixture.cache.operations().purge(URI)).hasValue(2);
    }
  }

  @Test
  void aValidationKeepsTellingApart() {
    try (CacheFixture fixture = varyingBy("X-Device")) {
      fixture.fill(
          fields("X-Device", "phone"),
          200,
          "small",
          "Cache-Control",
          "max-age=60",
          "Vary",
          "Accept",
          "ETag",
          "\"a\"");
      fixture.advance(60);
      fixture.fill(fields("X-Device", "phone"), 304, "", "Vary", "Accept", "ETag", "\"a\"");
      assertThat(fixture.isReused("X-Device", "phone")).isTrue();
      fixture.advance(60);
      fixture.fill(fields("X-Device", "phone"), 304, "", "ETag", "\"a\"");
      assertThat(fixture.isReused("X-Device", "phone")).isTrue();
      assertThat(fixture.isReused("X-Device", "phone", "Accept", "x")).isFalse();
      assertThat(fixture.isReused("X-Device", "desk")).isFalse();
    }
  }

  private static CacheFixture bypassing(String cookie) {
    return with(NamePatterns.of(List.of(cookie)), VaryBy.NONE);
  }

  private static CacheFixture varyingBy(String field) {
    return with(NamePatterns.NONE, VaryBy.of(List.of(field)));
  }

  private static CacheFixture with(NamePatterns bypassCookies, VaryBy varyBy) {
    CacheSettings usual = CacheSettings.of(1 << 20);
    return new CacheFixture(
        4 << 20,
        new CacheSettings(
            usual.policy(),
            usual.maxObjectBytes(),
            usual.mayCollapse(),
            usual.collapseWaitTimeout(),
            usual.statusName(),
            usual.showsKey(),
            usual.background(),
            bypassCookies,
            varyBy));
  }
}
