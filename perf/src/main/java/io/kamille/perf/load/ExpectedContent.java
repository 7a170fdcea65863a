package io.kamille.perf.load;

import java.nio.ByteBuffer;

/** The content that a response must have. Confined to the client's thread. */
@FunctionalInterface
interface ExpectedContent {

  /** Any octets, which are not looked at. */
  ExpectedContent ANY = (offset, octets) -> true;

  /** Whether all that is left in {@code octets} stands in the content from {@code offset} on. */
  boolean has(int offset, ByteBuffer octets);

  /** Exactly these octets. */
  static ExpectedContent of(byte[] octets) {
    ByteBuffer content = ByteBuffer.allocateDirect(octets.length).put(octets).flip();
    return (offset, others) -> {
      content.limit(offset + others.remaining()).position(offset);
      return content.mismatch(others) < 0;
    };
  }

  /** The content of an object that an origin makes. */
  static ExpectedContent made(long object) {
    MadeContent content = MadeContent.of(object);
    ByteBuffer block = MadeContent.block();
    return (offset, octets) -> content.matches(block, offset, octets);
  }
}
