package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PeakMixTest {

  private static final int OBJECTS = 200;
  private static final int MANY = 20_000;

  private final PeakMix mix = new PeakMix("a", OBJECTS, 0.7, 0.55, 0.1, 1);

  private static String text(LoadRequest request) {
    return StandardCharsets.US_ASCII.decode(request.octets(false)).toString();
  }

  @Test
  void soManyRequestsAreRepeatsAndFourOfFiveMayBeStored() {
    int repeats = 0;
    int unstorable = 0;
    for (int i = 0; i < MANY; i++) {
      LoadRequest request = mix.next();
      repeats += mix.isRepeat(request) ? 1 : 0;
      unstorable += text(request).contains("fresh=0") ? 1 : 0;
    }
    assertThat((double) repeats / MANY).isCloseTo(0.55, within(0.02));
    assertThat((double) unstorable / MANY).isCloseTo(0.20, within(0.02));
  }

  @Test
  void whatIsNotRepeatedIsNew() {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < MANY; i++) {
      LoadRequest request = mix.next();
      if (!mix.isRepeat(request)) {
        assertThat(seen.add(text(request))).isTrue();
      }
    }
  }

  @Test
  void fillingAsksForEachObjectOnceAndThenRepeats() {
    RequestSource filling = mix.filling();
    Set<LoadRequest> seen = new HashSet<>();
    for (int i = 0; i < OBJECTS; i++) {
      assertThat(seen.add(filling.next())).isTrue();
    }
    assertThat(seen).allMatch(mix::isRepeat);
    assertThat(seen).contains(filling.next());
  }

  @Test
  void theOriginThinksForTheScaledTime() {
    for (int i = 0; i < MANY; i++) {
      String text = text(mix.next());
      int at = text.indexOf("think=") + "think=".length();
      int millis = Integer.parseInt(text.substring(at).split("[& ]", 2)[0]);
      assertThat(millis).isBetween(150, 450);
    }
  }
}
