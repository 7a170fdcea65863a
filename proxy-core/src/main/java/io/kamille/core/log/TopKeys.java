package io.kamille.core.log;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Which keys come most often, and about how often, in fixed memory. Written on its loop; read on
 * any thread.
 */
final class TopKeys {

  /*
   * Space-Saving (Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k
   * Elements in Data Streams", ICDT 2005): a key without a place takes that of the least frequent
   * one, and its count, which bounds the error. A place is an object that is replaced whole, so a
   * reader sees a key with its own count. Looking through all places costs some hundred cycles; only
   * sampled exchanges come here.
   */
  static final int PLACES = 256;
  static final int LENGTH_LIMIT = 1024;

  private static final class Place {
    private final int hash;
    private final byte[] key;
    private final AtomicLong count;

    Place(int hash, byte[] key, long count) {
      this.hash = hash;
      this.key = key;
      this.count = new AtomicLong(count);
    }
  }

  private final AtomicReferenceArray<@Nullable Place> places = new AtomicReferenceArray<>(PLACES);
  private int used;

  /**
   * Counts a key. The octets are copied if they are new.
   *
   * @param weight how many exchanges the sampled one stands for
   */
  void add(byte[] octets, int length, long weight) {
    if (length > LENGTH_LIMIT) {
      return;
    }
    int hash = hash(octets, length);
    int least = 0;
    long leastCount = Long.MAX_VALUE;
    for (int i = 0; i < used; i++) {
      Place place = at(i);
      long count = place.count.getPlain();
      if (place.hash == hash && Arrays.equals(place.key, 0, place.key.length, octets, 0, length)) {
        place.count.setOpaque(count + weight);
        return;
      }
      if (count < leastCount) {
        least = i;
        leastCount = count;
      }
    }
    byte[] key = Arrays.copyOf(octets, length);
    if (used < PLACES) {
      places.setRelease(used++, new Place(hash, key, weight));
    } else {
      places.setRelease(least, new Place(hash, key, leastCount + weight));
    }
  }

  @SuppressWarnings("NullAway") // all places below `used` are taken
  private Place at(int i) {
    return places.getPlain(i);
  }

  private static int hash(byte[] octets, int length) {
    int hash = length;
    for (int i = 0; i < length; i++) {
      hash = 31 * hash + octets[i];
    }
    return hash;
  }

  /** Lets what was counted so far weigh half. On the loop. */
  void fade() {
    for (int i = 0; i < used; i++) {
      Place place = at(i);
      place.count.setOpaque(place.count.getPlain() / 2);
    }
  }

  /** Tells of each key and its count. Any thread. */
  void forEach(ObjLongConsumer<byte[]> told) {
    for (int i = 0; i < PLACES; i++) {
      Place place = places.getAcquire(i);
      if (place != null) {
        told.accept(place.key, place.count.getOpaque());
      }
    }
  }
}
