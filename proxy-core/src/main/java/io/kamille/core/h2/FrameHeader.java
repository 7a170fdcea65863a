package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;

/**
 * Reads the header of the frame at the reader index of a buffer, and moves nothing (RFC 9113 §4.1).
 * Stateless.
 */
final class FrameHeader {

  /*
   * | length 3 | type 1 | flags 1 | reserved bit and stream 4 | payload
   */
  private static final int TYPE = 3;
  private static final int FLAGS = TYPE + 1;
  private static final int STREAM = FLAGS + 1;

  private FrameHeader() {}

  static int type(ByteBuf frame) {
    return frame.getUnsignedByte(frame.readerIndex() + TYPE);
  }

  static boolean has(ByteBuf frame, int flag) {
    return (frame.getByte(frame.readerIndex() + FLAGS) & flag) != 0;
  }

  static int stream(ByteBuf frame) {
    return frame.getInt(frame.readerIndex() + STREAM) & Integer.MAX_VALUE;
  }
}
