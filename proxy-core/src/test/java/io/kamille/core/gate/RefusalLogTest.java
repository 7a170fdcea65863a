package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.ManualClock;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the operational log says of refusals. */
class RefusalLogTest {

  private final ManualClock clock = ManualClock.atSeconds(0);

  private static InetAddress address(String text) throws UnknownHostException {
    return InetAddress.getByAddress(NetUtil.createByteArrayFromIpAddressString(text));
  }

  @Test
  void oneLineInTenSecondsTellsOfAll() throws UnknownHostException {
    RefusalLog log = new RefusalLog("refused {} calls", AddressMask.FULL, clock::nanos);
    InetAddress client = address("192.0.2.7");
    assertThat(log.line(client, "")).isEqualTo("refused 1 calls, the last of 192.0.2.7");
    assertThat(log.line(client, "")).isNull();
    clock.advance(Duration.ofSeconds(10));
    assertThat(log.line(client, ": why")).isEqualTo("refused 2 calls, the last of 192.0.2.7: why");
    assertThat(log.count()).isEqualTo(3);
  }

  @Test
  void maskedClientsAreNamedByTheirNetwork() throws UnknownHostException {
    RefusalLog log = new RefusalLog("refused {}", AddressMask.MASKED, clock::nanos);
    assertThat(log.line(address("192.0.2.7"), "")).endsWith(" of 192.0.2.0");
    clock.advance(Duration.ofSeconds(10));
    assertThat(log.line(address("2001:db8:1:2:3::4"), "")).endsWith(" of 2001:db8:1::");
    clock.advance(Duration.ofSeconds(10));
    assertThat(log.line(null, "")).endsWith(" of unknown");
  }
}
