package io.kamille.launcher.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes.Note;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is removed reaches the other process, and this one again if the other is gone. */
class RemovalFeedTest {

  private static final int MOST_BYTES = 100;

  @TempDir private Path directory;
  private UnixSocket ours;
  private UnixSocket theirs;
  private RemovalFeed feed;
  private final List<String> heard = new ArrayList<>();

  private final RemovalListener listener =
      new RemovalListener() {
        @Override
        public void removed(CacheKey key) {
          heard.add(key.toString());
        }

        @Override
        public void purged(Note note) {
          heard.add("purge");
        }

        @Override
        public void cleared() {
          heard.add("all");
        }
      };

  @BeforeEach
  void connect() throws IOException {
    String path = directory.resolve("socket").toString();
    try (UnixSocket listening = UnixSocket.listen(path)) {
      theirs = UnixSocket.connect(path);
      ours = Objects.requireNonNull(listening.accept());
    }
    feed = new RemovalFeed(ours);
  }

  @AfterEach
  void close() {
    ours.close();
    theirs.close();
  }

  @Test
  void whatWasRemovedBeforeTheEndArrives() throws IOException {
    feed.removed(CacheKey.of(1, 2));
    feed.begin();
    feed.cleared();
    feed.end();
    assertThat(theirs.receive(MOST_BYTES).text()).isEqualTo(RemovalWords.remove(1, 2));
    assertThat(theirs.receive(MOST_BYTES).text()).isEqualTo(RemovalWords.CLEAR);
  }

  @Test
  void whatIsTakenBackIsToldFromTheBeginningAndOn() {
    feed.removed(CacheKey.of(1, 2));
    feed.begin();
    feed.end();
    feed.removed(CacheKey.of(3, 4));
    feed.playTo(listener);
    feed.cleared();
    assertThat(heard)
        .containsExactly(CacheKey.of(1, 2).toString(), CacheKey.of(3, 4).toString(), "all");
  }

  @Test
  void moreThanThereIsRoomForIsEverything() {
    for (int i = 0; i < RemovalFeed.LIMIT; i++) {
      feed.removed(CacheKey.of(0, i));
    }
    feed.removed(CacheKey.of(9, 9));
    feed.playTo(listener);
    assertThat(heard).containsExactly("all", CacheKey.of(9, 9).toString());
    feed.begin();
    feed.end();
  }

  @Test
  void aMessageThatIsTooLongRemovesEverythingAndTheNextOneCounts() throws IOException {
    CacheKey next = CacheKey.of(1, 2);
    theirs.send("purge hard 10 : " + "a".repeat(2 * RemovalWords.MOST_BYTES), List.of());
    theirs.send(RemovalWords.remove(1, 2), List.of());
    theirs.shutdown();
    RemovalWords.listen(ours, listener, _ -> false);
    assertThat(heard).containsExactly("all", next.toString());
    feed.end();
  }

  @Test
  void anotherProcessThatIsGoneHoldsNobodyUp() {
    theirs.shutdown();
    feed.begin();
    feed.removed(CacheKey.of(1, 2));
    feed.end();
    feed.keepNothing();
    feed.removed(CacheKey.of(3, 4));
    feed.playTo(listener);
    assertThat(heard).isEmpty();
  }
}
