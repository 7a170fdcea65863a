package io.kamille.perf.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DescriptorLimitTest {

  private static List<String> limits(String soft, String hard) {
    return List.of(
        "Limit                     Soft Limit           Hard Limit           Units     ",
        "Max processes             95000                95000                processes ",
        "Max open files            "
            + soft
            + "                 "
            + hard
            + "                files     ");
  }

  @Test
  void theHardLimitCounts() {
    assertThat(DescriptorLimit.hardLimit(limits("1024", "20000"))).isEqualTo(20_000);
  }

  @Test
  void aServerMayKeepADescriptorForTheOriginBesideEachForAClient() {
    assertThat(DescriptorLimit.connections(10_000, 20_000)).isEqualTo(9500);
    assertThat(DescriptorLimit.connections(10_000, 1 << 20)).isEqualTo(10_000);
    assertThat(DescriptorLimit.connections(10_000, 500)).isEqualTo(1);
  }

  @Test
  void itMayBeUnlimited() {
    assertThat(DescriptorLimit.hardLimit(limits("1024", "unlimited"))).isEqualTo(Long.MAX_VALUE);
  }
}
