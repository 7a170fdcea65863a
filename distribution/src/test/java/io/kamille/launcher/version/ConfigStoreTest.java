package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The versions that a process keeps are those that the next one finds. */
class ConfigStoreTest {

  private static final Instant NOW = Instant.parse("2026-11-28T12:00:00Z");

  @TempDir private Path directory;

  @Test
  void whatIsKeptIsFound() throws IOException {
    Random random = new Random(3);
    ConfigStore store = new ConfigStore(directory);
    for (int i = 1; i <= ConfigStore.KEPT + 20; i++) {
      String text = text(random, random.nextInt(50) == 0 ? 100_000 : 200);
      store.add(text, NOW.plusMillis(i), text(random, 64), text(random, 500));
      assertThat(store.text(i)).isEqualTo(text);
      if (i % 40 == 0) {
        ConfigStore next = new ConfigStore(directory);
        assertThat(next.all()).isEqualTo(store.all());
        assertThat(next.text(i)).isEqualTo(text);
        store = next;
      }
    }
    assertThat(store.all()).hasSize(ConfigStore.KEPT);
    assertThat(store.text(20)).as("the oldest are gone").isNull();
  }

  @Test
  void aVersionThatADiskHasSpoiltIsNoneAndTheOthersStay() throws IOException {
    ConfigStore store = new ConfigStore(directory);
    store.add("a: 1\n", NOW, "a", "");
    store.add("b: 1\n", NOW, "b", "");
    Files.write(directory.resolve("2.yaml"), new byte[] {'#', (byte) 0xff, (byte) 0xfe, '\n'});
    ConfigStore next = new ConfigStore(directory);
    assertThat(next.all()).extracting(ConfigVersion::number).containsExactly(1);
    assertThat(next.add("c: 1\n", NOW, "c", "").number()).isEqualTo(3);
  }

  /** Whole characters of all kinds, line ends and quotes among them. */
  private static String text(Random random, int most) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      int character = random.nextInt(4) == 0 ? random.nextInt(0x30000) : random.nextInt(0x80);
      text.appendCodePoint(character >= 0xd800 && character < 0xe000 ? '\r' : character);
    }
    return text.toString();
  }
}
