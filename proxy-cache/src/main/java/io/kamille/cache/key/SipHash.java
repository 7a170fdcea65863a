package io.kamille.cache.key;

import io.kamille.core.http.Octets;

/**
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, <i>SipHash: a fast short-input
 * PRF</i>, 2012), fed piece by piece. Reusable; for one thread.
 */
public final class SipHash {

  private final long k0;
  private final long k1;

  private long v0;
  private long v1;
  private long v2;
  private long v3;

  /** Octets that do not fill a word yet, the first in the lowest place. */
  private long tail;

  private int tailBits;
  private int length;
  private long high;
  private long low;

  SipHash(long k0, long k1) {
    this.k0 = k0;
    this.k1 = k1;
    begin();
  }

  /** Forgets everything but the key. */
  public void begin() {
    v0 = 0x736f6d6570736575L ^ k0;
    v1 = 0x646f72616e646f6dL ^ k1 ^ 0xee;
    v2 = 0x6c7967656e657261L ^ k0;
    v3 = 0x7465646279746573L ^ k1;
    tail = 0;
    tailBits = 0;
    length = 0;
  }

  public void put(byte octet) {
    tail |= (octet & 0xffL) << tailBits;
    tailBits += Byte.SIZE;
    length++;
    if (tailBits == Long.SIZE) {
      compress(tail);
      tail = 0;
      tailBits = 0;
    }
  }

  public void put(byte[] octets, int start, int end) {
    int at = start;
    for (; end - at >= Long.BYTES; at += Long.BYTES) {
      putWord(Octets.word(octets, at));
    }
    for (; at < end; at++) {
      put(octets[at]);
    }
  }

  private void putWord(long word) {
    if (tailBits == 0) {
      compress(word);
    } else {
      compress(tail | (word << tailBits));
      tail = word >>> (Long.SIZE - tailBits);
    }
    length += Long.BYTES;
  }

  /** Ends the input; {@link #low} and {@link #high} hold the result from now on. */
  public void finish() {
    compress(tail | ((long) length << 56));
    v2 ^= 0xee;
    fourRounds();
    low = v0 ^ v1 ^ v2 ^ v3;
    v1 ^= 0xdd;
    fourRounds();
    high = v0 ^ v1 ^ v2 ^ v3;
  }

  /** The first eight octets of the result, little-endian. */
  public long low() {
    return low;
  }

  /** The last eight octets of the result, little-endian. */
  public long high() {
    return high;
  }

  private void compress(long word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }

  private void fourRounds() {
    round();
    round();
    round();
    round();
  }

  private void round() {
    v0 += v1;
    v1 = Long.rotateLeft(v1, 13) ^ v0;
    v0 = Long.rotateLeft(v0, 32);
    v2 += v3;
    v3 = Long.rotateLeft(v3, 16) ^ v2;
    v0 += v3;
    v3 = Long.rotateLeft(v3, 21) ^ v0;
    v2 += v1;
    v1 = Long.rotateLeft(v1, 17) ^ v2;
    v2 = Long.rotateLeft(v2, 32);
  }
}
