package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class IdleConnectionsIT {

  private final LoadRequest request = LoadRequest.get("a", "/hit/1", FixedContent.octets(1));

  @Test
  void everyConnectionIsAnsweredOnceAndStaysOpen() throws Exception {
    try (var origin = OriginStub.open(0);
        var connections = IdleConnections.open(20, origin.port(), request)) {
      assertThat(connections.openCount()).isEqualTo(20);
    }
  }

  @Test
  void whatTheServerClosesIsNotCounted() throws Exception {
    var origin = OriginStub.open(0);
    try (var connections = IdleConnections.open(2, origin.port(), request)) {
      origin.close();
      int open = 2;
      while (open > 0) {
        open = connections.openCount();
      }
    }
  }

  @Test
  void aWrongAnswerEndsIt() throws Exception {
    try (var origin = OriginStub.open(0)) {
      var other = LoadRequest.get("a", "/hit/2", FixedContent.octets(1));
      assertThatThrownBy(() -> IdleConnections.open(2, origin.port(), other))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("connection 1 of 2");
    }
  }
}
