package io.kamille.core.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ClientTableTest {

  private static final InetSocketAddress PEER = new InetSocketAddress("192.0.2.1", 0);

  private final ClientTable table = new ClientTable(limits(2, 1), AddressMask.FULL, () -> 0);

  @Test
  void aClientHasSoManyConnectionsAndNoMore() {
    ClientTable.Tally first = entered("192.0.2.1");
    entered("192.0.2.1");
    assertThat(enter("192.0.2.1")).isNull();
    assertThat(enter("192.0.2.2")).isNotNull();
    assertThat(table.refusedConnections()).isEqualTo(1);
    first.leave();
    assertThat(enter("192.0.2.1")).isSameAs(first);
  }

  @Test
  void aNetworkOfIpv6IsOneClient() {
    entered("2001:db8:1:2::1");
    entered("2001:db8:1:2:ffff::9");
    assertThat(enter("2001:db8:1:2:3::")).isNull();
    assertThat(enter("2001:db8:1:3::1")).isNotNull();
  }

  @Test
  void everyIpv4AddressIsAClient() {
    for (int i = 0; i < 3; i++) {
      assertThat(enter("192.0.2." + i)).isNotNull();
      assertThat(enter("192.0.2." + i)).isNotNull();
      assertThat(enter("192.0.2." + i)).isNull();
    }
  }

  @Test
  void aClientWithoutConnectionsIsForgotten() {
    List<ClientTable.Tally> tallies = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      tallies.add(entered("192.0.2." + i));
    }
    assertThat(table.clients()).isEqualTo(100);
    tallies.forEach(ClientTable.Tally::leave);
    assertThat(table.clients()).isZero();
    assertThat(entered("192.0.2.1")).isNotSameAs(tallies.get(1));
  }

  @Test
  void whoHasNoLimitIsNotCounted() {
    table.limits(new ClientLimits(1, 1, AddressRanges.parse(List.of("192.0.2.0/24"))));
    for (int i = 0; i < 5; i++) {
      ClientTable.Tally tally = entered("192.0.2.1");
      tally.requestBegun(PEER);
      assertThat(tally.refusesRequest(PEER)).isFalse();
    }
    assertThat(table.clients()).isZero();
    table.limits(ClientLimits.NONE);
    assertThat(enter("10.0.0.1")).isNotNull();
    assertThat(table.clients()).isZero();
  }

  @Test
  void aClientHasSoManyRequestsUnderWayAndNoMore() {
    ClientTable.Tally one = entered("192.0.2.1");
    ClientTable.Tally other = entered("192.0.2.1");
    assertThat(one.refusesRequest(PEER)).isFalse();
    one.requestBegun(PEER);
    assertThat(other.refusesRequest(PEER)).isTrue();
    assertThat(table.refusedRequests()).isEqualTo(1);
    one.requestOver(one);
    assertThat(other.refusesRequest(PEER)).isFalse();
  }

  @Test
  void anotherLimitHoldsForTheNextConnectionAndTheNextRequest() {
    ClientTable.Tally tally = entered("192.0.2.1");
    tally.requestBegun(PEER);
    table.limits(limits(1, 2));
    assertThat(enter("192.0.2.1")).isNull();
    assertThat(tally.refusesRequest(PEER)).isFalse();
  }

  @Test
  void whoIsDeniedIsNotCounted() {
    AccessList denied = new AccessList(AddressRanges.NONE, AddressRanges.parse(List.of("::/0")));
    assertThat(table.enter(denied, InetAddress.ofLiteral("::1"))).isNull();
    assertThat(table.denied()).isEqualTo(1);
    assertThat(table.refusedConnections()).isZero();
    assertThat(table.clients()).isZero();
  }

  /** Threads that come and go at once: the limit holds, and nothing is left at the end. */
  @Test
  void loopsThatCountTheSameClientDoNotLoseCount() throws InterruptedException {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    for (int n = 0; n < 20_000; n++) {
                      ClientTable.Tally tally = enter("192.0.2.1");
                      if (tally != null) {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        inside.decrementAndGet();
                        tally.leave();
                      }
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(most.get()).isBetween(1, 2);
    assertThat(table.clients()).isZero();
  }

  @Test
  void requestsOfATrustedProxyCountForTheClientThatTheyName() {
    table.limits(limits(1, 1));
    InetSocketAddress client = new InetSocketAddress("192.0.2.1", 0);
    InetSocketAddress other = new InetSocketAddress("192.0.2.2", 0);
    ClientTable.Tally proxy =
        Objects.requireNonNull(table.enterProxy(AccessList.ALL, InetAddress.ofLiteral("10.0.0.1")));
    assertThat(table.clients()).isZero();
    ClientTable.Tally counted = proxy.requestBegun(client);
    assertThat(proxy.refusesRequest(client)).isTrue();
    assertThat(proxy.refusesRequest(other)).isFalse();
    // Its requests are no connections of it: it may connect itself, but not ask.
    ClientTable.Tally direct = entered("192.0.2.1");
    assertThat(direct.refusesRequest(client)).isTrue();
    direct.leave();
    counted.requestOver(proxy);
    assertThat(proxy.refusesRequest(client)).isFalse();
    assertThat(table.clients()).isZero();
    assertThat(table.enterProxy(denied(), InetAddress.ofLiteral("10.0.0.1"))).isNull();
  }

  private static AccessList denied() {
    return new AccessList(AddressRanges.NONE, AddressRanges.parse(List.of("10.0.0.0/8")));
  }

  private ClientTable.Tally entered(String address) {
    return Objects.requireNonNull(enter(address));
  }

  private ClientTable.@Nullable Tally enter(String address) {
    return table.enter(AccessList.ALL, InetAddress.ofLiteral(address));
  }

  private static ClientLimits limits(int connections, int requests) {
    return new ClientLimits(connections, requests, AddressRanges.NONE);
  }
}
