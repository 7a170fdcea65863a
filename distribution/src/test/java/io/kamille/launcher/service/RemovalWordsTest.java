package io.kamille.launcher.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes.Note;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.cache.rules.Tags;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A removal means the same on the other side, and whatever is not understood removes everything.
 */
class RemovalWordsTest {

  private final List<Object> heard = new ArrayList<>();

  private final RemovalListener listener =
      new RemovalListener() {
        @Override
        public void removed(CacheKey key) {
          heard.add(key);
        }

        @Override
        public void purged(Note note) {
          heard.add(note);
        }

        @Override
        public void cleared() {
          heard.add("all");
        }
      };

  @Test
  void aKeyArrives() throws IOException {
    RemovalWords.play(RemovalWords.remove(-1, 7), listener);
    assertThat(heard).containsExactly(CacheKey.of(-1, 7));
  }

  @Test
  void aPurgeArrives() throws IOException {
    Note note = new Note(5, true, 77, List.of("http://a/ü b", ""), Tags.ofBits(1, -2));
    RemovalWords.play(RemovalWords.purge(note), listener);
    Note arrived = (Note) heard.getFirst();
    assertThat(arrived.isSoft()).isTrue();
    assertThat(arrived.epochSeconds()).isEqualTo(77);
    assertThat(arrived.prefixes()).containsExactly("http://a/ü b", "");
    assertThat(arrived.tags().size()).isEqualTo(2);
    assertThat(arrived.tags().at(1)).isEqualTo(-2);
  }

  @Test
  void aPurgeThatIsTooLongForAMessageClears() throws IOException {
    Note note = new Note(5, false, 0, List.of("a".repeat(40_000)), Tags.NONE);
    RemovalWords.play(RemovalWords.purge(note), listener);
    assertThat(heard).containsExactly("all");
  }

  @Test
  void whatCannotBeDoneClearsToo() {
    RemovalListener failing =
        new RemovalListener() {
          @Override
          public void removed(CacheKey key) {
            throw new IllegalStateException("at its end");
          }

          @Override
          public void purged(Note note) {}

          @Override
          public void cleared() {
            listener.cleared();
          }
        };
    assertThatThrownBy(() -> RemovalWords.play(RemovalWords.remove(1, 2), failing))
        .isInstanceOf(IOException.class);
    assertThat(heard).containsExactly("all");
  }

  @Test
  void whateverElseIsSaidClears() {
    for (String words :
        new String[] {
          "remove 12",
          "remove " + "x".repeat(32),
          "purge",
          "purge hard",
          "purge hard x :",
          "purge hard 1 ",
          "purge hard 1 : ?",
          "purge hard 1 :zzzzzzzzzzzzzzzz",
          "other"
        }) {
      heard.clear();
      assertThatThrownBy(() -> RemovalWords.play(words, listener))
          .as(words)
          .isInstanceOf(IOException.class);
      assertThat(heard).as(words).containsExactly("all");
    }
  }
}
