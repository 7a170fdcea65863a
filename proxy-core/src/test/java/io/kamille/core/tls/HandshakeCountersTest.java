package io.kamille.core.tls;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HandshakeCountersTest {

  /** The times of two loops: one is a little behind the other. */
  @Test
  void ofAllLoopsOneInAMinuteSaysThatAClientSpeaksClearText() {
    var counters = new HandshakeCounters();
    assertThat(counters.tellsClearText(-1_000, 60)).isTrue();
    assertThat(counters.tellsClearText(-1_001, 60)).isFalse();
    assertThat(counters.tellsClearText(-941, 60)).isFalse();
    assertThat(counters.tellsClearText(-940, 60)).isTrue();
    assertThat(counters.tellsClearText(-940, 60)).isFalse();
  }
}
