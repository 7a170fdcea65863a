package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Cuts what comes on one connection into the preface and whole frames (RFC 9113 §3.4, §4.1).
 * Confined to its loop.
 */
final class FrameCutter {

  /*
   * A frame that comes in one read is handed on where it lies. Of one that does not, the part that
   * has come is copied, into a buffer of the frame's size: no more than one frame ever waits here.
   */
  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  private final H2Owner wire;
  private final Faults faults;
  private final FrameReceiver receiver;
  private final ChannelHandlerContext context;
  private @Nullable ByteBuf partial;
  private int prefaceSeen;

  /**
   * A cutter of what comes from {@code wire}.
   *
   * @param receiver gets the frames
   * @param context that Netty's reader takes its allocator from
   * @param fromClient whether it begins with the preface
   */
  FrameCutter(
      H2Owner wire,
      Faults faults,
      FrameReceiver receiver,
      ChannelHandlerContext context,
      boolean fromClient) {
    this.wire = wire;
    this.faults = faults;
    this.receiver = receiver;
    this.context = context;
    this.prefaceSeen = fromClient ? 0 : PREFACE.length;
  }

  /** What a client begins with. */
  static ByteBuf preface(ByteBufAllocator allocator) {
    return allocator.directBuffer(PREFACE.length).writeBytes(PREFACE);
  }

  /**
   * Takes octets. Borrows the buffer.
   *
   * @return false if no more frames are taken for now: the rest is left
   */
  boolean take(ByteBuf in) {
    if (!preface(in)) {
      return true;
    }
    // A frame may end the connection, which lets go of what has begun.
    while (in.isReadable() && !faults.haveEnded()) {
      if (wire.isOverfull()) {
        return false;
      }
      ByteBuf begun = partial;
      if (begun != null) {
        complete(begun, in);
        continue;
      }
      int length = in.readableBytes();
      int needed = length < FrameWriter.HEADER_BYTES ? FrameWriter.HEADER_BYTES : frameBytes(in);
      if (length < needed) {
        partial = wire.allocator().directBuffer(needed).writeBytes(in);
        return true;
      }
      receiver.frame(context, in, needed);
    }
    return true;
  }

  private boolean preface(ByteBuf in) {
    while (prefaceSeen < PREFACE.length && in.isReadable()) {
      if (in.readByte() != PREFACE[prefaceSeen++]) {
        faults.fail(Http2Error.PROTOCOL_ERROR, "no preface of HTTP/2");
        in.skipBytes(in.readableBytes());
        return false;
      }
    }
    return prefaceSeen == PREFACE.length;
  }

  /** Of the frame at the reader index; if its payload is over the limit, of the header alone. */
  private static int frameBytes(ByteBuf in) {
    int payload = in.getUnsignedMedium(in.readerIndex());
    return FrameWriter.HEADER_BYTES
        + (payload > Http2CodecUtil.DEFAULT_MAX_FRAME_SIZE ? 0 : payload);
  }

  private void complete(ByteBuf begun, ByteBuf in) {
    if (begun.readableBytes() < FrameWriter.HEADER_BYTES) {
      fill(begun, in, FrameWriter.HEADER_BYTES);
      if (begun.readableBytes() < FrameWriter.HEADER_BYTES) {
        return;
      }
    }
    int needed = frameBytes(begun);
    if (begun.capacity() < needed) {
      begun.capacity(needed);
    }
    fill(begun, in, needed);
    if (begun.readableBytes() == needed) {
      partial = null;
      try {
        receiver.frame(context, begun, needed);
      } finally {
        begun.release();
      }
    }
  }

  private static void fill(ByteBuf whole, ByteBuf in, int needed) {
    whole.writeBytes(in, Math.min(needed - whole.readableBytes(), in.readableBytes()));
  }

  /** Octets of a frame of which only a part has come. */
  int partialBytes() {
    return partial == null ? 0 : partial.readableBytes();
  }

  /** Octets of memory that such a frame takes: all that it needs, once its header has come. */
  int partialRoom() {
    return partial == null ? 0 : partial.capacity();
  }

  /** The stream whose content that frame has; 0 if it is another frame, or there is none. */
  int partialContentOf() {
    ByteBuf begun = partial;
    if (begun == null || begun.readableBytes() < FrameWriter.HEADER_BYTES) {
      return 0;
    }
    return FrameWriter.type(begun) == Http2FrameTypes.DATA ? FrameWriter.stream(begun) : 0;
  }

  /** Lets go of what has come. */
  void release() {
    ByteBuf begun = partial;
    partial = null;
    if (begun != null) {
      begun.release();
    }
  }
}
