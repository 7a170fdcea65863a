package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.ThreeNodes;
import io.kamille.cluster.settings.ClusterSettings.Discovery;
import io.kamille.core.origin.names.NameLookup;
import io.kamille.core.setting.HostPort;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemberAddressesTest {

  private static final String SERVICE = "_kamille._tcp.shop.test";

  @TempDir private Path directory;

  private final NameLookup lookup =
      new NameLookup() {
        @Override
        public CompletableFuture<Answer> find(String host) {
          return CompletableFuture.failedFuture(new UnknownHostException(host));
        }

        @Override
        public CompletableFuture<Services> services(String name) {
          return services == null || !name.equals(SERVICE)
              ? CompletableFuture.failedFuture(new UnknownHostException(name))
              : CompletableFuture.completedFuture(services);
        }
      };
  private NameLookup.@Nullable Services services;

  private List<InetSocketAddress> found() throws Exception {
    ThreeNodes nodes = new ThreeNodes(directory);
    return new MemberAddresses(
            nodes.settings("a", nodes.port("a"), new Discovery(List.of(), null, SERVICE)),
            _ -> lookup)
        .get();
  }

  @Test
  void aServiceNamesTheAddressAndThePortOfEachNode() throws Exception {
    services =
        new NameLookup.Services(
            List.of(
                new NameLookup.Service(0, 0, "127.0.0.1", 7800),
                new NameLookup.Service(0, 0, "127.0.0.2", 7900),
                new NameLookup.Service(0, 0, "127.0.0.1", 7800)),
            Duration.ofMinutes(1));
    assertThat(found())
        .containsExactly(
            new HostPort("127.0.0.1", 7800).socketAddress(),
            new HostPort("127.0.0.2", 7900).socketAddress());
  }

  @Test
  void aServiceThatNobodyKnowsIsNobody() throws Exception {
    assertThat(found()).isEmpty();
  }
}
