package io.kamille.cache;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.RemovalListener;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Keeps what a cache says that it removes. */
final class Removals implements RemovalListener {

  final List<Consumer<RemovalListener>> told = new ArrayList<>();

  @Override
  public void removed(CacheKey key) {
    CacheKey copy = key.copy();
    told.add(to -> to.removed(copy));
  }

  @Override
  public void purged(PurgeNotes.Note note) {
    told.add(to -> to.purged(note));
  }

  @Override
  public void cleared() {
    told.add(RemovalListener::cleared);
  }

  void playTo(RemovalListener listener) {
    told.forEach(removal -> removal.accept(listener));
  }
}
