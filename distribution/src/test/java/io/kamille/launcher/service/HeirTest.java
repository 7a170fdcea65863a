package io.kamille.launcher.service;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes.Note;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.Await;
import io.kamille.core.socket.UnixSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two processes with the same responses tell each other what they remove. */
class HeirTest {

  private static final CacheKey ONE = CacheKey.of(1, 1);
  private static final CacheKey TWO = CacheKey.of(2, 2);

  @TempDir private Path directory;
  private final AtomicReference<@Nullable RemovalListener> toOld = new AtomicReference<>();
  private final Cache oldCache = new Cache();
  private final Cache newCache = new Cache();
  private @Nullable UnixSocket control;
  private @Nullable Predecessor predecessor;
  private @Nullable Heir heir;
  private @Nullable RemovalFeed toNew;

  /** Tells the other process of each removal, as a store does, whoever asked for it. */
  private static final class Cache implements RemovalListener {

    private final List<String> removals = new CopyOnWriteArrayList<>();
    private final AtomicReference<@Nullable RemovalListener> told = new AtomicReference<>();

    @Override
    public void removed(CacheKey key) {
      RemovalListener other = told.get();
      if (other != null) {
        other.removed(key);
      }
      removals.add("key " + key.low());
    }

    @Override
    public void purged(Note note) {
      removals.add("purge");
    }

    @Override
    public void cleared() {
      removals.add("all");
    }

    private void await(String... expected) {
      Await.until(() -> removals.equals(List.of(expected)), List.of(expected) + " is removed");
    }
  }

  @BeforeEach
  void takeOver() throws IOException {
    String path = directory.resolve("control").toString();
    UnixSocket listening = UnixSocket.listen(path);
    control = listening;
    Predecessor before = Predecessor.of(Map.of(Predecessor.VARIABLE, path)).orElseThrow();
    predecessor = before;
    UnixSocket caller = Objects.requireNonNull(listening.accept());
    RemovalFeed feed = new RemovalFeed(caller);
    toNew = feed;
    heir = new Heir(caller, Optional.of(feed), oldCache);
    before.follow(
        newCache,
        elder -> {
          toOld.set(elder);
          newCache.told.set(elder);
        });
    oldCache.told.set(feed);
    feed.begin();
  }

  @AfterEach
  void close() {
    Objects.requireNonNull(heir).end();
    Objects.requireNonNull(predecessor).close();
    Objects.requireNonNull(control).close();
  }

  private RemovalListener toOld() {
    return Objects.requireNonNull(toOld.get());
  }

  @Test
  void whatTheNewOneRemovesTheOldOneRemovesOnceItHasStoodBack() throws IOException {
    toOld().removed(ONE);
    Objects.requireNonNull(heir).go();
    toOld().cleared();
    oldCache.await("key 1", "all");
  }

  @Test
  void nobodyIsToldWhatItHasToldItself() throws IOException {
    Objects.requireNonNull(heir).go();
    toOld().removed(ONE);
    oldCache.await("key 1");
    Objects.requireNonNull(toNew).removed(TWO);
    newCache.await("key 2");
    toOld().cleared();
    oldCache.await("key 1", "all");
  }

  @Test
  void onceTheOldOneHasEndedNobodyIsToldAnyMore() throws IOException {
    Objects.requireNonNull(heir).go();
    Objects.requireNonNull(heir).end();
    Await.until(() -> toOld.get() == null, "nobody is told");
  }
}
