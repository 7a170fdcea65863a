package io.kamille.admin.auth;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.auth.Sessions.Opened;
import io.kamille.core.loop.ManualClock;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How many browsers a token can sign in. */
class SessionsTest {

  private static final int MOST = 10;

  private final Sessions sessions = new Sessions(ManualClock.atSeconds(1_795_251_660L));
  private final Identity administrator = Identity.ofFile("192.0.2.1");
  private final Identity owner =
      new Identity("id", "name", Scope.READ, Identity.Via.TOKEN, "192.0.2.2", true);

  @ParameterizedTest
  @ValueSource(ints = {10, 11, 1_000})
  void ofTooManySessionsTheOldestOfTheSameTokenEnds(int opened) {
    Opened other = sessions.open(administrator);
    List<Opened> all = IntStream.range(0, opened).mapToObj(_ -> sessions.open(owner)).toList();
    assertThat(all.stream().filter(this::holds))
        .containsExactlyElementsOf(all.subList(opened - MOST, opened));
    assertThat(holds(other)).as("of somebody else").isTrue();
  }

  private boolean holds(Opened session) {
    return sessions.find(session.cookie(), session.key(), "192.0.2.3") != null;
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 11, 1_000})
  void ofTooManyCodesTheOldestOfTheSameTokenIsVoid(int given) {
    String other = sessions.code(administrator);
    List<String> all = IntStream.range(0, given).mapToObj(_ -> sessions.code(owner)).toList();
    assertThat(all.stream().filter(code -> owner.equals(sessions.redeem(code))))
        .containsExactlyElementsOf(all.subList(given - MOST, given));
    assertThat(sessions.redeem(other)).as("of somebody else").isEqualTo(administrator);
  }
}
