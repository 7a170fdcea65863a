package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.PathClients.Fetcher;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PathClientsIT {

  private static final Duration PART = Duration.ofMillis(20);

  private final Responder origin = Responder.open();
  private final InetSocketAddress server =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), origin.port());

  private static Fetcher fetcher(int octetsPerSecond) {
    return new Fetcher(0, "127.0.0.2", octetsPerSecond, Duration.ZERO);
  }

  @Test
  void eachReadsAsItMay() throws Exception {
    var fetchers = List.of(fetcher(Fetcher.UNLIMITED), fetcher(1000), fetcher(0));
    long fetched = 0;
    long slowly = 0;
    try (origin;
        var clients = PathClients.open(server, "a", OriginTarget.of(1, 1 << 20), fetchers)) {
      while (fetched < 4 << 20 || slowly == 0) {
        List<Long> octets = clients.run(Duration.ZERO, PART);
        fetched += octets.get(0);
        slowly += octets.get(1);
        assertThat(octets.get(1)).isLessThanOrEqualTo(100);
        assertThat(octets.get(2)).isZero();
      }
    }
  }

  @Test
  void usersOfTheWebAreAnswered() throws Exception {
    var locals = List.of("127.0.0.2", "127.0.0.3");
    try (origin) {
      for (boolean arePersistent : new boolean[] {false, true}) {
        SurgeClients.Outcome outcome;
        do {
          outcome = SurgeClients.run(server, "a", locals, arePersistent, 1, 1, Duration.ZERO, PART);
        } while (outcome.responses() == 0);
        assertThat(outcome.meanNanos()).isPositive();
      }
    }
  }
}
