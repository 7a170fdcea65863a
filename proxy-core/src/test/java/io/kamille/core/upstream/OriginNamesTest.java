package io.kamille.core.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OriginNamesTest {

  private final Map<String, InetAddress[]> known = new HashMap<>();
  private final OriginNames names = OriginNames.open(this::find);
  private final Origin origin = UpstreamSettings.DEFAULTS.origin("origin.test", 80, 1);

  @AfterEach
  void close() {
    names.close();
  }

  @Test
  void aNameIsLookedUpBeforeTheFirstRequest() {
    known.put("origin.test", addresses(1));
    names.watch(List.of(origin));
    assertThat(origin.address()).isEqualTo(address(1));
  }

  @Test
  void anUnknownNameHasNoAddress() {
    names.watch(List.of(origin));
    assertThat(origin.address()).isNull();
  }

  @Test
  void aNewAddressIsTakenAndALostNameKeepsTheOldOne() {
    known.put("origin.test", addresses(1));
    names.watch(List.of(origin));
    known.put("origin.test", addresses(2));
    names.refresh();
    assertThat(origin.address()).isEqualTo(address(2));
    known.clear();
    names.refresh();
    assertThat(origin.address()).isEqualTo(address(2));
  }

  @Test
  void anAddressIsTheOriginsUntilThreeLookUpsOnEndHaveNotNamedIt() {
    lookUp(1);
    lookUp(2);
    lookUp(2);
    assertThat(origin.isAt(address(1))).isTrue();
    lookUp(2);
    assertThat(origin.isAt(address(1))).isFalse();
    assertThat(origin.isAt(address(2))).isTrue();
  }

  @Test
  void aLookUpThatFailsForgetsNothing() {
    lookUp(1);
    lookUp(2);
    known.clear();
    names.refresh();
    names.refresh();
    names.refresh();
    assertThat(origin.isAt(address(1))).isTrue();
  }

  @Test
  void aNameThatTellsAPartOfItsAddressesAtATimeHasAllOfThem() {
    lookUp(1, 2);
    lookUp(3, 4);
    lookUp(5, 6);
    for (int round = 0; round < 10; round++) {
      lookUp(1, 2);
      assertThat(origin.address()).as("what is named now").isIn(address(1), address(2));
      lookUp(3, 4);
      lookUp(5, 6);
      for (int last = 1; last <= 6; last++) {
        assertThat(origin.isAt(address(last))).isTrue();
      }
    }
  }

  @Test
  void anAddressThatFailedGivesWayToTheNextOnce() {
    known.put("origin.test", addresses(1, 2));
    names.watch(List.of(origin));
    origin.passOver(address(1));
    origin.passOver(address(1));
    assertThat(origin.address()).isEqualTo(address(2));
  }

  private void lookUp(int... last) {
    known.put("origin.test", addresses(last));
    if (origin.addressCount() == 0) {
      names.watch(List.of(origin));
    } else {
      names.refresh();
    }
  }

  private InetAddress[] find(String host) throws UnknownHostException {
    InetAddress @Nullable [] found = known.get(host);
    if (found == null) {
      throw new UnknownHostException(host);
    }
    return found;
  }

  private static InetAddress[] addresses(int... last) {
    InetAddress[] all = new InetAddress[last.length];
    for (int i = 0; i < last.length; i++) {
      all[i] = address(last[i]).getAddress();
    }
    return all;
  }

  private static InetSocketAddress address(int last) {
    return new InetSocketAddress("127.0.0." + last, 80);
  }
}
