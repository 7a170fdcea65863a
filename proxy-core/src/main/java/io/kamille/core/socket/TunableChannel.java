package io.kamille.core.socket;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection whose send buffer can be set: what of it others may know, and the four numbers
 * that may be told it. Confined to its loop, but for what never changes.
 */
public final class TunableChannel {

  /*
   * SO_SNDBUF ends the kernel's own tuning of the buffer; SO_BUF_LOCK (Linux 5.14) lets it begin
   * again. The kernel takes SO_SNDBUF for content and keeps twice as much, for what it needs beside
   * it, but never more than net.core.wmem_max: so it is asked what became of it.
   *
   * Netty tells of a closed descriptor by IOException and of what the kernel refuses by
   * ChannelException.
   *
   * Netty looks at watermarks only when octets come or go. If fewer may wait now than do, an empty
   * buffer makes it look. If more may, it looks when the next of them leave.
   */
  private static final int SOL_SOCKET = 1;
  private static final int SO_SNDBUF = 7;
  private static final int SO_BUF_LOCK = 72;
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_CONGESTION = 13;
  private static final int TCP_NOTSENT_LOWAT = 25;
  private static final int NAME_LENGTH = 16;
  private static final int YOUNG_LOOKS = 3;

  /** Below that, a mark costs a region no further call worth naming. */
  private static final int REGION_BYTES = 256 << 10;

  private final TcpSampler watcher;
  private final Channel channel;
  private final InetAddress client;
  private final String protocol;
  private final long number;
  private @Nullable CongestionControl control;
  private SendBuffer buffer;
  private int grantedBytes;
  private @Nullable String refused;
  private Consumer<Consumer<ByteBuf>> keptBack = _ -> {};
  private long partBytes;
  boolean hasWritten;
  boolean hasBegun;
  boolean isSetAside;
  boolean isDue;
  boolean isKnown;
  int looks;

  /** For regions without a mark; kept by {@link UnmarkedRegions}. */
  long bookedBytes;

  private boolean isUnmarked;

  TunableChannel(
      TcpSampler watcher,
      Channel channel,
      InetAddress client,
      String protocol,
      long number,
      SendBuffer inherited) {
    this.watcher = watcher;
    this.channel = channel;
    this.client = client;
    this.protocol = protocol;
    this.number = number;
    this.buffer = inherited;
  }

  /** A number no other connection of this process has. Any thread. */
  public long number() {
    return number;
  }

  /** Any thread. */
  public InetAddress client() {
    return client;
  }

  /** {@code HTTP/1.1}, {@code HTTP/2}, and whether over TLS. Any thread. */
  public String protocol() {
    return protocol;
  }

  /** Known after the first look. Any thread that was handed that look. */
  public CongestionControl congestionControl() {
    return control == null ? CongestionControl.OTHER : control;
  }

  /** What its owner keeps back, each buffer lent, to be counted with what waits in the channel. */
  public void keptBack(Consumer<Consumer<ByteBuf>> keptBack) {
    this.keptBack = keptBack;
  }

  Consumer<Consumer<ByteBuf>> keptBack() {
    return keptBack;
  }

  /** Octets are about to go to the kernel. Called for each flush. */
  public void writes() {
    hasWritten = true;
    if (!isDue) {
      watcher.writes(this);
    }
  }

  /** A region of so many octets is about to be queued: a large one may go without a mark. */
  public void regionBegins(long bytes) {
    if (bytes >= REGION_BYTES && buffer.notSentLowWatermarkBytes() > 0) {
      watcher.regions().begin(this, bytes);
    }
  }

  /** No region is queued any more. */
  public void regionsEnd() {
    if (isUnmarked) {
      watcher.regions().end(this);
    }
  }

  void unmark(Socket socket) {
    isUnmarked = true;
    set(socket, "TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0);
  }

  void mark(Socket socket) {
    isUnmarked = false;
    int bytes = buffer.notSentLowWatermarkBytes();
    set(socket, "TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes);
  }

  /** Whether a region goes without a mark. After a look: any thread that was handed it. */
  public boolean isUnmarked() {
    return isUnmarked;
  }

  /** The connection is closed. Idempotent. */
  public void closed() {
    watcher.closed(this);
  }

  /** Whether too little is known of it for an estimate. */
  boolean isYoung() {
    return looks < YOUNG_LOOKS;
  }

  /** Whether it is closed, and nobody has to hear of it. */
  boolean isOver() {
    return !isKnown && !channel.isOpen();
  }

  Channel channel() {
    return channel;
  }

  @Nullable Socket socket() {
    return SocketEnd.socket(channel);
  }

  /** Asks, once, which law governs the congestion window. */
  void learnCongestionControl(Socket socket, ByteBuffer scratch) {
    if (control != null) {
      return;
    }
    scratch.clear().limit(NAME_LENGTH);
    try {
      socket.getRawOpt(IPPROTO_TCP, TCP_CONGESTION, scratch);
      scratch.clear().limit(NAME_LENGTH);
      control = CongestionControl.of(scratch);
    } catch (IOException | ChannelException refused) {
      control = CongestionControl.OTHER;
    }
  }

  /** It writes for the first time. */
  void begin(SendBuffer buffer, long partBytes) {
    this.partBytes = partBytes;
    isSetAside = partBytes > 0;
    apply(buffer);
  }

  /** Its part before the first look; 0 if it had none. After a look, as below. */
  public long partBytes() {
    return partBytes;
  }

  /** What was asked for last. After a look: any thread that was handed it. */
  public SendBuffer sendBuffer() {
    return buffer;
  }

  /** Content the kernel fixed its buffer at; 0 while it tunes it by itself. As above. */
  public int grantedBytes() {
    return grantedBytes;
  }

  /** Which option the kernel refused last, and why; null if none. As above. */
  public @Nullable String refused() {
    return refused;
  }

  /** Sets what differs from {@code next}. What the kernel refuses stays as it is. */
  void apply(SendBuffer next) {
    Socket socket = socket();
    if (socket == null || next.equals(buffer)) {
      return;
    }
    if (next.notSentLowWatermarkBytes() != buffer.notSentLowWatermarkBytes() && !isUnmarked) {
      int bytes = next.notSentLowWatermarkBytes();
      set(socket, "TCP_NOTSENT_LOWAT", IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes);
    }
    if (next.sendBufferBytes() != buffer.sendBufferBytes()) {
      size(socket, next);
    }
    if (next.highWatermarkBytes() != buffer.highWatermarkBytes()
        || next.lowWatermarkBytes() != buffer.lowWatermarkBytes()) {
      watermarks(next);
    }
    buffer = next;
  }

  private void size(Socket socket, SendBuffer next) {
    if (next.isAutotuned()) {
      if (set(socket, "SO_BUF_LOCK", SOL_SOCKET, SO_BUF_LOCK, 0)) {
        grantedBytes = 0;
      }
    } else if (set(socket, "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF, next.sendBufferBytes())) {
      grantedBytes = granted(socket, next.sendBufferBytes());
    }
  }

  private static int granted(Socket socket, int askedBytes) {
    try {
      return socket.getIntOpt(SOL_SOCKET, SO_SNDBUF) / 2;
    } catch (IOException | ChannelException untold) {
      return askedBytes;
    }
  }

  private boolean set(Socket socket, String name, int level, int option, int value) {
    try {
      socket.setIntOpt(level, option, value);
      refused = refused != null && refused.startsWith(name) ? null : refused;
      return true;
    } catch (IOException | ChannelException why) {
      refused = name + ": " + why.getMessage();
      return false;
    }
  }

  private void watermarks(SendBuffer next) {
    channel
        .config()
        .setWriteBufferWaterMark(
            new WriteBufferWaterMark(next.lowWatermarkBytes(), next.highWatermarkBytes()));
    ChannelOutboundBuffer waiting = channel.unsafe().outboundBuffer();
    if (waiting != null
        && waiting.isWritable()
        && waiting.totalPendingWriteBytes() > next.highWatermarkBytes()) {
      channel.unsafe().write(Unpooled.EMPTY_BUFFER, channel.voidPromise());
      channel.unsafe().flush();
    }
  }
}
