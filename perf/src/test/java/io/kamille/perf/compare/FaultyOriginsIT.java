package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.perf.compare.FaultyOrigins.Fault;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FaultyOriginsIT {

  private final FaultyOrigins origins = new FaultyOrigins(2);

  FaultyOriginsIT() throws IOException {}

  @AfterEach
  void close() throws IOException {
    origins.close();
  }

  /** What comes back on a connection of its own. */
  private String ask(int index, String method) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), origins.ports().get(index))) {
      String head = method + " /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  @Test
  void theFirstOneFailsAndItsPartnerDoesNot() throws Exception {
    origins.change(Fault.ERROR);
    assertThat(ask(0, "GET")).startsWith("HTTP/1.1 503 ");
    assertThat(ask(1, "GET")).startsWith("HTTP/1.1 200 ");
    origins.change(Fault.RESET);
    assertThatThrownBy(() -> ask(0, "GET")).isInstanceOf(IOException.class);
  }

  @Test
  void whoRefusesComesBackAtTheSamePort() throws Exception {
    origins.change(Fault.REFUSED);
    assertThatThrownBy(() -> ask(0, "GET")).isInstanceOf(IOException.class);
    origins.change(Fault.NONE);
    assertThat(ask(0, "GET")).startsWith("HTTP/1.1 200 ");
  }

  @Test
  void postsThatComeAgainAreCounted() throws Exception {
    ask(0, "POST");
    ask(1, "POST");
    assertThat(origins.postedTwice()).isEqualTo(1);
    assertThat(origins.postedTwice()).isZero();
  }
}
