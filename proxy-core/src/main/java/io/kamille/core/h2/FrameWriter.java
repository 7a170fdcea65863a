package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import org.jspecify.annotations.Nullable;

/**
 * Writes frames, and tells the header of one (RFC 9113 §4, §6). Stateless but for where it writes;
 * confined to its loop.
 */
final class FrameWriter {

  static final int PRIORITY_UPDATE = 0x10;

  static final int END_STREAM = 0x1;
  static final int ACK = 0x1;
  static final int END_HEADERS = 0x4;

  /** Octets before the payload of each frame. */
  static final int HEADER_BYTES = 9;

  private static final int TYPE_OFFSET = 3;
  private static final int FLAGS_OFFSET = 4;
  private static final int STREAM_OFFSET = 5;

  private final ByteBufAllocator allocator;
  private final H2Owner wire;

  FrameWriter(H2Owner wire) {
    this.allocator = wire.allocator();
    this.wire = wire;
  }

  // A frame at the reader index: length 3 | type 1 | flags 1 | reserved bit and stream 4 | payload

  static int type(ByteBuf frame) {
    return frame.getUnsignedByte(frame.readerIndex() + TYPE_OFFSET);
  }

  static boolean has(ByteBuf frame, int flag) {
    return (frame.getByte(frame.readerIndex() + FLAGS_OFFSET) & flag) != 0;
  }

  static int stream(ByteBuf frame) {
    return frame.getInt(frame.readerIndex() + STREAM_OFFSET) & Integer.MAX_VALUE;
  }

  // Writing

  private ByteBuf frame(int length, int type, int flags, int id) {
    ByteBuf out = allocator.directBuffer(HEADER_BYTES + length, HEADER_BYTES + length);
    header(out, length, type, flags, id);
    return out;
  }

  private static void header(ByteBuf out, int length, int type, int flags, int id) {
    out.writeMedium(length);
    out.writeByte(type);
    out.writeByte(flags);
    out.writeInt(id);
  }

  /** Settings, each an identifier and a value. */
  void settings(int... identifiersAndValues) {
    ByteBuf out = frame(identifiersAndValues.length * 3, Http2FrameTypes.SETTINGS, 0, 0);
    for (int i = 0; i < identifiersAndValues.length; i += 2) {
      out.writeShort(identifiersAndValues[i]);
      out.writeInt(identifiersAndValues[i + 1]);
    }
    wire.write(out);
  }

  void settingsAck() {
    wire.write(frame(0, Http2FrameTypes.SETTINGS, ACK, 0));
  }

  void ping(long content, boolean isAnswer) {
    wire.write(frame(Long.BYTES, Http2FrameTypes.PING, isAnswer ? ACK : 0, 0).writeLong(content));
  }

  void goAway(int lastId, Http2Error code) {
    wire.write(
        frame(2 * Integer.BYTES, Http2FrameTypes.GO_AWAY, 0, 0)
            .writeInt(lastId)
            .writeInt((int) code.code()));
  }

  void reset(int id, Http2Error code) {
    wire.write(frame(Integer.BYTES, Http2FrameTypes.RST_STREAM, 0, id).writeInt((int) code.code()));
  }

  void windowUpdate(int id, int bytes) {
    wire.write(frame(Integer.BYTES, Http2FrameTypes.WINDOW_UPDATE, 0, id).writeInt(bytes));
  }

  /** A header section, in as many frames as it takes. */
  void head(int id, HpackWriter section, boolean isLast, int maxFrameBytes) {
    int length = section.length();
    int first = Math.min(length, maxFrameBytes);
    int more = (length - first + maxFrameBytes - 1) / maxFrameBytes;
    int room = length + HEADER_BYTES * (1 + more);
    ByteBuf out = allocator.directBuffer(room, room);
    int flags = (isLast ? END_STREAM : 0) | (more == 0 ? END_HEADERS : 0);
    header(out, first, Http2FrameTypes.HEADERS, flags, id);
    section.copyTo(out, 0, first);
    for (int at = first; at < length; ) {
      int part = Math.min(length - at, maxFrameBytes);
      header(out, part, Http2FrameTypes.CONTINUATION, at + part == length ? END_HEADERS : 0, id);
      section.copyTo(out, at, part);
      at += part;
    }
    section.trim();
    wire.write(out);
  }

  /** Content, in one frame. Takes ownership; null for a frame that only ends the stream. */
  void data(int id, @Nullable ByteBuf content, boolean isLast) {
    int length = content == null ? 0 : content.readableBytes();
    ByteBuf out = allocator.directBuffer(HEADER_BYTES, HEADER_BYTES);
    header(out, length, Http2FrameTypes.DATA, isLast ? END_STREAM : 0, id);
    wire.write(out);
    if (content != null) {
      wire.write(content);
    }
  }
}
