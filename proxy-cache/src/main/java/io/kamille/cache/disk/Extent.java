package io.kamille.cache.disk;

/**
 * Where a record lies.
 *
 * @param segment the number of its segment, from 1
 * @param offset in octets from the start of the segment, a multiple of {@link #UNIT_BYTES}
 * @param length in octets, with the padding behind it, a multiple of {@link #UNIT_BYTES}
 * @param variant twelve bits that tell variants of a key apart, mostly
 */
public record Extent(int segment, int offset, int length, int variant) {

  /*
   * In the index, a place is one long:
   *
   *   63          36 35           12 11       0
   *  ┌──────────────┬───────────────┬──────────┐
   *  │ segment      │ offset / 16   │ variant  │
   *  └──────────────┴───────────────┴──────────┘
   *
   * Segments are numbered for the life of a store: 2^28 of 64 MiB are 16 EiB written.
   */
  static final int UNIT_BYTES = 16;
  static final int VARIANT_MASK = 0xfff;
  static final int SEGMENTS = 1 << 28;
  static final int SEGMENT_BYTES_LIMIT = 1 << 28;

  private static final int OFFSET_SHIFT = 12;
  private static final int SEGMENT_SHIFT = 36;
  private static final long OFFSET_MASK = (1L << 24) - 1;

  static Extent of(long place, int units) {
    return new Extent(
        segment(place),
        (int) (place >>> OFFSET_SHIFT & OFFSET_MASK) * UNIT_BYTES,
        units * UNIT_BYTES,
        variant(place));
  }

  static int segment(long place) {
    return (int) (place >>> SEGMENT_SHIFT);
  }

  static int variant(long place) {
    return (int) place & VARIANT_MASK;
  }

  long place() {
    return (long) segment << SEGMENT_SHIFT | (long) (offset / UNIT_BYTES) << OFFSET_SHIFT | variant;
  }

  int units() {
    return length / UNIT_BYTES;
  }

  /** {@code length} with what is missing to a whole unit. */
  static long padded(long length) {
    return length + UNIT_BYTES - 1 & -UNIT_BYTES;
  }
}
