package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What unsafe requests make invalid (RFC 9111 §4.4). */
class InvalidationConformanceTest {

  private static final String FORM = "http://example.org/form";

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "UNHEARD-OF"})
  void section4_4ASuccessfulUnsafeRequestInvalidatesItsTarget(String method) {
    fixture.store("hello");
    fixture.send(method, URI);
    assertThat(fixture.isReused()).as("before the answer").isTrue();
    fixture.send(method, URI);
    fixture.origin.last().respond(200, "");
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "200, true",
    "201, true",
    "204, true",
    "301, true",
    "303, true",
    "304, true",
    "400, false",
    "404, false",
    "409, false",
    "500, false",
    "503, false"
  })
  void section4_4OnlyANonErrorResponseInvalidates(int status, boolean isInvalidated) {
    fixture.store("hello");
    fixture.send("POST", URI);
    fixture.origin.last().respond(status, "");
    assertThat(fixture.isReused()).isEqualTo(!isInvalidated);
  }

  @ParameterizedTest
  @ValueSource(strings = {"HEAD", "OPTIONS"})
  void section4_4ASafeRequestInvalidatesNothing(String method) {
    fixture.store("hello");
    fixture.send(method, URI);
    if (fixture.forwarded() > 1) {
      fixture.origin.last().respond(200, "");
    }
    assertThat(fixture.isReused()).isTrue();
  }

  @Test
  void section4_4EveryVariantOfTheTargetIsInvalidated() {
    for (String value : new String[] {"1", "2"}) {
      fixture.fill(
          CacheFixture.fields("A", value), 200, "", "Cache-Control", "max-age=60", "Vary", "A");
    }
    fixture.send("POST", URI, "A", "1");
    fixture.origin.last().respond(200, "");
    assertThat(fixture.isReused("A", "1")).isFalse();
    assertThat(fixture.isReused("A", "2")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "Location, /page, true",
    "Location, page, true",
    "Location, http://example.org/page, true",
    "Location, HTTP://EXAMPLE.ORG:80/page#part, true",
    "Content-Location, /page, true",
    "Content-Location, ./x/../page, true",
    "Location, http://example.org:81/page, false",
    "Location, https://example.org/page, false",
    "Location, http://example.org.evil/page, false",
    "Location, //other.example/page, false",
    "Link, /page, false",
    "Location, ::, false",
  })
  void section4_4LocationsOfTheSameOriginAreInvalidatedToo(
      String name, String value, boolean isInvalidated) {
    fixture.store("hello");
    fixture.send("POST", FORM);
    fixture.origin.last().respond(201, "", name, value);
    assertThat(fixture.isReused()).isEqualTo(!isInvalidated);
  }

  @Test
  void section4_4AnotherOriginIsNotInvalidatedWhateverTheFieldSays() {
    fixture.store("hello");
    fixture.send("POST", "http://other.example/form");
    fixture.origin.last().respond(201, "", "Location", URI, "Content-Location", URI);
    assertThat(fixture.isReused()).isTrue();
  }

  @Test
  void section4_4WhatWasOnItsWayIsNotStoredAfterwards() {
    fixture.get();
    var slow = fixture.origin.last();
    fixture.send("POST", URI);
    fixture.origin.last().respond(200, "");
    slow.respond(200, "old", "Cache-Control", "max-age=60");
    assertThat(fixture.isReused()).isFalse();
  }
}
