package io.kamille.cache.key;

import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What cache keys and tags are hashed with: a secret of the process, so that nobody outside can
 * make two of them meet. Immutable; any thread.
 *
 * <p>Where stored responses outlive the process, keys have to mean the same in the next one, and
 * the secret lies where the responses lie: {@link #use} comes before the first key.
 */
public final class HashSecret {

  private static final int DIGITS = 32;
  private static final byte[] TAGS = {'t', 'a', 'g', 's'};

  private static final AtomicReference<HashSecret> CURRENT = new AtomicReference<>(random());

  private final long high;
  private final long low;
  private final long tagsHigh;
  private final long tagsLow;

  private HashSecret(long high, long low) {
    this.high = high;
    this.low = low;
    SipHash derived = new SipHash(high, low);
    derived.begin();
    derived.put(TAGS, 0, TAGS.length);
    derived.finish();
    this.tagsHigh = derived.high();
    this.tagsLow = derived.low();
  }

  private static HashSecret random() {
    SecureRandom random = new SecureRandom();
    return new HashSecret(random.nextLong(), random.nextLong());
  }

  /**
   * Takes that secret for the whole process. What was hashed before is not found any more, so this
   * is for the start.
   */
  public static void use(long high, long low) {
    CURRENT.setRelease(new HashSecret(high, low));
  }

  /** The present one in 32 hexadecimal digits, for a process that must have the same keys. */
  public static String words() {
    HashSecret secret = CURRENT.getAcquire();
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(secret.high) + hex.toHexDigits(secret.low);
  }

  /**
   * As {@link #use(long, long)}, with what {@link #words} says.
   *
   * @throws IllegalArgumentException if it says something else; nothing has changed then
   */
  public static void use(String words) {
    if (words.length() != DIGITS) {
      throw new IllegalArgumentException("secret: " + words.length() + " digits");
    }
    use(
        HexFormat.fromHexDigitsToLong(words, 0, DIGITS / 2),
        HexFormat.fromHexDigitsToLong(words, DIGITS / 2, DIGITS));
  }

  /** A hash for cache keys. */
  static SipHash forKeys() {
    HashSecret secret = CURRENT.getAcquire();
    return new SipHash(secret.high, secret.low);
  }

  /** A hash for tags. */
  public static SipHash forTags() {
    HashSecret secret = CURRENT.getAcquire();
    return new SipHash(secret.tagsHigh, secret.tagsLow);
  }

  @Override
  public String toString() {
    return "HashSecret";
  }
}
