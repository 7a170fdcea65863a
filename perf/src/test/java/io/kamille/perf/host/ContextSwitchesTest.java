package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ContextSwitchesTest {

  @Test
  void sleepsAreToldFromInterruptions() {
    var status =
        List.of("Name:\tjava", "voluntary_ctxt_switches:\t150", "nonvoluntary_ctxt_switches:\t7");
    assertThat(ContextSwitches.parse(status)).isEqualTo(150);
  }

  @Test
  void aProcessHasSome() throws Exception {
    assertThat(ContextSwitches.voluntary(ProcessHandle.current().pid())).isPositive();
  }
}
