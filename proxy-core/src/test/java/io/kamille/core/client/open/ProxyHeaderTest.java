package io.kamille.core.client.open;

import static io.kamille.core.client.open.ProxyHeaders.binary;
import static io.kamille.core.client.open.ProxyHeaders.joined;
import static io.kamille.core.client.open.ProxyHeaders.line;
import static io.kamille.core.client.open.ProxyHeaders.sealed;
import static io.kamille.core.client.open.ProxyHeaders.tlv;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.h1.FuzzBudget;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Willy Tarreau, "The PROXY protocol, versions 1 & 2", 2020, §2. */
class ProxyHeaderTest {

  private static final InetSocketAddress CLIENT = new InetSocketAddress("192.0.2.7", 56324);
  private static final InetSocketAddress LOCAL = new InetSocketAddress("198.51.100.1", 443);
  private static final InetSocketAddress CLIENT6 = new InetSocketAddress("2001:db8::7", 1);
  private static final InetSocketAddress LOCAL6 = new InetSocketAddress("2001:db8::1", 65535);

  private static final List<byte[]> GOOD =
      List.of(
          line("PROXY TCP4 192.0.2.7 198.51.100.1 56324 443"),
          line("PROXY TCP6 2001:db8::7 2001:db8::1 1 65535"),
          line("PROXY UNKNOWN ffff:f...f:ffff 65535 65535"),
          binary(CLIENT, LOCAL),
          binary(CLIENT6, LOCAL6, tlv(0x02, (byte) 'a')),
          binary(0x20, 0x00),
          sealed(binary(CLIENT, LOCAL, joined(tlv(0x04, new byte[9]), tlv(0x03, new byte[4])))));

  /** In a buffer without spare room, which throws when it is read past its end. */
  private static @Nullable ProxyHeader read(byte[] octets) throws ProxyHeader.Malformed {
    ByteBuf in = Unpooled.wrappedBuffer(octets);
    try {
      return ProxyHeader.read(in);
    } finally {
      assertThat(in.refCnt()).isEqualTo(1);
    }
  }

  private static void assertRefused(byte[] octets, String why) {
    assertThatThrownBy(() -> read(octets))
        .isInstanceOf(ProxyHeader.Malformed.class)
        .hasMessageContaining(why);
  }

  @Test
  void bothVersionsNameClientAndDestination() throws ProxyHeader.Malformed {
    for (byte[] octets : List.of(GOOD.get(0), GOOD.get(3))) {
      assertThat(read(joined(octets, line("GET /"))))
          .isEqualTo(new ProxyHeader(CLIENT, LOCAL, octets.length));
    }
    for (byte[] octets : List.of(GOOD.get(1), GOOD.get(4))) {
      assertThat(read(joined(octets, line("GET /"))))
          .isEqualTo(new ProxyHeader(CLIENT6, LOCAL6, octets.length));
    }
  }

  @Test
  void withoutAnAddressTheConnectionIsTheLoadBalancersOwn() throws ProxyHeader.Malformed {
    for (byte[] octets :
        List.of(
            line("PROXY UNKNOWN"),
            line("PROXY UNKNOWN whatever stands here"),
            binary(0x20, 0x11, new byte[12]),
            binary(0x20, 0x11),
            binary(0x20, 0x12, new byte[12]),
            binary(0x20, 0xff, new byte[3]),
            binary(0x21, 0x00, new byte[7]),
            binary(0x21, 0x31, new byte[216]))) {
      assertThat(read(octets)).isEqualTo(new ProxyHeader(null, null, octets.length));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"::ffff:10.0.1.1", "2001:0db8::01", "0db8::0", "::ffff:0.1.1.1"})
  void zerosThatLeadNobodyAstrayAreTaken(String source) throws ProxyHeader.Malformed {
    assertThat(read(line("PROXY TCP6 " + source + " 2001:db8::1 1 2"))).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "PROXY TCP4 192.0.2.7 198.51.100.1 56324",
        "PROXY TCP4 192.0.2.7 198.51.100.1 56324 443 ",
        "PROXY  TCP4 192.0.2.7 198.51.100.1 56324 443",
        "PROXY TCP5 192.0.2.7 198.51.100.1 56324 443",
        "PROXY tcp4 192.0.2.7 198.51.100.1 56324 443",
        "PROXY TCP4 2001:db8::7 198.51.100.1 56324 443",
        "PROXY TCP6 192.0.2.7 198.51.100.1 56324 443",
        "PROXY TCP4 192.0.2 198.51.100.1 56324 443",
        "PROXY TCP4 192.0.2.256 198.51.100.1 56324 443",
        "PROXY TCP4 192.0.2.07 198.51.100.1 56324 443",
        "PROXY TCP4 192.0.2.7 0198.51.100.1 56324 443",
        "PROXY TCP4 010.0.2.7 198.51.100.1 56324 443",
        "PROXY TCP6 ::ffff:010.1.1.1 2001:db8::1 1 2",
        "PROXY TCP6 ::ffff:10.1.1.01 2001:db8::1 1 2",
        "PROXY TCP4 192.0.2.7 198.51.100.1 65536 443",
        "PROXY TCP4 192.0.2.7 198.51.100.1 +1 443",
        "PROXY TCP4 192.0.2.7 198.51.100.1 01 443",
        "PROXY TCP4 192.0.2.7 198.51.100.1 1 \uff11",
        "PROXY TCP6 fe80::1%1 2001:db8::1 1 2",
        "PROXY TCP6 [2001:db8::7] 2001:db8::1 1 2",
        "PROXY UNKNOWNS",
        "PROXY "
      })
  void aLineThatIsNotExactIsRefused(String text) {
    assertRefused(line(text), "a line");
  }

  @Test
  void aLineEndsByCrlfWithin107Octets() throws ProxyHeader.Malformed {
    assertRefused("PROXY UNKNOWN\n".getBytes(StandardCharsets.US_ASCII), "CRLF");
    assertThat(read(line("PROXY UNKNOWN " + "x".repeat(91)))).isNotNull();
    assertRefused(line("PROXY UNKNOWN " + "x".repeat(92)), "does not end");
  }

  @Test
  void whatBeginsOtherwiseIsRefusedAtItsFirstOddOctet() {
    assertRefused(line("GET / HTTP/1.1"), "no PROXY header");
    assertRefused(line("POST"), "no PROXY header");
    assertRefused(new byte[] {0x16, 3, 1}, "no PROXY header");
    assertRefused(new byte[] {'\r', '\n', '\n'}, "no PROXY header");
  }

  @Test
  void versionCommandFamilyAndLengthAreExact() {
    assertRefused(binary(0x11, 0x11, new byte[12]), "version or command");
    assertRefused(binary(0x22, 0x11, new byte[12]), "version or command");
    assertRefused(binary(0xff, 0x11, new byte[12]), "version or command");
    assertRefused(binary(0x21, 0x12, new byte[12]), "family or transport");
    assertRefused(binary(0x21, 0x41, new byte[12]), "family or transport");
    assertRefused(binary(0x21, 0x11, new byte[11]), "wrong length");
    assertRefused(binary(0x21, 0x21, new byte[35]), "wrong length");
    assertRefused(binary(0x21, 0x11, new byte[4081]), "wrong length");
  }

  @Test
  void tlvsFillTheRestAndAChecksumIsRight() throws ProxyHeader.Malformed {
    assertThat(read(binary(CLIENT, LOCAL, tlv(0xee, new byte[4065])))).isNotNull();
    byte[] nested = tlv(0x20, tlv(0x20, tlv(0x20, new byte[5])));
    assertThat(read(binary(CLIENT, LOCAL, nested))).isNotNull();
    assertRefused(binary(CLIENT, LOCAL, (byte) 1), "does not fit");
    assertRefused(binary(CLIENT, LOCAL, (byte) 1, (byte) 0, (byte) 1), "does not fit");
    byte[] sealed = sealed(binary(CLIENT, LOCAL, tlv(0x03, new byte[4])));
    assertThat(read(sealed)).isEqualTo(new ProxyHeader(CLIENT, LOCAL, sealed.length));
    sealed[20]++;
    assertRefused(sealed, "checksum");
    assertRefused(binary(CLIENT, LOCAL, tlv(0x03, new byte[3])), "checksum");
  }

  /** Cut anywhere a header is awaited; spoiled, it is one, none, or awaited, and never too long. */
  @Test
  void whateverComesTheVerdictIsTheSameHoweverItIsCut() {
    SplittableRandom random = new SplittableRandom(FuzzBudget.SEED);
    FuzzBudget budget = new FuzzBudget(20_000);
    while (budget.hasNext()) {
      byte[] octets = GOOD.get(random.nextInt(GOOD.size())).clone();
      for (int i = random.nextInt(3); i > 0; i--) {
        octets[random.nextInt(octets.length)] = (byte) random.nextInt();
      }
      if (random.nextInt(4) == 0) {
        octets = Arrays.copyOf(octets, random.nextInt(2 * octets.length));
      }
      String whole = verdict(octets, octets.length);
      int cut = random.nextInt(octets.length + 1);
      String begun = verdict(octets, cut);
      assertThat(begun.equals("more") || begun.equals(whole) || begun.startsWith("no"))
          .as("seed %d, cut at %d: %s then %s", FuzzBudget.SEED, cut, begun, whole)
          .isTrue();
      assertThat(begun.startsWith("no") && !whole.startsWith("no")).isFalse();
    }
    budget.report("PROXY headers");
  }

  private static String verdict(byte[] octets, int length) {
    try {
      ProxyHeader header = read(Arrays.copyOf(octets, length));
      if (header == null) {
        return "more";
      }
      assertThat(header.length()).isBetween(8, Math.min(length, ProxyHeader.MOST_OCTETS));
      return header.toString();
    } catch (ProxyHeader.Malformed refused) {
      return "no: " + refused.getMessage();
    }
  }
}
