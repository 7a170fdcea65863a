package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRangeTest {

  @ParameterizedTest
  @CsvSource({
    "10.0.0.0/8, 10.255.0.1, true",
    "10.0.0.0/8, 11.0.0.0, false",
    "192.168.4.0/22, 192.168.7.255, true",
    "192.168.4.0/22, 192.168.8.0, false",
    "127.0.0.1, 127.0.0.1, true",
    "127.0.0.1, 127.0.0.2, false",
    "127.0.0.1/32, 127.0.0.1, true",
    "0.0.0.0/0, 203.0.113.9, true",
    "0.0.0.0/0, ::1, false",
    "::1, ::1, true",
    "::1, ::2, false",
    "2001:DB8::/33, 2001:db8:7fff::1, true",
    "2001:db8::/33, 2001:db8:8000::1, false",
    "::/0, 2001:db8::1, true",
    "::/0, 10.0.0.1, false",
    "::ffff:10.0.0.0/104, 10.1.2.3, true",
    "::ffff:10.0.0.0/104, 11.1.2.3, false",
    "::ffff:10.0.0.1, 10.0.0.1, true"
  })
  void addressesThatBeginWithThePrefixAreInTheRange(String range, String address, boolean isIn) {
    assertThat(contains(range(range), InetAddress.ofLiteral(address))).isEqualTo(isIn);
  }

  @Test
  void rfc4291Section2_5_5_2AnIpv4AddressInsideIpv6IsThatIpv4Address() throws UnknownHostException {
    byte[] octets = new byte[16];
    octets[10] = (byte) 0xff;
    octets[11] = (byte) 0xff;
    octets[12] = 10;
    octets[15] = 1;
    InetAddress mapped = Inet6Address.getByAddress(null, octets, -1);
    assertThat(mapped.getAddress()).hasSize(16);
    assertThat(contains(range("10.0.0.0/8"), mapped)).isTrue();
    assertThat(contains(range("11.0.0.0/8"), mapped)).isFalse();
    assertThat(contains(range("::/0"), mapped)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/8",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/08",
        "10.0.0.0/8/8",
        "10.0.0.1/8",
        "10.0.0/24",
        "10",
        "010.0.0.0/8",
        "256.0.0.0/8",
        "10.0.0.0 /8",
        "localhost",
        "example.org/8",
        "::1/129",
        "2001:db8::1/32",
        "[::1]",
        "fe80::1%eth0",
        "::ffff:10.0.0.0/8",
        "1.2.3.4:80",
        ":::1",
        "10.0.0.0/99999999999"
      })
  void whatIsNoRangeIsRefused(String text) {
    assertThat(AddressRange.parse(text)).isNull();
  }

  private static boolean contains(AddressRange range, InetAddress address) {
    return AddressRanges.of(List.of(range)).contains(address);
  }

  private static AddressRange range(String text) {
    return Objects.requireNonNull(AddressRange.parse(text));
  }
}
