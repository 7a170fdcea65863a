package io.kamille.core.origin.dial;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.UpstreamSettings;
import io.kamille.core.origin.dial.AddressRace.Runner;
import io.kamille.core.setting.OriginUrl;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The timer goes off by hand. */
class AddressRaceTest {

  private static final Failure REFUSED = Failure.of(ErrorType.CONNECTION_REFUSED, "refused");

  private final Origin origin =
      UpstreamSettings.DEFAULTS.origin(new OriginUrl(false, "origin.test", 80), 1);
  private final List<Attempt> attempts = new ArrayList<>();
  private final List<Failure> lost = new ArrayList<>();
  private @Nullable Runnable timer;

  private static final class Attempt implements Runner {

    private final InetSocketAddress address;
    private boolean isStarted;
    private boolean isAbandoned;

    private Attempt(InetSocketAddress address) {
      this.address = address;
    }

    @Override
    public InetSocketAddress address() {
      return address;
    }

    @Override
    public void start() {
      isStarted = true;
    }

    @Override
    public void abandon() {
      isAbandoned = true;
    }
  }

  private AddressRace begin(int count) throws Exception {
    List<InetAddress> addresses = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      addresses.add(InetAddress.getByName("192.0.2." + i));
    }
    origin.addresses(addresses);
    var race =
        new AddressRace(
            origin,
            origin.addressesInTurn(),
            (_, address) -> {
              Attempt attempt = new Attempt(address);
              attempts.add(attempt);
              return attempt;
            },
            (millis, action) -> {
              assertThat(millis).isEqualTo(AddressRace.HEAD_START_MILLIS);
              timer = action;
              return () -> timer = null;
            },
            lost::add);
    race.next();
    return race;
  }

  private void timerGoesOff() {
    Runnable action = Objects.requireNonNull(timer);
    timer = null;
    action.run();
  }

  private static InetSocketAddress address(int last) {
    return new InetSocketAddress("192.0.2." + last, 80);
  }

  @Test
  void oneAddressIsTriedWithoutATimer() throws Exception {
    AddressRace race = begin(1);
    assertThat(timer).isNull();
    race.failed(attempts.getFirst(), REFUSED);
    assertThat(lost).containsExactly(REFUSED);
  }

  @Test
  void theNextAddressStartsOnceTheHeadStartIsOver() throws Exception {
    begin(3);
    assertThat(attempts).hasSize(1);
    timerGoesOff();
    timerGoesOff();
    assertThat(attempts)
        .extracting(Attempt::address)
        .containsExactly(address(1), address(2), address(3));
    assertThat(attempts).allMatch(attempt -> attempt.isStarted && !attempt.isAbandoned);
    assertThat(timer).isNull();
  }

  @Test
  void theFirstThatIsOpenEndsTheOthersAndIsPreferredFromThenOn() throws Exception {
    AddressRace race = begin(3);
    timerGoesOff();
    race.opened(attempts.get(1));
    assertThat(timer).isNull();
    assertThat(attempts.get(0).isAbandoned).isTrue();
    assertThat(attempts.get(1).isAbandoned).isFalse();
    assertThat(origin.address()).isEqualTo(address(2));
    assertThat(origin.addressesInTurn()).containsExactly(address(2), address(3), address(1));
    assertThat(lost).isEmpty();
  }

  @Test
  void anEarlierOneThatIsOpenStaysPreferred() throws Exception {
    AddressRace race = begin(2);
    timerGoesOff();
    race.opened(attempts.get(0));
    assertThat(attempts.get(1).isAbandoned).isTrue();
    assertThat(origin.address()).isEqualTo(address(1));
  }

  @Test
  void aFailureStartsTheNextAtOnce() throws Exception {
    AddressRace race = begin(2);
    race.failed(attempts.getFirst(), REFUSED);
    assertThat(attempts).hasSize(2);
    assertThat(timer).isNull();
    assertThat(origin.address()).isEqualTo(address(2));
  }

  @Test
  void itIsLostWithTheLastThatRuns() throws Exception {
    AddressRace race = begin(2);
    timerGoesOff();
    race.failed(attempts.get(1), REFUSED);
    assertThat(lost).isEmpty();
    Failure late = Failure.of(ErrorType.CONNECTION_TIMEOUT, "late");
    race.failed(attempts.get(0), late);
    assertThat(lost).containsExactly(late);
  }

  @Test
  void whatFailsInItsHandshakeLeavesTheOtherAddresses() throws Exception {
    AddressRace race = begin(3);
    timerGoesOff();
    race.opened(attempts.get(1));
    race.failed(attempts.get(1), REFUSED);
    timerGoesOff();
    assertThat(attempts)
        .extracting(Attempt::address)
        .containsExactly(address(1), address(2), address(3), address(1));
    assertThat(lost).isEmpty();
  }

  @Test
  void aWinnerThatFailsIsNotTriedAgain() throws Exception {
    AddressRace race = begin(2);
    timerGoesOff();
    race.opened(attempts.get(1));
    race.failed(attempts.get(1), REFUSED);
    assertThat(attempts.get(2).address()).isEqualTo(address(1));
    race.failed(attempts.get(2), REFUSED);
    assertThat(lost).containsExactly(REFUSED);
  }

  @Test
  void ourOwnTroubleStartsNoOtherAndEndsNone() throws Exception {
    AddressRace race = begin(3);
    timerGoesOff();
    Failure ours = Failure.of(ErrorType.CONNECTION_LIMIT_REACHED, "no socket");
    race.failedByUs(attempts.get(1), ours);
    assertThat(timer).isNull();
    assertThat(attempts).hasSize(2).noneMatch(attempt -> attempt.isAbandoned);
    assertThat(lost).isEmpty();
    race.failed(attempts.get(0), REFUSED);
    assertThat(lost).containsExactly(REFUSED);
  }
}
