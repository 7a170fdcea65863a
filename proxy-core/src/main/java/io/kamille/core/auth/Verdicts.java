package io.kamille.core.auth;

import io.kamille.core.http.Fields;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Requests that were let pass lately, by a digest of what was checked. How long is for {@link
 * AuthServerStation} and {@link CredentialStation} to say. Any thread.
 */
final class Verdicts {

  /*
   * A digest is HMAC-SHA-256 under a key of this process: memory has no password, and nobody can
   * aim at a place of the table. Only those who passed have a place, so that wrong passwords push
   * out nobody. A digest has four places; if all are taken, one of them goes.
   */
  private static final int GROUPS = 4096;
  private static final int WAYS = 4;
  private static final String ALGORITHM = "HmacSHA256";

  /**
   * One that was let pass.
   *
   * @param untilNanos when it no longer holds
   * @param identity fields for the origin; never changed
   * @param basis as that of {@link Found}
   */
  @SuppressWarnings("ArrayRecordComponent") // compared in constant time
  record Verdict(byte[] digest, long untilNanos, Fields identity, @Nullable Object basis) {

    Verdict(byte[] digest, long untilNanos, Fields identity) {
      this(digest, untilNanos, identity, null);
    }
  }

  private final AtomicReferenceArray<@Nullable Verdict> places =
      new AtomicReferenceArray<>(GROUPS * WAYS);
  private final ThreadLocal<Mac> macs;

  /** None yet, under a key of its own. */
  Verdicts() {
    byte[] key = new byte[32];
    new SecureRandom().nextBytes(key);
    macs = ThreadLocal.withInitial(() -> mac(key));
  }

  private static Mac mac(byte[] key) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * The digest of what is checked.
   *
   * @param kind of the check: all settings that decide
   * @param number of what it is checked against
   */
  byte[] digest(String kind, long number, String checked) {
    byte[] octets = checked.getBytes(StandardCharsets.ISO_8859_1);
    return digest(octetsOf(kind), number, octets, 0, octets.length);
  }

  /** The same without a {@code String}, for {@link #octetsOf} a kind. */
  byte[] digest(byte[] kind, long number, byte[] checked, int start, int end) {
    Mac mac = macs.get();
    mac.reset();
    for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
      mac.update((byte) (number >>> shift));
    }
    mac.update(kind);
    mac.update(checked, start, end - start);
    return mac.doFinal();
  }

  static byte[] octetsOf(String kind) {
    return (kind + '\n').getBytes(StandardCharsets.UTF_8);
  }

  /** The verdict that still holds, or null. */
  @Nullable Verdict find(byte[] digest, long nowNanos) {
    int first = first(digest);
    for (int i = first; i < first + WAYS; i++) {
      Verdict verdict = places.getAcquire(i);
      if (verdict != null
          && MessageDigest.isEqual(verdict.digest(), digest)
          && verdict.untilNanos() - nowNanos > 0) {
        return verdict;
      }
    }
    return null;
  }

  void keep(Verdict verdict, long nowNanos) {
    int first = first(verdict.digest());
    int place = first + (verdict.digest()[4] & (WAYS - 1));
    for (int i = first; i < first + WAYS; i++) {
      Verdict other = places.getAcquire(i);
      if (other == null
          || other.untilNanos() - nowNanos <= 0
          || MessageDigest.isEqual(other.digest(), verdict.digest())) {
        place = i;
        break;
      }
    }
    places.setRelease(place, verdict);
  }

  private static int first(byte[] digest) {
    return ((digest[0] & 0xff) << 8 | (digest[1] & 0xff)) % GROUPS * WAYS;
  }
}
