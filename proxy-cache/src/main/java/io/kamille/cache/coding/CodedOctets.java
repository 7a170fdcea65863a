package io.kamille.cache.coding;

import io.kamille.cache.tiers.Reservation;
import io.netty.buffer.Unpooled;
import java.io.OutputStream;

/**
 * Writes what an encoder gives into the store, as long as it is worth it and there is memory.
 * Confined to one thread. The reservation stays its owner's.
 */
final class CodedOctets extends OutputStream {

  private final Reservation reservation;
  private final long limitBytes;
  private boolean isTooLong;
  private boolean isWithoutMemory;

  /**
   * @param limitBytes how long the reservation may become
   */
  CodedOctets(Reservation reservation, long limitBytes) {
    this.reservation = reservation;
    this.limitBytes = limitBytes;
  }

  /** Whether the coding does not save enough. */
  boolean isTooLong() {
    return isTooLong;
  }

  boolean isWithoutMemory() {
    return isWithoutMemory;
  }

  /** Whether more octets make no difference; they do not when the worker is to end, either. */
  boolean isOver() {
    return isTooLong || isWithoutMemory || Thread.currentThread().isInterrupted();
  }

  @Override
  public void write(byte[] octets, int offset, int length) {
    if (isOver() || length == 0) {
      return;
    }
    if (reservation.length() + length > limitBytes) {
      isTooLong = true;
    } else {
      isWithoutMemory = !reservation.append(Unpooled.wrappedBuffer(octets, offset, length));
    }
  }

  @Override
  public void write(int octet) {
    write(new byte[] {(byte) octet}, 0, 1);
  }
}
