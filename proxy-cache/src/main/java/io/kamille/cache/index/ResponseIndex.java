package io.kamille.cache.index;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which stored responses there are, by cache key, and the policy that decides which of them to
 * forget.
 *
 * <p>Any thread. Holds one lease on every response in it, and on every coded form of one, and ends
 * it when the response leaves, in whatever way. Who finds one takes a lease of its own before it
 * reads.
 */
public interface ResponseIndex {

  /**
   * The variants under that key, or null; a use of them. Allocates nothing; borrows the key, which
   * may be a reusable probe.
   */
  @Nullable Variants find(CacheKey key);

  /** As {@link #find}, but no use of what is there: for purges, copies and explanations. */
  @Nullable Variants peek(CacheKey key);

  /**
   * Adds a response under its key, in place of the one with the same selecting fields, if {@code
   * isCurrent} says so when no other change can come between, and if the index is not behind. If
   * so, takes over one lease and keeps the key.
   *
   * @return whether it did
   */
  boolean put(CacheKey key, StoredResponse response, BooleanSupplier isCurrent);

  /**
   * Puts a response into the place of another one, or nothing, if that one is still under the key.
   * Takes over one lease on {@code other} and on each of its coded forms if so, ends those on
   * {@code one} and its own, and keeps the key.
   *
   * @return whether it was
   */
  boolean replace(CacheKey key, StoredResponse one, @Nullable StoredResponse other);

  /**
   * Shows everything that is there from beginning to end, and perhaps what comes meanwhile. The
   * index may change meanwhile, also by {@code reader}.
   */
  void forEach(BiConsumer<CacheKey, Variants> reader);

  /** Removes what is under that key, and says how many responses that were. Borrows the key. */
  int remove(CacheKey key);

  /**
   * Removes everything, and says how many responses that were. Makes pauses, as {@link #pause}
   * does.
   */
  int clear();

  /**
   * Waits, for a moment at most, while the index has many changes to put in order: for who removes
   * much, that room is left for what is stored meanwhile. Not on a loop.
   */
  void pause();

  /**
   * Removes some of what is least worth keeping, until that gives back {@code bytes}. Waits for
   * nobody: if the policy has not made room by now, the index does it by LRU, for a few keys at a
   * time.
   *
   * @return what it gives back, as soon as nobody reads it any more
   */
  long evict(long bytes);

  /** Has the policy evict so much more, off the loops: whoever asks goes on without the room. */
  void evictSoon(long bytes);

  /**
   * So much memory was taken for a response on its way. If memory is short, the policy evicts as
   * much soon. Waits for nobody.
   */
  void taken(long bytes);

  /**
   * Whether a response that was asked for and not found is worth its room, which counts as a
   * request for it. Asked once, before memory is taken. Borrows the key.
   *
   * @param bytes what it will take, or, when that is unknown, at least
   */
  boolean admits(CacheKey key, long bytes);

  /** The same when it turns out to take more; counts nothing. */
  boolean wouldAdmit(CacheKey key, long bytes);

  /** How many keys there are; an estimate while others change the index. */
  long size();

  /** What all stored responses weigh, with an estimate of what they take on the heap. */
  long weightBytes();

  /** What of that is on the heap, nearly. */
  long heapBytes();

  /** How many keys were evicted for want of room since the start. */
  long evictions();

  /** How many of those the index evicted by LRU, because the policy had made no room. */
  long fallbackEvictions();

  /** How often the upkeep of the order threw; it goes on each time. */
  long failures();

  /** How many responses were not stored because the index was behind with its changes. */
  long refusals();

  /** Lets that policy choose what to forget, from now on; everything that is stored stays. */
  void choose(PolicyChoice choice);

  /** Which policy chooses what to forget, and why. Not for the path of a request. */
  PolicySnapshot policy();

  /** Watches for so long what other amounts of memory would hit; 0 ends that. */
  void watch(long seconds);

  /** What they would have hit, while or after that was watched; null if it never was. */
  @Nullable Forecast forecast();
}
