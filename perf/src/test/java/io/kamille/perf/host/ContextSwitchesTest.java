package io.kamille.perf.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ContextSwitchesTest {

  @Test
  void sleepsAreToldFromInterruptions() {
    var status =
        List.of("Name:\tjava", "voluntary_ctxt_switches:\t150", "nonvoluntary_ctxt_switches:\t7");
    assertThat(ContextSwitches.parse(status)).isEqualTo(new ContextSwitches(150, 7));
  }

  @Test
  void aProcessHasSome() throws Exception {
    assertThat(ContextSwitches.of(ProcessHandle.current().pid()).voluntary()).isPositive();
  }
}
