package io.kamille.core.origin.choose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kamille.core.setting.Sections;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SplitSettingsTest {

  private static final int CLIENTS = 20_000;

  @Test
  void theOtherGetsItsShareOfTheClients() throws Exception {
    for (double share : new double[] {0.01, 0.05, 0.5, 1}) {
      assertThat((double) clients(share).size() / CLIENTS).isCloseTo(share, within(0.005));
    }
  }

  @Test
  void aClientStaysWhereItIsAndAGreaterShareTakesNobodyBack() throws Exception {
    Set<Integer> some = clients(0.05);
    assertThat(clients(0.05)).isEqualTo(some);
    assertThat(clients(0.2)).containsAll(some);
  }

  private static Set<Integer> clients(double share) throws UnknownHostException {
    SplitSettings settings =
        Sections.of(SplitSettings.SECTION, "{upstream: canary, share: %s}", share);
    Set<Integer> others = new HashSet<>();
    for (int client = 0; client < CLIENTS; client++) {
      byte[] octets = {10, (byte) (client >> 16), (byte) (client >> 8), (byte) client};
      if (settings.takes(InetAddress.getByAddress(octets))) {
        others.add(client);
      }
    }
    return others;
  }
}
