package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class IdleConnectionsIT {

  @Test
  void everyConnectionIsAnsweredOnceAndStaysOpen() throws Exception {
    try (var origin = OriginStub.open(0);
        var connections = IdleConnections.open(20, origin.port(), "/hit/1024", 1024)) {
      assertThat(connections.openCount()).isEqualTo(20);
    }
  }

  @Test
  void aConnectionThatIsAnsweredWronglyIsAFailure() throws Exception {
    try (var origin = OriginStub.open(0)) {
      assertThatThrownBy(() -> IdleConnections.open(20, origin.port(), "/hit/1000", 1024))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("WRONG_LENGTH");
    }
  }
}
