package io.kamille.perf.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.peer.TwoRoutes.Ports;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TwoRoutesTest {

  @ParameterizedTest
  @EnumSource
  void everyPlaceIsFilled(TwoRoutes server) {
    var ports = new Ports(7001, List.of(7002, 7003), 7004, "name.test");
    assertThat(server.text(Path.of("/tmp/x"), ports))
        .doesNotContain("%")
        .contains("127.0.0.1:7001", "name.test:7002", "name.test:7003", "127.0.0.1:7004");
  }
}
