package io.kamille.admin.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.tuning.Estimate.Basis;
import io.kamille.core.socket.CongestionControl;
import io.kamille.core.socket.SendBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TuningSentenceTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "LOSS     | 325000      | 51000  | The path loses 1.02 % of its segments, which leaves"
            + " cubic 2.6 Mbit/s at 51 ms round trip.",
        "DELIVERY | 12500000    | 1500   | The path carries 100 Mbit/s at 1.5 ms round trip.",
        "DELIVERY | 20000       | 250000 | The path carries 160 kbit/s at 250 ms round trip.",
        "DELIVERY | 156250000   | 200    | The path carries 1.3 Gbit/s at 0.2 ms round trip.",
        "RECEIVER | 8192        | 40000  | The client reads 8 KiB/s: its receive window was full"
            + " for 97 % of the time.",
        "RECEIVER | 100         | 40000  | The client reads 100 octets/s: its receive window was"
            + " full for 97 % of the time.",
        "SENDER   | 325000      | 51000  | Our send buffer held it up for 12 % of the time, so it"
            + " asks for more.",
        "STALLED  | 0           | 51000  | The client's receive window is full: it reads slowly or"
            + " not at all.",
        "GROUP    | 325000      | 51000  | New. Clients of its network get 2.6 Mbit/s.",
        "GROUP    | 10          | 51000  | New. Clients of its network get next to nothing.",
        "WINDOW   | 22000000000 | 30     | Too little was sent yet to know the path.",
      })
  void saysWhatIsKnownOfThePath(Basis basis, double rate, double rttMicros, String expected) {
    assertThat(path(basis, rate, rttMicros)).isEqualTo(expected);
  }

  @Test
  void aRareLossIsNotToldAsNone() {
    var estimate = new Estimate(Basis.LOSS, 1e6, 51_000, 0, 0.00004, 1, 0, 0, 0, 0, 1);
    assertThat(TuningSentence.path(estimate, CongestionControl.CUBIC))
        .startsWith("The path loses less than 0.01 % of its segments");
  }

  @Test
  void aPathThatCarriesNothingIsNotTakenForASlowReader() {
    var estimate = new Estimate(Basis.STALLED, 0, 51_000, 0, 0, 0, 0, 0.1, 0, 0, 1);
    assertThat(TuningSentence.path(estimate, CongestionControl.CUBIC))
        .isEqualTo("The client acknowledges nothing.");
  }

  /** On loopback the kernel told 175,000 Mbit/s. */
  @Test
  void aRateThatNoPathHasIsNotTold() {
    assertThat(path(Basis.DELIVERY, 22e9, 30))
        .isEqualTo("The path carries more than 10 Gbit/s at a round trip below 0.1 ms.");
  }

  @Test
  void aSizeThatTheKernelCannotTakeBackIsTold() {
    assertThat(TuningSentence.bySystem(0)).isEqualTo("The kernel sizes its send buffer.");
    assertThat(TuningSentence.bySystem(100 << 10))
        .startsWith("Its send buffer is 100 KiB until Kamille looks again, or until it closes if");
  }

  @Test
  void theBoundOfAWatermarkIsTold() {
    String mark =
        "About 32 KiB of content may wait unsent in the kernel, and 64 KiB in front of it";
    assertThat(TuningSentence.mark(new SendBuffer(0, 32 << 10, 32 << 10, 64 << 10)))
        .isEqualTo(mark + ".");
    assertThat(TuningSentence.mark(new SendBuffer(0, 4 << 10, 16 << 10, 32 << 10)))
        .endsWith(", and 32 KiB in front of it, the least.");
    assertThat(TuningSentence.mark(new SendBuffer(0, 512 << 10, 64 << 10, 128 << 10)))
        .endsWith(", and 128 KiB in front of it, the most, or memory is short.");
  }

  @Test
  void whileTheBudgetBindsEqualPartAndShareOfTheRestAreTold() {
    assertThat(TuningSentence.share(400 << 10, 217 << 10, 200 << 10))
        .isEqualTo(
            "It could use 400 KiB, but the budget binds. It gets 217 KiB: an equal part of 200 KiB,"
                + " and 17 KiB of what smaller demands leave.");
    assertThat(TuningSentence.share(10 << 10, 10 << 10, 200 << 10))
        .isEqualTo("It can use 10 KiB and gets 10 KiB.");
    assertThat(TuningSentence.share(4 << 20, 2 << 20, 0))
        .isEqualTo(
            "It could use 4.0 MiB and gets 2.0 MiB, half of the kernel's limit"
                + " (net.ipv4.tcp_wmem).");
    assertThat(TuningSentence.share(400 << 10, 200 << 10, 200 << 10))
        .isEqualTo("It could use 400 KiB, but the budget binds. It gets an equal part, 200 KiB.");
  }

  private static String path(Basis basis, double rate, double rttMicros) {
    var estimate = new Estimate(basis, rate, rttMicros, 0, 0.0102, 16, 0, 0.97, 0.12, 0, 1);
    return TuningSentence.path(estimate, CongestionControl.CUBIC);
  }
}
