package io.kamille.cache.purge;

import io.kamille.cache.key.CacheKey;

/**
 * Told of everything that is removed, where another process has the same responses. In an order in
 * which the other may remove it too. Any thread; must not wait.
 */
public interface RemovalListener {

  /**
   * Nothing stored under that key may be used any more.
   *
   * @param key borrowed
   */
  void removed(CacheKey key);

  /** Something was purged by tag, prefix or host. */
  void purged(PurgeNotes.Note note);

  /** Nothing may be used any more. */
  void cleared();
}
