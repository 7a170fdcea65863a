package io.kamille.core.setting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1:8080, 127.0.0.1, 8080, 127.0.0.1:8080",
    "[::1]:80, ::1, 80, [::1]:80",
    "[0:0:0:0:0:0:0:1]:80, ::1, 80, [::1]:80",
    "[FE80::A]:80, fe80::a, 80, [fe80::a]:80",
    ":8080, '', 8080, :8080",
    "Example.ORG:1, example.org, 1, example.org:1",
    "my_origin-1:0, my_origin-1, 0, my_origin-1:0",
    "localhost:65535, localhost, 65535, localhost:65535"
  })
  void oneAddressHasOneForm(String text, String host, int port, String printed) {
    assertThat(HostPort.parse(text)).isEqualTo(new HostPort(host, port)).hasToString(printed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ":",
        "8080",
        "localhost",
        "127.0.0.1:",
        "127.0.0.1:99999",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1:+1",
        "127.0.0.1:8 0",
        "127.0.0.256:1",
        "127.1:1",
        "1.2.3.4.5:1",
        "01.2.3.4:1",
        "::1:80",
        "[::1]",
        "[::1:80",
        "[127.0.0.1]:80",
        "[fe80::1%lo]:80",
        "[1::2::3]:1",
        "a..b:1",
        "-a:1",
        "a-:1",
        "a b:1",
        "*:80",
        "ü.org:1",
        "http://a:1",
        "a/b:1",
        "a:1:2"
      })
  void everythingElseIsRefused(String text) {
    assertThat(HostPort.parse(text)).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {":80", "0.0.0.0:80", "[::]:80", "[0::0]:80"})
  void wildcardsStandForAllInterfaces(String text) {
    assertThat(HostPort.parse(text)).matches(HostPort::isWildcard);
  }

  @Test
  void anEmptyHostBindsToAllInterfaces() {
    assertThat(new HostPort("", 80).socketAddress().getAddress().isAnyLocalAddress()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:1", "127.255.0.9:1", "[0::1]:1", "LocalHost:1"})
  void loopbackLiteralsAndLocalhostAreLoopback(String text) {
    assertThat(HostPort.parse(text)).matches(HostPort::isLoopback);
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.example.com:1", "127.0.0.1.test:1", "128.0.0.1:1", ":1", "[::]:1"})
  void nothingElseIsLoopback(String text) {
    assertThat(HostPort.parse(text)).matches(address -> !address.isLoopback());
  }
}
