package io.kamille.perf.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.peer.TwoRoutes.Ports;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TwoRoutesTest {

  @ParameterizedTest
  @EnumSource
  void everyPlaceIsFilled(TwoRoutes server) {
    assertThat(server.text(Path.of("/tmp/x"), new Ports(7001, 7002, 7003, 7004)))
        .doesNotContain("%")
        .contains("127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003", "127.0.0.1:7004");
  }
}
