package io.kamille.core.server.h1;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.admission.ClientTally;
import io.kamille.core.admission.Shedder;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections in their order, and walks over them that change them. */
class ConnectionListTest {

  private final EmbeddedChannel channel =
      new EmbeddedChannel() {
        @Override
        protected SocketAddress remoteAddress0() {
          return new InetSocketAddress(0);
        }

        @Override
        protected SocketAddress localAddress0() {
          return new InetSocketAddress(0);
        }
      };
  private final H1Loop shared =
      new H1Loop(
          channel.eventLoop(),
          "kamille",
          H1Settings.DEFAULT,
          (configured, leaving) -> configured,
          exchange -> {},
          (exchange, status, contentBytes, start, end) -> {},
          () -> 0,
          () -> 0,
          Shedder.off());
  private final ConnectionList list = new ConnectionList();
  private final ConnectionList other = new ConnectionList();
  private final List<ClientConnection> all =
      Stream.generate(() -> new ClientConnection(shared, channel, false, ClientTally.UNLIMITED))
          .limit(5)
          .toList();
  private final List<ClientConnection> met = new ArrayList<>();

  ConnectionListTest() {
    all.forEach(list::append);
  }

  @AfterEach
  void closed() {
    channel.close();
  }

  @Test
  void anActionMayRemoveItsOwn() {
    list.forEach(
        connection -> {
          met.add(connection);
          ConnectionList.remove(connection);
        });
    assertThat(met).isEqualTo(all);
    assertThat(list.first()).isNull();
  }

  @Test
  void anActionMayRemoveTheNextAndTheOthersAreStillMet() {
    list.forEach(
        connection -> {
          met.add(connection);
          if (connection == all.get(0)) {
            ConnectionList.remove(all.get(1));
            ConnectionList.remove(all.get(2));
          }
        });
    assertThat(met).containsExactly(all.get(0), all.get(3), all.get(4));
  }

  @Test
  void anActionMayMoveTheNextToAnotherList() {
    list.forEach(
        connection -> {
          met.add(connection);
          if (connection == all.get(0)) {
            other.append(all.get(1));
          }
        });
    assertThat(met).containsExactly(all.get(0), all.get(2), all.get(3), all.get(4));
    assertThat(other.first()).isSameAs(all.get(1));
  }

  @Test
  void anActionMayRemoveAllTheOthers() {
    list.forEach(
        connection -> {
          met.add(connection);
          all.subList(1, 5).forEach(ConnectionList::remove);
        });
    assertThat(met).containsExactly(all.get(0));
    assertThat(list.first()).isSameAs(all.get(0));
  }
}
