package io.kamille.core.log;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A bounded queue of octet records between one writer and one reader. Each method belongs to one of
 * the two threads, as it says.
 */
final class RecordRing {

  /*
   * A record lies in one piece and begins at a multiple of eight with its length, these four octets
   * included. A length of zero says that the rest of the ring is skipped; because of the multiples
   * there is always room to say so. Positions only grow; their lower bits are the offset.
   *
   * The writer publishes its position with a release store after the octets, the reader its own
   * after it has read them; each looks at the other's only when its last look does not suffice. The
   * two shared positions lie two cache lines apart.
   */
  static final int ALIGNMENT = 8;
  static final int LENGTH_BYTES = Integer.BYTES;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.nativeOrder());
  private static final VarHandle POSITION = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int READER = 8;
  private static final int WRITER = 24;

  private final byte[] octets;
  private final int mask;
  private final long[] shared = new long[32];

  // The writer's
  private long writer;
  private long readerSeen;
  private int skipped;
  private long wakeCheck;

  // The reader's
  private long reader;
  private long writerSeen;

  /** A ring of at least {@code capacity} octets. */
  RecordRing(int capacity) {
    int rounded = Integer.highestOneBit(Math.max(ALIGNMENT, 2 * capacity - 1));
    octets = new byte[rounded];
    mask = rounded - 1;
    wakeCheck = rounded / 2;
  }

  /** The octets that offsets point into. */
  byte[] octets() {
    return octets;
  }

  /**
   * The offset of room for a record, or -1 if there is none. Writer.
   *
   * @param length the most that may be committed, its own four octets included
   */
  int reserve(int length) {
    int offset = (int) writer & mask;
    int rest = octets.length - offset;
    skipped = rest < length ? rest : 0;
    long end = writer + skipped + length;
    if (end - readerSeen > octets.length) {
      readerSeen = (long) POSITION.getAcquire(shared, READER);
      if (end - readerSeen > octets.length) {
        return -1;
      }
    }
    return (offset + skipped) & mask;
  }

  /**
   * Gives the reserved record to the reader. Writer.
   *
   * @param length of the record, its own four octets included
   */
  void commit(int length) {
    if (skipped > 0) {
      INT.set(octets, (int) writer & mask, 0);
      writer += skipped;
    }
    INT.set(octets, (int) writer & mask, length);
    writer += aligned(length);
    POSITION.setRelease(shared, WRITER, writer);
  }

  /** Whether half of the ring is full; true once for each quarter written since. Writer. */
  boolean isFilling() {
    if (writer < wakeCheck) {
      return false;
    }
    readerSeen = (long) POSITION.getAcquire(shared, READER);
    if (writer - readerSeen < octets.length / 2) {
      wakeCheck = readerSeen + octets.length / 2;
      return false;
    }
    wakeCheck = writer + octets.length / 4;
    return true;
  }

  /** The offset of the oldest record, or -1 if there is none. Reader. */
  int peek() {
    if (reader == writerSeen) {
      writerSeen = (long) POSITION.getAcquire(shared, WRITER);
      if (reader == writerSeen) {
        return -1;
      }
    }
    int offset = (int) reader & mask;
    if (length(offset) == 0) {
      reader += octets.length - offset;
      offset = 0;
    }
    return offset;
  }

  /** The length of the record at {@code offset}, its own four octets included. Reader. */
  int length(int offset) {
    return (int) INT.get(octets, offset);
  }

  /** Lets the writer have the room of the record that {@link #peek} gave. Reader. */
  void release() {
    reader += aligned(length((int) reader & mask));
    POSITION.setRelease(shared, READER, reader);
  }

  private static int aligned(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
