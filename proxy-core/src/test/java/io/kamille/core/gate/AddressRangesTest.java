package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AddressRangesTest {

  @Test
  void theSmallestRangeWithAnAddressTellsItsPrefix() {
    AddressRanges ranges =
        AddressRanges.parse(List.of("10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "2001:db8::/32"));
    assertThat(ranges.longestPrefix(address("10.2.0.1"))).isEqualTo(96 + 8);
    assertThat(ranges.longestPrefix(address("10.1.9.9"))).isEqualTo(96 + 16);
    assertThat(ranges.longestPrefix(address("10.1.2.3"))).isEqualTo(96 + 32);
    assertThat(ranges.longestPrefix(address("2001:db8::1"))).isEqualTo(32);
    assertThat(ranges.longestPrefix(address("11.0.0.1"))).isEqualTo(-1);
  }

  @Test
  void allOfOneFamilyIsNothingOfTheOther() {
    assertThat(AddressRanges.parse(List.of("::/0")).contains(address("10.0.0.1"))).isFalse();
    assertThat(AddressRanges.parse(List.of("0.0.0.0/0")).contains(address("2001:db8::1")))
        .isFalse();
    assertThat(AddressRanges.parse(List.of("0.0.0.0/0")).contains(address("10.0.0.1"))).isTrue();
    assertThat(AddressRanges.parse(List.of("::/0")).contains(address("2001:db8::1"))).isTrue();
  }

  @Test
  void nothingContainsNothing() {
    assertThat(AddressRanges.NONE.isEmpty()).isTrue();
    assertThat(AddressRanges.NONE.contains(address("::1"))).isFalse();
  }

  @Test
  void manyRangesSayWhatEachOfThemSays() {
    Random random = new Random(4);
    List<AddressRange> ranges = new ArrayList<>();
    while (ranges.size() < 200) {
      AddressRange range = AddressRange.parse(ipv4(random) + "/" + random.nextInt(33));
      if (range != null) {
        ranges.add(range);
      }
    }
    AddressRanges together = AddressRanges.of(ranges);
    for (int i = 0; i < 5_000; i++) {
      InetAddress address = address(ipv4(random));
      assertThat(together.contains(address))
          .as(address.toString())
          .isEqualTo(ranges.stream().anyMatch(range -> has(range, address)));
    }
  }

  private static boolean has(AddressRange range, InetAddress address) {
    return AddressBits.of(address).prefix(range.prefixLength()).equals(range.first());
  }

  /** Few different addresses, with many bits of zero at their ends. */
  private static String ipv4(Random random) {
    return 8 * random.nextInt(8) + "." + 64 * random.nextInt(4) + ".0." + random.nextInt(2);
  }

  private static InetAddress address(String text) {
    return InetAddress.ofLiteral(text);
  }
}
