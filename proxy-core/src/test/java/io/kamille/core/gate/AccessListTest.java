package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

class AccessListTest {

  @Test
  void withoutListsEverybodyIsLetIn() {
    assertThat(AccessList.ALL.isOpen()).isTrue();
    assertThat(AccessList.ALL.admits(null)).isTrue();
    assertThat(admits(AccessList.ALL, "192.0.2.1")).isTrue();
  }

  @Test
  void whereSomeAreAllowedOthersAreNot() {
    AccessList list = list(List.of("10.0.0.0/8"), List.of());
    assertThat(admits(list, "10.1.2.3")).isTrue();
    assertThat(admits(list, "11.0.0.1")).isFalse();
    assertThat(admits(list, "::1")).isFalse();
    assertThat(list.admits(null)).isFalse();
  }

  @Test
  void whereSomeAreDeniedOthersAreLetIn() {
    AccessList list = list(List.of(), List.of("2001:db8::/32"));
    assertThat(admits(list, "2001:db8::1")).isFalse();
    assertThat(admits(list, "2001:db9::1")).isTrue();
    assertThat(admits(list, "10.0.0.1")).isTrue();
  }

  @Test
  void theSmallestRangeDecides() {
    AccessList list = list(List.of("10.0.0.0/8", "10.1.2.0/24"), List.of("10.1.0.0/16"));
    assertThat(admits(list, "10.9.0.1")).isTrue();
    assertThat(admits(list, "10.1.9.1")).isFalse();
    assertThat(admits(list, "10.1.2.1")).isTrue();
  }

  @Test
  void ofTwoEqualRangesTheDenialDecides() {
    AccessList list = list(List.of("10.0.0.0/8"), List.of("10.0.0.0/8"));
    assertThat(admits(list, "10.0.0.1")).isFalse();
  }

  private static AccessList list(List<String> allow, List<String> deny) {
    return new AccessList(AddressRanges.parse(allow), AddressRanges.parse(deny));
  }

  private static boolean admits(AccessList list, String address) {
    return list.admits(InetAddress.ofLiteral(address));
  }
}
