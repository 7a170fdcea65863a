package io.kamille.core.origin.choose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeHandler;
import io.kamille.core.exchange.RecordingReply;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.origin.HashKey;
import io.kamille.core.setting.Sections;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SplitHandlerTest {

  private static final int CLIENTS = 20_000;

  private final EmbeddedChannel channel = new EmbeddedChannel();

  @AfterEach
  void close() {
    channel.close();
  }

  @Test
  void theOtherGetsItsShareOfTheClients() throws Exception {
    for (double share : new double[] {0.01, 0.05, 0.5, 1}) {
      int others = clients(share, HashKey.ADDRESS).size();
      assertThat((double) others / CLIENTS).isCloseTo(share, within(0.005));
    }
  }

  @Test
  void aClientStaysWhereItIsAndAGreaterShareTakesNobodyBack() throws Exception {
    Set<Integer> some = clients(0.05, HashKey.ADDRESS);
    assertThat(clients(0.05, HashKey.ADDRESS)).isEqualTo(some);
    assertThat(clients(0.2, HashKey.ADDRESS)).containsAll(some);
  }

  @Test
  void aCookieTellsClientsApartWhereverTheyComeFrom() throws Exception {
    HashKey key = new HashKey(HashKey.Part.COOKIE, "id");
    for (int id = 0; id < 100; id++) {
      String cookie = "id=" + id;
      assertThat(isOther(0.5, key, exchange(1, "Cookie", cookie)))
          .isEqualTo(isOther(0.5, key, exchange(2, "Cookie", cookie)));
    }
    assertThat(clients(0.5, key)).as("by address without the cookie").hasSizeBetween(9_000, 11_000);
  }

  @Test
  void withoutAnotherNothingStandsBetween() {
    ExchangeHandler usual = exchange -> {};
    assertThat(SplitHandler.of(SplitSettings.SECTION.defaults(), usual, null)).isSameAs(usual);
  }

  private Set<Integer> clients(double share, HashKey key) throws UnknownHostException {
    Set<Integer> others = new HashSet<>();
    for (int client = 0; client < CLIENTS; client++) {
      if (isOther(share, key, exchange(client))) {
        others.add(client);
      }
    }
    return others;
  }

  private static boolean isOther(double share, HashKey key, Exchange exchange) {
    AtomicBoolean other = new AtomicBoolean();
    var settings =
        Sections.copy(SplitSettings.SECTION.defaults())
            .with("upstream", "canary")
            .with("share", share)
            .with("key", key)
            .record();
    SplitHandler.of(settings, asked -> {}, asked -> other.set(true)).handle(exchange);
    return other.get();
  }

  private Exchange exchange(int client, String... fields) throws UnknownHostException {
    byte[] octets = {10, (byte) (client >> 16), (byte) (client >> 8), (byte) client};
    var address = new InetSocketAddress(InetAddress.getByAddress(octets), 40_000);
    return new Exchange(
        channel.eventLoop(),
        address,
        address,
        RequestHead.of("GET", "http://example.org/", fields),
        RequestContent.NONE,
        new RecordingReply());
  }
}
