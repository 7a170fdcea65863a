package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/** Writes frames (RFC 9113 §4, §6). Stateless but for where it writes; confined to its loop. */
final class FrameWriter {

  static final int DATA = 0;
  static final int HEADERS = 1;
  static final int RST_STREAM = 3;
  static final int SETTINGS = 4;
  static final int PUSH_PROMISE = 5;
  static final int PING = 6;
  static final int GOAWAY = 7;
  static final int WINDOW_UPDATE = 8;
  static final int CONTINUATION = 9;
  static final int PRIORITY_UPDATE = 0x10;

  static final int END_STREAM = 0x1;
  static final int ACK = 0x1;
  static final int END_HEADERS = 0x4;

  /** Octets before the payload of each frame. */
  static final int HEADER_BYTES = 9;

  private final ByteBufAllocator allocator;
  private final H2Wire wire;

  FrameWriter(H2Wire wire) {
    this.allocator = wire.allocator();
    this.wire = wire;
  }

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
    ByteBuf out = frame(identifiersAndValues.length * 3, SETTINGS, 0, 0);
    for (int i = 0; i < identifiersAndValues.length; i += 2) {
      out.writeShort(identifiersAndValues[i]);
      out.writeInt(identifiersAndValues[i + 1]);
    }
    wire.write(out);
  }

  void settingsAck() {
    wire.write(frame(0, SETTINGS, ACK, 0));
  }

  void ping(long content, boolean isAnswer) {
    wire.write(frame(Long.BYTES, PING, isAnswer ? ACK : 0, 0).writeLong(content));
  }

  void goAway(int lastId, ErrorCode code) {
    wire.write(frame(2 * Integer.BYTES, GOAWAY, 0, 0).writeInt(lastId).writeInt(code.number()));
  }

  void reset(int id, ErrorCode code) {
    wire.write(frame(Integer.BYTES, RST_STREAM, 0, id).writeInt(code.number()));
  }

  void windowUpdate(int id, int bytes) {
    wire.write(frame(Integer.BYTES, WINDOW_UPDATE, 0, id).writeInt(bytes));
  }

  /** A header section, in as many frames as it takes. */
  void head(int id, HpackWriter section, boolean isLast, int maxFrameBytes) {
    int length = section.length();
    int first = Math.min(length, maxFrameBytes);
    int more = (length - first + maxFrameBytes - 1) / maxFrameBytes;
    int room = length + HEADER_BYTES * (1 + more);
    ByteBuf out = allocator.directBuffer(room, room);
    int flags = (isLast ? END_STREAM : 0) | (more == 0 ? END_HEADERS : 0);
    header(out, first, HEADERS, flags, id);
    section.copyTo(out, 0, first);
    for (int at = first; at < length; ) {
      int part = Math.min(length - at, maxFrameBytes);
      header(out, part, CONTINUATION, at + part == length ? END_HEADERS : 0, id);
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
    header(out, length, DATA, isLast ? END_STREAM : 0, id);
    wire.write(out);
    if (content != null) {
      wire.write(content);
    }
  }
}
