package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.NamedClient;
import io.kamille.core.http.RequestHead;
import io.netty.util.AsciiString;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ForwardedReaderTest {

  private static final InetSocketAddress PROXY = new InetSocketAddress("10.0.0.1", 4711);
  private static final InetSocketAddress STRANGER = new InetSocketAddress("203.0.113.9", 4711);
  private static final AddressRanges TRUSTED =
      AddressRanges.parse(List.of("10.0.0.0/8", "2001:db8:ffff::/48"));

  private static RequestHead read(FieldName field, InetSocketAddress peer, String... lines) {
    return read(field, peer, RequestHead.of("GET", "http://site.test/a", lines));
  }

  private static RequestHead read(FieldName field, InetSocketAddress peer, RequestHead request) {
    Objects.requireNonNull(new TrustedProxies(TRUSTED, field).reader(peer)).identify(request);
    return request;
  }

  private static RequestHead list(String... lines) {
    return read(FieldName.X_FORWARDED_FOR, PROXY, lines);
  }

  private static RequestHead forwarded(String... values) {
    List<String> lines = new ArrayList<>();
    for (String value : values) {
      lines.addAll(List.of("Forwarded", value));
    }
    return read(FieldName.FORWARDED, PROXY, lines.toArray(String[]::new));
  }

  private static String client(RequestHead request) {
    NamedClient named = Objects.requireNonNull(request.named());
    assertThat(named.proxy()).isEqualTo(PROXY);
    return NetUtil.toSocketAddressString(named.client());
  }

  private static String client(String value) {
    return client(list("X-Forwarded-For", value));
  }

  // Whose it is

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "192.0.2.1                               | 192.0.2.1:0",
        "192.0.2.1, 10.0.0.2                     | 192.0.2.1:0",
        "192.0.2.1,10.0.0.2 ,\t10.0.0.3          | 192.0.2.1:0",
        "6.6.6.6, 192.0.2.1, 10.0.0.2            | 192.0.2.1:0",
        "10.6.6.6, 192.0.2.1                     | 192.0.2.1:0",
        "192.0.2.1:5678                          | 192.0.2.1:5678",
        "2001:db8::1                             | [2001:db8::1]:0",
        "[2001:db8::1]                           | [2001:db8::1]:0",
        "[2001:db8::1]:5678, 2001:db8:ffff::7    | [2001:db8::1]:5678",
        "::ffff:192.0.2.1                        | 192.0.2.1:0",
        "[64:ff9b::c000:221]:1                   | [64:ff9b::c000:221]:1",
        "192.0.2.1, ::ffff:10.0.0.2              | 192.0.2.1:0",
        "192.0.2.1,, ,10.0.0.2,                  | 192.0.2.1:0",
        "10.0.0.3, 10.0.0.2                      | 10.0.0.3:0",
      })
  void theFirstAddressFromTheRightThatIsNotTrustedIsTheClient(String value, String client) {
    assertThat(client(value)).isEqualTo(client);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "unknown",
        "_hidden",
        "192.0.2.1x",
        "192.0.2",
        "192.0.2.256",
        "192.0.2.01",
        "192.0.2.1.1",
        "0x7f.0.0.1",
        "192.0.2.1:",
        "192.0.2.1:65536",
        "192.0.2.1:-1",
        "192.0.2.1:_port",
        "192.0.2.1:1:1",
        "[192.0.2.1]",
        "[2001:db8::1",
        "2001:db8::1]",
        "[2001:db8::1]x",
        "[2001:db8::1]1",
        "[]",
        "[",
        "]",
        ":",
        "::1::",
        "fe80::1%eth0",
        "2001:db8::1:22222",
        "localhost",
        "\"192.0.2.1\"",
        "\"",
        "for=192.0.2.1",
        "192.0.2.1 6.6.6.6",
      })
  void whatIsNoAddressEndsTheSearchAtTheLastTrustedProxy(String member) {
    assertThat(client(member)).isEqualTo("10.0.0.1:4711");
    assertThat(client("192.0.2.1, " + member)).isEqualTo("10.0.0.1:4711");
    assertThat(client("192.0.2.1, " + member + ", 10.0.0.2")).isEqualTo("10.0.0.2:0");
    // Left of the client, nobody looks.
    assertThat(client(member + ", 192.0.2.1, 10.0.0.2")).isEqualTo("192.0.2.1:0");
  }

  @Test
  void linesAreOneList() {
    RequestHead request =
        list("X-Forwarded-For", "6.6.6.6, 192.0.2.1", "X-A", "1", "X-Forwarded-For", "10.0.0.2");
    assertThat(client(request)).isEqualTo("192.0.2.1:0");
    assertThat(request.fields().joined(FieldName.X_FORWARDED_FOR)).isEqualTo("192.0.2.1, 10.0.0.2");
    request = list("X-Forwarded-For", "192.0.2.1", "X-Forwarded-For", "");
    assertThat(client(request)).isEqualTo("192.0.2.1:0");
    request = list("X-Forwarded-For", "6.6.6.6", "X-Forwarded-For", "192.0.2.1");
    assertThat(request.fields().all(FieldName.X_FORWARDED_FOR)).containsExactly("192.0.2.1");
  }

  @Test
  void aProxyThatNamesNobodySpeaksForItself() {
    assertThat(client(list())).isEqualTo("10.0.0.1:4711");
    assertThat(client("")).isEqualTo("10.0.0.1:4711");
    assertThat(client(" , ,")).isEqualTo("10.0.0.1:4711");
  }

  @Test
  void whatAClientPutsLeftOfItsAddressIsNeitherReadNorForwarded() {
    String forged = "10.0.0.9, ".repeat(3_000);
    RequestHead request = list("X-Forwarded-For", forged + "192.0.2.1, 10.0.0.2");
    assertThat(client(request)).isEqualTo("192.0.2.1:0");
    assertThat(request.fields().all(FieldName.X_FORWARDED_FOR))
        .containsExactly("192.0.2.1, 10.0.0.2");
    request = list("X-Forwarded-For", "\"".repeat(30_000) + "192.0.2.1");
    assertThat(client(request)).isEqualTo("10.0.0.1:4711");
    assertThat(request.fields().has(FieldName.X_FORWARDED_FOR)).isFalse();
  }

  @Test
  void aListOfTrustedAddressesAloneEndsAfterSome() {
    String last = ", 10.0.0.2".repeat(31);
    assertThat(client("6.6.6.6, 10.0.0.3" + last)).isEqualTo("10.0.0.3:0");
    assertThat(client("6.6.6.6, 10.0.0.9, 10.0.0.3" + last)).isEqualTo("10.0.0.3:0");
  }

  @Test
  void nobodyElseIsBelieved() {
    RequestHead request =
        read(
            FieldName.X_FORWARDED_FOR,
            STRANGER,
            "X-Forwarded-For",
            "192.0.2.1",
            "x-forwarded-proto",
            "https",
            "X-Forwarded-Host",
            "evil.test",
            "Forwarded",
            "for=192.0.2.1",
            "X_Forwarded_For",
            "192.0.2.1",
            "X-Kept",
            "1");
    assertThat(request.named()).isNull();
    assertThat(request.isSecure()).isFalse();
    assertThat(request.authority()).isEqualTo("site.test");
    assertThat(request.fields().toString().replace("\n", ";"))
        .isEqualTo("Host: site.test;X-Kept: 1;");
  }

  @Test
  void theFieldThatIsNotConfiguredIsRemoved() {
    RequestHead request =
        list(
            "Forwarded",
            "for=6.6.6.6;proto=https",
            "X-Forwarded-For",
            "192.0.2.1",
            "X-Forwarded-For",
            "10.0.0.2",
            "X_Forwarded-For",
            "6.6.6.6");
    assertThat(client(request)).isEqualTo("192.0.2.1:0");
    assertThat(request.isSecure()).isFalse();
    assertThat(request.fields().toString().replace("\n", ";"))
        .isEqualTo("Host: site.test;X-Forwarded-For: 192.0.2.1;X-Forwarded-For: 10.0.0.2;");
    request =
        read(
            FieldName.FORWARDED,
            PROXY,
            "X-Forwarded-For",
            "6.6.6.6",
            "X-Forwarded-Host",
            "evil.test",
            "X-Forwarded-Proto",
            "https",
            "Forwarded",
            "for=192.0.2.1");
    assertThat(client(request)).isEqualTo("192.0.2.1:0");
    assertThat(request.isSecure()).isFalse();
    assertThat(request.fields().toString().replace("\n", ";"))
        .isEqualTo("Host: site.test;Forwarded: for=192.0.2.1;");
  }

  // Scheme and host

  @Test
  void schemeAndHostComeAlong() {
    RequestHead request =
        list(
            "X-Forwarded-For",
            "192.0.2.1",
            "X-Forwarded-Proto",
            "HTTPS",
            "X-Forwarded-Host",
            "Shop.test:8443");
    assertThat(request.isSecure()).isTrue();
    assertThat(request.authority()).isEqualTo("Shop.test:8443");
    RequestHead secure = RequestHead.of("GET", "https://a.test/", "X-Forwarded-Proto", "ws");
    assertThat(read(FieldName.X_FORWARDED_FOR, PROXY, secure).isSecure()).isFalse();
    assertThat(list("X-Forwarded-Proto", "wss").isSecure()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "192.0.2.1, 10.0.0.2          | https                | true",
        "192.0.2.1, 10.0.0.2          | http, https          | true",
        "192.0.2.1, 10.0.0.2          | https, http          | false",
        "6.6.6.6, 192.0.2.1, 10.0.0.2 | https, https, http   | false",
        "192.0.2.1                    | https, http          | false",
        "unknown                      | https, http          | false",
        "192.0.2.1                    | gopher               | false",
        "192.0.2.1                    | https x              | false",
      })
  void theSchemeThatTheLastProxySaysCounts(String addresses, String schemes, boolean isSecure) {
    RequestHead request = list("X-Forwarded-For", addresses, "X-Forwarded-Proto", schemes);
    assertThat(request.isSecure()).isEqualTo(isSecure);
  }

  @ParameterizedTest
  @ValueSource(strings = {"192.0.2.1", "192.0.2.1, 10.0.0.2", "6.6.6.6, 192.0.2.1, 10.0.0.2", "x"})
  void aForgedHostOrSchemeIsNeitherReadNorForwarded(String addresses) {
    String[] lines = {
      "X-Forwarded-For", addresses,
      "X-Forwarded-Host", "evil.test",
      "X-Forwarded-Host", "evil.test, shop.test",
      "X-Forwarded-Proto", "http, https",
    };
    RequestHead request = list(lines);
    assertThat(request.authority()).isEqualTo("shop.test");
    assertThat(request.isSecure()).isTrue();
    assertThat(request.fields().all(FieldName.X_FORWARDED_HOST)).containsExactly("shop.test");
    assertThat(request.fields().all(FieldName.X_FORWARDED_PROTO)).containsExactly("https");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "a/b", "a@b", "[::1", "a:99999", ":80", "", "a\u0080"})
  void whatIsNoHostIsIgnored(String host) {
    assertThat(list("X-Forwarded-Host", host).authority()).isEqualTo("site.test");
    assertThat(forwarded("for=192.0.2.1;host=\"" + host + "\"").authority()).isEqualTo("site.test");
  }

  // Forwarded

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "for=192.0.2.1                                        | 192.0.2.1:0 | false | site.test",
        "For=\"192.0.2.1:47011\";Proto=HTTPS                  | 192.0.2.1:47011 | true | site.test",
        "for=\"[2001:db8::1]:4\" ; proto = https              | [2001:db8::1]:4 | false | site.test",
        "for=\"[2001:db8::1]:4\" ; proto=https                | [2001:db8::1]:4 | true | site.test",
        "for=6.6.6.6, for=192.0.2.1;proto=https;host=a.test, for=10.0.0.2;proto=http;host=b.test"
            + " | 192.0.2.1:0 | true | a.test",
        "for=192.0.2.1, for=10.0.0.2;proto=https;host=b.test  | 192.0.2.1:0 | true | b.test",
        "for=192.0.2.1;by=\"a,b;for=6.6.6.6\"                 | 192.0.2.1:0 | false | site.test",
        "for=192.0.2.1;by=\"a\\\",for=6.6.6.6\"               | 192.0.2.1:0 | false | site.test",
        "for=192.0.2.1;by=\"a\\\\\"                           | 192.0.2.1:0 | false | site.test",
        "for=\"x, for=192.0.2.1                               | 192.0.2.1:0 | false | site.test",
        "for=192.0.2.1;proto=https;secret=\"\"                 | 192.0.2.1:0 | true | site.test",
        "for=unknown;proto=https                              | 10.0.0.1:4711 | true | site.test",
        "for=192.0.2.1, for=_hidden, for=10.0.0.2             | 10.0.0.2:0 | false | site.test",
        "proto=https;host=a.test                              | 10.0.0.1:4711 | true | a.test",
        "for=192.0.2.1;;proto=https;                          | 192.0.2.1:0 | true | site.test",
        "for=192.0.2.1;for=192.0.2.2;proto=https              | 10.0.0.1:4711 | false | site.test",
        "for=192.0.2.1;proto                                  | 10.0.0.1:4711 | false | site.test",
        "for=192.0.2.1;proto=\"https                          | 10.0.0.1:4711 | false | site.test",
        "for=\"\"                                             | 10.0.0.1:4711 | false | site.test",
        "for=                                                 | 10.0.0.1:4711 | false | site.test",
        "192.0.2.1                                            | 10.0.0.1:4711 | false | site.test",
        "\"                                                   | 10.0.0.1:4711 | false | site.test",
      })
  void forwardedNamesClientSchemeAndHost(String value, String client, boolean https, String host) {
    RequestHead request = forwarded(value);
    assertThat(client(request)).isEqualTo(client);
    assertThat(request.isSecure()).isEqualTo(https);
    assertThat(request.authority()).isEqualTo(host);
  }

  @Test
  void linesOfForwardedAreOneListThatBeginsWithTheClient() {
    RequestHead request =
        forwarded("for=6.6.6.6, for=192.0.2.1;by=\"x,y\"", "for=10.0.0.2", "for=10.0.0.3");
    assertThat(client(request)).isEqualTo("192.0.2.1:0");
    assertThat(request.fields().all(FieldName.FORWARDED))
        .containsExactly("for=192.0.2.1;by=\"x,y\"", "for=10.0.0.2", "for=10.0.0.3");
  }

  @Test
  void anAbsoluteTargetTakesSchemeAndHostToo() {
    RequestHead request = RequestHead.of("GET", "http://site.test/a", "X-Forwarded-Proto", "https");
    request.fields().add("X-Forwarded-Host", "shop.test");
    request.startLine(
        request.method(),
        request.methodStart(),
        request.methodEnd(),
        RequestHead.TargetForm.ABSOLUTE,
        request.targetStart(),
        request.targetEnd(),
        1);
    read(FieldName.X_FORWARDED_FOR, PROXY, request);
    assertThat(request.isSecure()).isTrue();
    assertThat(request.hasSchemeOfConnection()).isTrue();
    assertThat(request.authority()).isEqualTo("shop.test");
  }

  /** Whatever stands there: no exception, and the client is the peer or an address of the list. */
  @Test
  void anyOctetsAreReadWithoutAFault() {
    long seed = Long.getLong("fuzz.seed", 47);
    Random random = new Random(seed);
    String alphabet = ",;=\"\\ \t[]:.%_fortphs0123456789abcdef\u00ff";
    String[] words = {"for=", "proto=https", "host=a", "10.0.0.1", "192.0.2.1", "2001:db8::1"};
    for (int round = 0; round < 20_000; round++) {
      StringBuilder value = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        value.append(
            random.nextBoolean()
                ? words[random.nextInt(words.length)]
                : alphabet.charAt(random.nextInt(alphabet.length())));
      }
      String text = value.toString().strip();
      for (FieldName field : List.of(FieldName.FORWARDED, FieldName.X_FORWARDED_FOR)) {
        RequestHead request = read(field, PROXY, field.text(), text);
        assertThat(request.named()).as("seed %d: %s", seed, text).isNotNull();
        assertThat(text).endsWith(Objects.requireNonNullElse(request.field(field), ""));
      }
    }
  }

  /** An address is read only if another reader of addresses takes it, too. */
  @Test
  void addressesAreReadStrictly() {
    Random random = new Random(47);
    for (int round = 0; round < 50_000; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = 1 + random.nextInt(9); i > 0; i--) {
        text.append(new String[] {":", "::", ".", "0", "1", "ffff", "192", "a"}[random.nextInt(8)]);
      }
      InetSocketAddress found = ForwardedReader.address(new AsciiString(text));
      if (found != null && found.getPort() == 0) {
        assertThat(NetUtil.createInetAddressFromIpAddressString(text.toString()))
            .as(text.toString())
            .isEqualTo(found.getAddress());
      }
    }
  }
}
