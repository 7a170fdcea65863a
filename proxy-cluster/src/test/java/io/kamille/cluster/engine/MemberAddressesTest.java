package io.kamille.cluster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cluster.ThreeNodes;
import io.kamille.cluster.settings.ClusterSettings.Discovery;
import io.kamille.core.setting.HostPort;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemberAddressesTest {

  @TempDir private Path directory;

  private List<InetSocketAddress> found(String host, String name) throws Exception {
    ThreeNodes nodes = new ThreeNodes(directory);
    var discovery = new Discovery(List.of(host), name);
    return new MemberAddresses(nodes.settings("a", 7800, discovery)).get();
  }

  @Test
  void aHostHasItsPortAndANameThatOfThisNode() throws Exception {
    assertThat(found("127.0.0.2:7900", "127.0.0.1"))
        .containsExactly(
            new HostPort("127.0.0.2", 7900).socketAddress(),
            new HostPort("127.0.0.1", 7800).socketAddress());
    assertThat(found("127.0.0.1:7800", "127.0.0.1")).hasSize(1);
  }

  @Test
  void aNameThatNobodyKnowsIsNobody() throws Exception {
    assertThat(found("nobody.invalid:7800", "nobody.invalid")).isEmpty();
  }
}
