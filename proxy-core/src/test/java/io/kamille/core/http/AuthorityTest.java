package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 3986 §3.2.2 and §3.2.3, without userinfo (RFC 9110 §4.2.4). */
class AuthorityTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[::]",
        "[::1]",
        "[1::]",
        "[1:2:3:4:5:6:7:8]",
        "[1::3:4:5:6:7:8]",
        "[::2:3:4:5:6:7:8]",
        "[1:2:3:4:5:6:7::]",
        "[FE80::abcd:0]",
        "[::ffff:1.2.3.4]",
        "[1:2:3:4:5:6:1.2.3.4]",
        "[::1.2.3.4]",
        "[::1]:80",
        "[::1]:",
      })
  void addressesOfIpv6(String text) {
    assertThat(isValid(text)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "[:]",
        "[:::]",
        "[1]",
        "[1:]",
        "[:1]",
        "[1:2:3:4:5:6:7]",
        "[1:2:3:4:5:6:7:8:9]",
        "[1:2:3:4:5:6:7:8::]",
        "[::1::]",
        "[1:::2]",
        "[12345::]",
        "[g::]",
        "[::1.2.3]",
        "[::1.2.3.4.5]",
        "[::1.2.3.256]",
        "[::1.2.3.]",
        "[::1..3.4]",
        "[::1.2.3.4:1]",
        "[::1.2.3.0004]",
        "[1:2:3:4:5:6:7:1.2.3.4]",
        "[1.2.3.4]",
        "[fe80::1%25eth0]",
        "[v1.a]",
        "[::1]80",
        "[::1]:x",
        "[::1",
        "::1]",
      })
  void whatLooksLikeAnAddressOfIpv6(String text) {
    assertThat(isValid(text)).isFalse();
  }

  @Test
  void portsEndAt65535() {
    assertThat(isValid("a:0")).isTrue();
    assertThat(isValid("a:65535")).isTrue();
    assertThat(isValid("a:65536")).isFalse();
    assertThat(isValid("a:99999999999999999999")).isFalse();
    assertThat(isValid("a:+1")).isFalse();
    assertThat(hasPort("a:1")).isTrue();
    assertThat(hasPort("a:")).isFalse();
    assertThat(hasPort("a")).isFalse();
    assertThat(hasPort("[::1]")).isFalse();
    assertThat(hasPort("[::1]:1")).isTrue();
  }

  @Test
  void escapesAreWhole() {
    assertThat(isValid("%41")).isTrue();
    assertThat(isValid("a%4")).isFalse();
    assertThat(isValid("a%")).isFalse();
    assertThat(isValid("%4g")).isFalse();
    assertThat(isValid("%:80")).isFalse();
  }

  @Test
  void onlyTheOctetsInRangeCount() {
    byte[] octets = "xa:80x".getBytes(StandardCharsets.US_ASCII);
    assertThat(Authority.isValid(octets, 1, 5)).isTrue();
    assertThat(Authority.isValid(octets, 1, 6)).isFalse();
    assertThat(Authority.isValid(octets, 1, 1)).isFalse();
  }

  private static boolean isValid(String text) {
    byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
    return Authority.isValid(octets, 0, octets.length);
  }

  private static boolean hasPort(String text) {
    byte[] octets = text.getBytes(StandardCharsets.ISO_8859_1);
    return Authority.hasPort(octets, 0, octets.length);
  }
}
