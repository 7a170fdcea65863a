package io.kamille.perf.load;

import java.nio.ByteBuffer;

/** The content that a response must have. Confined to the client's thread. */
interface ExpectedContent {

  /** How many octets. */
  int length();

  /** Whether all that is left in {@code octets} stands in the content from {@code offset} on. */
  boolean has(int offset, ByteBuffer octets);

  /** Any octets, which are not looked at. */
  static ExpectedContent any(int length) {
    return new ExpectedContent() {
      @Override
      public int length() {
        return length;
      }

      @Override
      public boolean has(int offset, ByteBuffer octets) {
        return true;
      }
    };
  }

  /** Exactly these octets. */
  static ExpectedContent of(byte[] octets) {
    ByteBuffer content = ByteBuffer.allocateDirect(octets.length).put(octets).flip();
    return new ExpectedContent() {
      @Override
      public int length() {
        return octets.length;
      }

      @Override
      public boolean has(int offset, ByteBuffer others) {
        content.limit(offset + others.remaining()).position(offset);
        return content.mismatch(others) < 0;
      }
    };
  }

  /** The content of an object that an origin makes. */
  static ExpectedContent made(long object, int length) {
    MadeContent content = MadeContent.of(object);
    ByteBuffer block = MadeContent.block();
    return new ExpectedContent() {
      @Override
      public int length() {
        return length;
      }

      @Override
      public boolean has(int offset, ByteBuffer octets) {
        return content.matches(block, offset, octets);
      }
    };
  }
}
