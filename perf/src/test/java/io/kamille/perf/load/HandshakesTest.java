package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class HandshakesTest {

  private static final String END =
      """


      5 connections in 0.48s; 10.41 connections/user sec, bytes read 6150
      5 connections in 3 real seconds, 1230 bytes read per connection
      """;

  @Test
  void connectionsAreCounted() throws IOException {
    assertThat(Handshakes.parse("*****" + END, false)).isEqualTo(5);
    assertThat(Handshakes.parse("*rrrrr" + END, true)).isEqualTo(5);
  }

  @Test
  void sessionsThatAreNotResumedAreAFault() {
    assertThatIOException().isThrownBy(() -> Handshakes.parse("*rr*rr" + END, true));
    assertThatIOException().isThrownBy(() -> Handshakes.parse("ERROR", false));
  }
}
