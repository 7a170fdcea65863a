package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IdleConnectionsIT {

  @Test
  void everyConnectionIsAnsweredOnceAndStaysOpen() throws Exception {
    try (var origin = OriginStub.open(0);
        var connections = IdleConnections.open(20, origin.port(), "/hit/1024")) {
      assertThat(connections.openCount()).isEqualTo(20);
    }
  }

  @Test
  void aResponseEndsBehindItsContent() {
    assertThat(IdleConnections.length("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"))
        .isEqualTo(43);
    assertThat(IdleConnections.length("HTTP/1.1 204 No Content\r\n\r\n")).isEqualTo(27);
    assertThat(IdleConnections.length("HTTP/1.1 200 OK\r\nContent-Le")).isEqualTo(Long.MAX_VALUE);
  }
}
