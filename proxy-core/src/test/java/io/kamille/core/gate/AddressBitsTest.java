package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class AddressBitsTest {

  @Test
  void anIpv4AddressIsTheSameInsideIpv6() {
    assertThat(bits("192.0.2.1")).isEqualTo(new AddressBits(0, 0xffff_c000_0201L));
    assertThat(bits("192.0.2.1").isIpv4()).isTrue();
    assertThat(bits("2001:db8::1").isIpv4()).isFalse();
    assertThat(bits("::1").isIpv4()).isFalse();
  }

  @Test
  void aPrefixHasNoBitBehindIt() {
    assertThat(bits("2001:db8:1:2:ffff::1").prefix(64)).isEqualTo(bits("2001:db8:1:2::"));
    assertThat(bits("2001:db8:1:2:ffff::1").prefix(56)).isEqualTo(bits("2001:db8:1::"));
    assertThat(bits("2001:db8:1:2:ffff::1").prefix(72)).isEqualTo(bits("2001:db8:1:2:ff00::"));
    assertThat(bits("2001:db8:1:2:ffff::1").prefix(128)).isEqualTo(bits("2001:db8:1:2:ffff::1"));
    assertThat(bits("2001:db8::1").prefix(0)).isEqualTo(bits("::"));
  }

  private static AddressBits bits(String text) {
    return AddressBits.of(InetAddress.ofLiteral(text));
  }
}
