package io.kamille.cache.store;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import java.util.function.Consumer;

/**
 * Octets that lie in some tier for as long as somebody holds a lease on them.
 *
 * <p>Any thread. While they are still being filled, everything below {@link #length} can be read
 * already.
 */
public interface StoredOctets {

  /** Takes a lease if any is left, as after a lookup; false means that the octets are gone. */
  boolean tryRetain();

  /**
   * Takes one more lease; the caller holds one.
   *
   * @throws IllegalStateException if nobody held one
   */
  void retain();

  /**
   * Ends one lease; the last one frees the space.
   *
   * @throws IllegalStateException if all had ended
   */
  void release();

  /** How many octets can be read. Grows during a fill. */
  long length();

  /** How many octets of the tier they take, with what rounding wastes. Exact after the fill. */
  long occupiedBytes();

  /** In how many pieces they lie: the number of slices they are sent in. */
  int blockCount();

  /**
   * Hands {@code length} octets from {@code offset} on to {@code consumer}, in order, one slice per
   * block. The consumer owns each slice, which carries a lease of its own; the caller's is only
   * needed until this returns.
   *
   * @throws IndexOutOfBoundsException if that reaches beyond {@link #length()}
   * @throws IllegalStateException if no lease is held
   */
  void forEachSlice(long offset, long length, Consumer<ByteBuf> consumer);

  /**
   * Counts one answer made of them without asking the origin. Of two that are counted at the same
   * moment on two loops, one may be lost.
   */
  void countHit();

  /** How many were counted. */
  int hits();

  /**
   * Counts that a large part is about to be sent.
   *
   * @return whether it should go by {@link #send}: that is possible, and the octets were sent often
   *     enough that it pays
   */
  boolean countSending();

  /**
   * Hands {@code length} octets from {@code offset} on to {@code sink}, in order: as regions of a
   * file what can be sent so, as slices the rest. Each piece carries a lease of its own; the
   * caller's is only needed until this returns.
   *
   * @param sink takes slices and regions; owns each
   * @throws IndexOutOfBoundsException if that reaches beyond {@link #length()}
   * @throws IllegalStateException if no lease is held
   */
  void send(long offset, long length, Consumer<? super ReferenceCounted> sink);

  /**
   * Whether the content lies in a file on a disk: then it goes by {@link #send} only, after {@link
   * #fetch}, and only the encoded head can be read.
   */
  default boolean isInFile() {
    return false;
  }

  /**
   * Sees to it that sending those octets does not wait for a disk. The caller holds a lease.
   *
   * @param whenThere run once, later, on any thread, if they have to be waited for; also if that
   *     was in vain
   * @return whether they can be sent now
   */
  default boolean fetch(long offset, long length, Runnable whenThere) {
    return true;
  }

  /**
   * {@code length} octets from {@code offset} on as one buffer with a lease of its own: a slice if
   * they lie in one block, else a copy. The caller owns it.
   *
   * @throws IndexOutOfBoundsException if that reaches beyond {@link #length()}
   * @throws IllegalStateException if no lease is held
   */
  ByteBuf slice(long offset, int length);

  /**
   * Copies {@code length} octets from {@code offset} on into {@code target}.
   *
   * @throws IndexOutOfBoundsException if either range does not fit
   * @throws IllegalStateException if no lease is held
   */
  void copyTo(long offset, byte[] target, int targetOffset, int length);
}
