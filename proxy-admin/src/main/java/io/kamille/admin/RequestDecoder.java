package io.kamille.admin;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import org.jspecify.annotations.Nullable;

/** Decodes the next part of a request when it is asked to, and keeps what comes behind it. */
final class RequestDecoder extends HttpRequestDecoder {

  private static final int REQUEST_LINE_BYTES = 4096;
  private static final int HEADER_SECTION_BYTES = 8192;

  private @Nullable ChannelHandlerContext own;

  RequestDecoder() {
    super(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(REQUEST_LINE_BYTES)
            .setMaxHeaderSize(HEADER_SECTION_BYTES));
    setSingleDecode(true);
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    own = context;
  }

  /** Decodes on in what has been kept; false if that takes further octets. */
  boolean decodesOn() {
    int before = actualReadableBytes();
    if (own == null || before == 0) {
      return false;
    }
    try {
      channelRead(own, Unpooled.EMPTY_BUFFER);
    } catch (Exception malformed) {
      own.fireExceptionCaught(malformed);
    }
    return actualReadableBytes() < before;
  }
}
