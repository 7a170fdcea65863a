package io.kamille.launcher.service;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What is written is read, and what is damaged, foreign or too long counts as nothing. */
class StateMessageTest {

  private static final Map<String, String> VALUES =
      Map.of("secret", "00ff", "origin a 0 http://b/?x", "OUT 1=2");

  @Test
  void whatIsWrittenIsRead() {
    assertThat(StateMessage.read(StateMessage.write(VALUES))).isEqualTo(VALUES);
    assertThat(StateMessage.read(StateMessage.write(Map.of()))).isEmpty();
  }

  @Test
  void anotherVersionCountsAsNothing() {
    String other = StateMessage.write(VALUES).replaceFirst("state 1", "state 2");
    assertThat(StateMessage.read(other)).isEmpty();
    assertThat(StateMessage.read("")).isEmpty();
  }

  @Test
  void aMessageThatIsCutOffAnywhereCountsAsNothing() {
    String whole = StateMessage.write(VALUES);
    for (int length = 0; length < whole.length(); length++) {
      assertThat(StateMessage.read(whole.substring(0, length))).isEmpty();
    }
  }

  @Test
  void aMessageWithAnyOtherCharacterCountsAsNothing() {
    String whole = StateMessage.write(VALUES);
    Random random = new Random(1);
    for (int at = 0; at < whole.length(); at++) {
      char other = (char) (whole.charAt(at) ^ 1 + random.nextInt(127));
      String damaged = whole.substring(0, at) + other + whole.substring(at + 1);
      assertThat(StateMessage.read(damaged)).as(damaged).isEmpty();
    }
  }

  @Test
  void whatIsTakenIsReadWhateverElseIsOffered() {
    Random random = new Random(2);
    for (int round = 0; round < 500; round++) {
      Map<String, String> values = new LinkedHashMap<>();
      for (int i = random.nextInt(20); i > 0; i--) {
        values.put(text(random, 10), text(random, random.nextInt(40) == 0 ? 70_000 : 30));
      }
      values.put("secret", "00ff");
      Map<String, String> read = StateMessage.read(StateMessage.write(values));
      assertThat(read).containsEntry("secret", "00ff");
      assertThat(values).containsAllEntriesOf(read);
    }
  }

  private static String text(Random random, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      boolean isOdd = random.nextInt(50) == 0;
      text.append((char) (isOdd ? random.nextInt(0x100) : ' ' + random.nextInt(95)));
    }
    return text.toString();
  }

  @Test
  void whatIsTooLongIsLeftOutAndWhatComesFirstStays() {
    Map<String, String> many = new LinkedHashMap<>(Map.of("secret", "00ff"));
    for (int i = 0; i < 10_000; i++) {
      many.put("origin " + i, "OUT");
    }
    String message = StateMessage.write(many);
    assertThat(message.length()).isLessThanOrEqualTo(StateMessage.MOST_BYTES);
    assertThat(StateMessage.read(message))
        .containsEntry("secret", "00ff")
        .hasSizeBetween(1_000, 9_999);
  }

  @Test
  void whatCannotStandInALineIsLeftOut() {
    Map<String, String> odd = Map.of("a", "one\ntwo", "b=", "c", "d", "\u00e9", "e", "f");
    assertThat(StateMessage.read(StateMessage.write(odd))).isEqualTo(Map.of("e", "f"));
  }
}
