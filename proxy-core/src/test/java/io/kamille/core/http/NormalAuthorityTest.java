package io.kamille.core.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RFC 9110 §4.2.3: one spelling for all authorities that are equivalent. */
class NormalAuthorityTest {

  @ParameterizedTest
  @CsvSource({
    "http,  k.test,            k.test",
    "http,  K.TEST:80,         k.test",
    "http,  k.test:,           k.test",
    "http,  k.test:080,        k.test",
    "http,  k.test:00000080,   k.test",
    "http,  k.test:443,        k.test:443",
    "http,  k.test:08080,      k.test:8080",
    "http,  k.test:800,        k.test:800",
    "http,  k.test:0,          k.test:0",
    "http,  k.test:000,        k.test:0",
    "http,  k.test.:80,        k.test.",
    "http,  [2001:DB8::80],    [2001:db8::80]",
    "http,  [2001:DB8::8]:080, [2001:db8::8]",
    "http,  [::1]:,            [::1]",
    "https, K.test:443,        k.test",
    "https, k.test:0443,       k.test",
    "https, k.test:80,         k.test:80",
    "https, k.test:8443,       k.test:8443",
    "http,  '',                ''"
  })
  void hostInLowerCaseAndNoPortThatGoesWithoutSaying(
      String scheme, String authority, String normal) {
    byte[] octets = Fields.octetsOf("//" + authority + "/80");
    byte[] found = Authority.normal(octets, 2, 2 + authority.length(), scheme.equals("https"));
    assertThat(Octets.text(found, 0, found.length)).isEqualTo(normal);
  }
}
