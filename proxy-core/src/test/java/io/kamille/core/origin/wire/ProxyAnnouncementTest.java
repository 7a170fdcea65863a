package io.kamille.core.origin.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.ProxyAnnouncement;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The PROXY header that an origin gets, as the protocol of 2020 has it. */
class ProxyAnnouncementTest {

  private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";

  private static ByteBuf header(ProxyAnnouncement version, String client, String local) {
    var from = client.isEmpty() ? InetSocketAddress.createUnresolved("x", 1) : at(client, 40_000);
    var exchange =
        new Exchange(
            new EmbeddedChannel().eventLoop(),
            from,
            at(local, 443),
            new RequestHead(),
            RequestContent.NONE,
            new RecordingReply());
    return version.of(exchange, UnpooledByteBufAllocator.DEFAULT);
  }

  private static InetSocketAddress at(String address, int port) {
    return new InetSocketAddress(address, port);
  }

  private static String line(String client, String local) {
    ByteBuf header = header(ProxyAnnouncement.V1, client, local);
    String text = header.toString(StandardCharsets.US_ASCII);
    header.release();
    return text;
  }

  private static String octets(String client, String local) {
    ByteBuf header = header(ProxyAnnouncement.V2, client, local);
    String text = ByteBufUtil.hexDump(header);
    header.release();
    return text;
  }

  @Test
  void versionOneIsALine() {
    assertThat(line("192.0.2.7", "192.0.2.1"))
        .isEqualTo("PROXY TCP4 192.0.2.7 192.0.2.1 40000 443\r\n");
    assertThat(line("2001:db8::7", "2001:db8::1"))
        .isEqualTo("PROXY TCP6 2001:db8::7 2001:db8::1 40000 443\r\n");
  }

  @Test
  void versionTwoIsOctets() {
    assertThat(octets("192.0.2.7", "192.0.2.1"))
        .isEqualTo(SIGNATURE + "2111000c" + "c0000207" + "c0000201" + "9c40" + "01bb");
    assertThat(octets("2001:db8::7", "2001:db8::1"))
        .isEqualTo(
            SIGNATURE
                + "21210024"
                + "20010db8000000000000000000000007"
                + "20010db8000000000000000000000001"
                + "9c4001bb");
  }

  @Test
  void aConnectionWithoutAClientIsNobodys() {
    ByteBuf line = ProxyAnnouncement.V1.ofNobody(UnpooledByteBufAllocator.DEFAULT);
    assertThat(line.toString(StandardCharsets.US_ASCII)).isEqualTo("PROXY UNKNOWN\r\n");
    line.release();
    ByteBuf octets = ProxyAnnouncement.V2.ofNobody(UnpooledByteBufAllocator.DEFAULT);
    assertThat(ByteBufUtil.hexDump(octets)).isEqualTo(SIGNATURE + "20000000");
    octets.release();
  }

  @Test
  void addressesThatDoNotGoTogetherAreUnknown() {
    assertThat(line("192.0.2.7", "2001:db8::1")).isEqualTo("PROXY UNKNOWN\r\n");
    assertThat(octets("2001:db8::7", "192.0.2.1")).isEqualTo(SIGNATURE + "21000000");
    assertThat(line("", "192.0.2.1")).isEqualTo("PROXY UNKNOWN\r\n");
    assertThat(octets("", "192.0.2.1")).isEqualTo(SIGNATURE + "21000000");
  }
}
