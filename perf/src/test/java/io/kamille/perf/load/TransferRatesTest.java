package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TransferRatesTest {

  /** The mean of the rates, not the rate of the sum: each document counts alike. */
  @Test
  void theMeanIsOverDocumentsOfAClass() {
    var rates = new TransferRates();
    rates.add(1000, 1_000_000_000);
    rates.add(4096, 500_000_000);
    rates.add(4097, 1_000_000_000);
    assertThat(rates.mean("to 4 KiB")).hasValue((1000 + 8192) / 2.0);
    assertThat(rates.mean("to 16 KiB")).hasValue(4097.0);
    assertThat(rates.mean("to 64 KiB")).isEmpty();
  }

  @Test
  void theLastClassTakesAllThatIsLonger() {
    assertThat(TransferRates.classOf(1 << 20)).isEqualTo(4);
    assertThat(TransferRates.classOf((1 << 20) + 1)).isEqualTo(5);
    assertThat(TransferRates.classOf(Integer.MAX_VALUE)).isEqualTo(5);
  }
}
