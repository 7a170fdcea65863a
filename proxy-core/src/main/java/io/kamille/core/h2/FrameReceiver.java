package io.kamille.core.h2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Exception.StreamException;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What each frame of the other side asks for, and whether it may (RFC 9113 §5.1, §6). Confined to
 * its loop.
 */
final class FrameReceiver extends Http2FrameAdapter {

  /*
   * Netty's reader checks the shape of frames and decodes header sections. It is given whole
   * frames, one at a time: so what a frame is for is known before it is read. What the other side
   * does wrong ends its stream or the connection as RFC 9113 says; where it leaves a choice, the
   * connection.
   *
   * The decoder bounds a header section. Each part of it costs a copy of those before, so small
   * parts are paid for as other floods are (CVE-2024-27316); Netty would allow a fixed few.
   */
  private static final int SMALL_PART_BYTES = 64;

  private static final int MOST_SETTINGS = 32;

  private static final char NO_OLD_PRIORITIES = 9;

  private final SectionIntake heads;
  private final OpenStreams streams;
  private final Faults faults;
  private final H2Output output;
  private final FrameWriter writer;
  private final ReceiveWindow window;
  private final LongConsumer pingAnswered;
  private final DefaultHttp2FrameReader reader;
  private boolean settingsSeen;
  private boolean hasNoOldPriorities;
  private int headBytes;
  private long wholes;

  FrameReceiver(
      SectionIntake heads,
      OpenStreams streams,
      Faults faults,
      H2Output output,
      FrameWriter writer,
      ReceiveWindow window,
      LongConsumer pingAnswered) {
    this.heads = heads;
    this.streams = streams;
    this.faults = faults;
    this.output = output;
    this.writer = writer;
    this.window = window;
    this.pingAnswered = pingAnswered;
    this.reader = new DefaultHttp2FrameReader(heads.decoder(), Integer.MAX_VALUE);
  }

  /** Reads the frame at the reader index, which has so many octets. Borrows the buffer. */
  void frame(ChannelHandlerContext context, ByteBuf in, int bytes) {
    int type = FrameWriter.type(in);
    int id = FrameWriter.stream(in);
    int next = in.readerIndex() + bytes;
    int end = in.writerIndex();
    in.writerIndex(next);
    try {
      if (admit(type, id, in) && pay(type, bytes)) {
        count(type, in, bytes);
        reader.readFrame(context, in, this);
      }
    } catch (StreamException wrong) {
      streamFault(wrong.error(), type, id, String.valueOf(wrong.getMessage()));
    } catch (Http2Exception wrong) {
      faults.fail(wrong.error(), String.valueOf(wrong.getMessage()));
    } catch (IllegalArgumentException wrong) {
      faults.fail(Http2Error.COMPRESSION_ERROR, "a header section that cannot be decoded");
    } finally {
      in.writerIndex(end);
      in.readerIndex(next);
      wholes += headBytes == 0 ? 1 : 0;
    }
  }

  private boolean admit(int type, int id, ByteBuf in) {
    boolean isSettings = type == Http2FrameTypes.SETTINGS && !FrameWriter.has(in, FrameWriter.ACK);
    if (!settingsSeen && !isSettings) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "a connection that does not begin with settings");
      return false;
    }
    if (type == Http2FrameTypes.PUSH_PROMISE) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "a push that nobody asked for");
      return false;
    }
    // Within a section nothing else may come, which the reader sees to.
    return type != Http2FrameTypes.HEADERS || headBytes > 0 || heads.begins(id);
  }

  private boolean pay(int type, int bytes) {
    return type != Http2FrameTypes.CONTINUATION
        || bytes - FrameWriter.HEADER_BYTES >= SMALL_PART_BYTES
        || faults.spend(AttackBudget.CONTROL);
  }

  /** Counts what an unfinished header section has taken so far. */
  private void count(int type, ByteBuf in, int bytes) {
    boolean isPart = type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION;
    headBytes = isPart && !FrameWriter.has(in, FrameWriter.END_HEADERS) ? headBytes + bytes : 0;
  }

  /** Octets of a header section that is to be continued. */
  int headBytes() {
    return headBytes;
  }

  /** Frames and header sections that came whole so far. */
  long wholes() {
    return wholes;
  }

  void release() {
    reader.close();
  }

  /** A fault that concerns one stream, of which the reader or the sink found out. */
  private void streamFault(Http2Error code, int type, int id, String reason) {
    if (type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION) {
      heads.malformed(id, code, reason);
    } else if (streams.isIdle(id)) {
      // No stream may be reset that was never open (RFC 9113 §6.4).
      faults.fail(code, "a faulty frame on a stream that is not open");
    } else {
      faults.reset(id, code, reason);
    }
  }

  // Header sections

  @Override
  public void onHeadersRead(
      ChannelHandlerContext context,
      int id,
      Http2Headers headers,
      int dependency,
      short weight,
      boolean exclusive,
      int padding,
      boolean isLast) {
    heads.complete(id, isLast);
  }

  @Override
  public void onHeadersRead(
      ChannelHandlerContext context, int id, Http2Headers headers, int padding, boolean isLast) {
    heads.complete(id, isLast);
  }

  // Content

  @Override
  public int onDataRead(
      ChannelHandlerContext context, int id, ByteBuf data, int padding, boolean isLast) {
    int length = data.readableBytes();
    int flowBytes = length + padding;
    H2Stream stream = streams.find(id);
    if (stream == null && !admitLate(id)) {
      return flowBytes;
    }
    if (!window.take(flowBytes)) {
      faults.fail(Http2Error.FLOW_CONTROL_ERROR, "more content than the connection's window");
      return flowBytes;
    }
    if (length == 0 && !isLast && !faults.spend(AttackBudget.CONTROL)) {
      return flowBytes;
    }
    if (stream == null) {
      window.credit(flowBytes);
    } else if (stream.hasReceivedAll()) {
      window.credit(flowBytes);
      faults.reset(id, Http2Error.STREAM_CLOSED, "content behind the end");
    } else if (!stream.takeReceiveWindow(flowBytes)) {
      window.credit(flowBytes);
      faults.reset(id, Http2Error.FLOW_CONTROL_ERROR, "more content than the stream's window");
    } else {
      content(stream, data, length, padding, isLast);
    }
    return flowBytes;
  }

  private static void content(
      H2Stream stream, ByteBuf data, int length, int padding, boolean isLast) {
    if (padding > 0) {
      stream.credit(padding);
    }
    if (length > 0) {
      stream.received(data.readRetainedSlice(length));
    }
    if (isLast && !stream.isOver()) {
      stream.arrivedEnd();
    }
  }

  /** Admits content on a stream that is gone, or was never taken, or fails the connection. */
  private boolean admitLate(int id) {
    if (streams.isTooLate(id)) {
      return true;
    }
    if (streams.isIdle(id)) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "content on a stream that is not open");
      return false;
    }
    if (streams.endOf(id) != OpenStreams.End.RESET_BY_US) {
      faults.fail(Http2Error.STREAM_CLOSED, "content on a closed stream");
      return false;
    }
    return true;
  }

  // Streams and windows

  @Override
  public void onRstStreamRead(ChannelHandlerContext context, int id, long code) {
    H2Stream stream = streams.find(id);
    if (stream != null) {
      boolean early = !stream.isAllSent();
      Http2Error why = Http2Error.valueOf(code);
      // Unknown codes count as this one (RFC 9113 §7).
      streams.abandoned(stream, why == null ? Http2Error.INTERNAL_ERROR : why);
      faults.spendForEnd(stream, early ? AttackBudget.ABANDONED : AttackBudget.CONTROL);
    } else if (streams.isIdle(id) && !streams.isTooLate(id)) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "the reset of a stream that is not open");
    } else {
      faults.spend(AttackBudget.CONTROL);
    }
  }

  @Override
  public void onWindowUpdateRead(ChannelHandlerContext context, int id, int bytes) {
    if (!faults.spend(AttackBudget.CONTROL)) {
      return;
    }
    if (id == 0) {
      if (!output.grow(bytes)) {
        faults.fail(Http2Error.FLOW_CONTROL_ERROR, "a window over its limit");
      }
      return;
    }
    H2Stream stream = streams.find(id);
    if (stream != null) {
      if (!output.grow(stream, bytes)) {
        faults.reset(id, Http2Error.FLOW_CONTROL_ERROR, "a window over its limit");
      }
    } else if (streams.isIdle(id) && !streams.isTooLate(id)) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "a window of a stream that is not open");
    }
  }

  // The connection

  @Override
  public void onSettingsRead(ChannelHandlerContext context, Http2Settings given) {
    if (given.size() > MOST_SETTINGS) {
      faults.fail(Http2Error.ENHANCE_YOUR_CALM, "too many settings");
      return;
    }
    if (!isGoodChoice(given.get(NO_OLD_PRIORITIES)) || !heads.maySet(given)) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "a setting that may not have this value");
      return;
    }
    settingsSeen = true;
    Integer initialWindow = given.initialWindowSize();
    if (initialWindow != null && !output.initialWindow(initialWindow, streams)) {
      faults.fail(Http2Error.FLOW_CONTROL_ERROR, "a window over its limit");
      return;
    }
    Integer maxPayload = given.maxFrameSize();
    if (maxPayload != null) {
      output.maxPayload(maxPayload);
    }
    writer.settingsAck();
    heads.settings(given);
    faults.spend(AttackBudget.CONTROL * (1 + given.size()));
  }

  /** RFC 9218 §2.1: 0 or 1, and what the first settings say holds. */
  private boolean isGoodChoice(@Nullable Long noOldPriorities) {
    if (noOldPriorities == null) {
      return true;
    }
    boolean wanted = noOldPriorities == 1;
    boolean isFirst = !settingsSeen;
    if (isFirst) {
      hasNoOldPriorities = wanted;
    }
    return noOldPriorities <= 1 && wanted == hasNoOldPriorities;
  }

  @Override
  public void onPingRead(ChannelHandlerContext context, long content) {
    writer.ping(content, true);
    faults.spend(AttackBudget.CONTROL);
  }

  @Override
  public void onPingAckRead(ChannelHandlerContext context, long content) {
    pingAnswered.accept(content);
    faults.spend(AttackBudget.CONTROL);
  }

  @Override
  public void onSettingsAckRead(ChannelHandlerContext context) {
    faults.spend(AttackBudget.CONTROL);
  }

  @Override
  public void onGoAwayRead(
      ChannelHandlerContext context, int lastStreamId, long code, ByteBuf reason) {
    if (faults.spend(AttackBudget.CONTROL)) {
      heads.goAway(lastStreamId);
    }
  }

  @Override
  public void onPriorityRead(
      ChannelHandlerContext context, int id, int dependency, short weight, boolean exclusive) {
    faults.spend(AttackBudget.CONTROL);
  }

  @Override
  public void onUnknownFrame(
      ChannelHandlerContext context, byte type, int id, Http2Flags flags, ByteBuf payload) {
    if (!faults.spend(AttackBudget.CONTROL) || type != FrameWriter.PRIORITY_UPDATE) {
      return;
    }
    if (payload.readableBytes() < Integer.BYTES) {
      faults.fail(Http2Error.FRAME_SIZE_ERROR, "a priority update that is cut short");
    } else if (id != 0 || !heads.priorityUpdate(payload)) {
      faults.fail(Http2Error.PROTOCOL_ERROR, "a priority update of no stream");
    }
  }
}
