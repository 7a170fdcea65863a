package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure.ErrorType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Unsafe requests pass, and make stored responses invalid (RFC 9111 §4.4). */
class InvalidationFlowTest {

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private boolean isStored() {
    return fixture.cache.operations().keys() > 0;
  }

  @Test
  void anUnsafeRequestPassesAndRemovesWhatIsStored() {
    fixture.store("hello");
    RecordingReply reply = fixture.send("POST", URI);
    assertThat(isStored()).isTrue();
    fixture.origin.last().respond(200, "done");
    assertThat(reply.text()).isEqualTo("done");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=method");
    assertThat(isStored()).isFalse();
  }

  @Test
  void anUnknownMethodIsUnsafe() {
    fixture.store("hello");
    fixture.send("FROBNICATE", URI);
    fixture.origin.last().respond(204, "");
    assertThat(isStored()).isFalse();
  }

  @Test
  void anErrorRemovesNothing() {
    fixture.store("hello");
    fixture.send("POST", URI);
    fixture.origin.last().respond(500, "no");
    assertThat(isStored()).isTrue();
  }

  @Test
  void whatLocationNamesIsRemovedToo() {
    fixture.store("hello");
    fixture.send("POST", "http://example.org/form");
    fixture.origin.last().respond(303, "", "Location", "/page");
    assertThat(isStored()).isFalse();
  }

  @Test
  void anotherOriginIsLeftAlone() {
    fixture.store("hello");
    fixture.send("POST", "http://example.com/form");
    fixture.origin.last().respond(303, "", "Location", URI);
    assertThat(isStored()).isTrue();
  }

  @Test
  void aResponseOnItsWayDuringAnUnsafeRequestIsNotStored() {
    fixture.get();
    ScriptedOrigin.Forwarded fill = fixture.origin.last();
    fixture.send("PUT", URI);
    fixture.origin.last().respond(204, "");
    fill.respond(200, "old", "Cache-Control", "max-age=60");
    assertThat(isStored()).isFalse();
  }

  @Test
  void optionsPassesAndRemovesNothing() {
    fixture.store("hello");
    RecordingReply reply = fixture.send("OPTIONS", URI);
    fixture.origin.last().respond(204, "");
    assertThat(reply.field("Cache-Status")).isEqualTo("kamille; fwd=method");
    assertThat(isStored()).isTrue();
  }

  @Test
  void aRequestThatSaysNoStoreIsNotStored() {
    RecordingReply reply = fixture.get("Cache-Control", "no-store");
    fixture.origin.last().respond(200, "x", "Cache-Control", "max-age=60");
    assertThat(reply.field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; detail=request-no-store");
    assertThat(isStored()).isFalse();
  }

  @Test
  void authorizedResponsesAreStoredOnlyWhenTheOriginSaysSo() {
    fixture.get("Authorization", "Basic eDp5");
    fixture.origin.last().respond(200, "x", "Cache-Control", "max-age=60");
    assertThat(isStored()).isFalse();
    fixture.get("Authorization", "Basic eDp5");
    fixture.origin.last().respond(200, "x", "Cache-Control", "public, max-age=60");
    assertThat(fixture.get().text()).isEqualTo("x");
  }

  @Test
  void anAnswerOfTheConnectionsOwnMakingHasItsCacheStatusInTheNotes() {
    RecordingReply reply = new RecordingReply();
    var exchange = fixture.exchange("GET", URI, reply);
    fixture.handler.handle(exchange);
    fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
    assertThat(reply.status()).isEqualTo(502);
    assertThat(exchange.notes().cacheStatus()).isEqualTo("kamille; fwd=uri-miss");
  }
}
