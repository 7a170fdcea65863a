package io.kamille.launcher.version;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NumberedTextsTest {

  private record Known(String by) {}

  @TempDir private Path directory = Path.of("");

  private NumberedTexts<Known> opened() throws IOException {
    return NumberedTexts.open(directory, "# known ", Known.class);
  }

  @Test
  void aTextOutlivesARestart() throws IOException {
    opened().put(1, new Known("a"), "text\nof two lines\n");
    NumberedTexts<Known> again = opened();
    assertThat(again.known()).containsEntry(1, new Known("a"));
    assertThat(again.text(1)).isEqualTo("text\nof two lines\n");
  }

  @Test
  void noNumberComesAgain() throws IOException {
    NumberedTexts<Known> texts = opened();
    texts.put(1, new Known("a"), "one");
    texts.put(2, new Known("a"), "two");
    texts.remove(2);
    assertThat(texts.next()).isEqualTo(3);
    NumberedTexts<Known> again = opened();
    assertThat(again.known()).containsOnlyKeys(1);
    assertThat(again.next()).isEqualTo(3);
    again.put(3, new Known("a"), "three");
    assertThat(directory.resolve("2.yaml")).doesNotExist();
  }

  @Test
  void whatSomebodyElseWroteStays() throws IOException {
    Path foreign = Files.writeString(directory.resolve("7.yaml"), "not ours");
    NumberedTexts<Known> texts = opened();
    assertThat(texts.known()).isEmpty();
    texts.put(texts.next(), new Known("a"), "text");
    assertThat(texts.known()).containsOnlyKeys(8);
    assertThat(foreign).hasContent("not ours");
  }
}
