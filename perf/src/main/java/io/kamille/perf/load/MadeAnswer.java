package io.kamille.perf.load;

import io.kamille.core.http.HttpDate;
import io.kamille.perf.load.OriginTarget.Trait;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import java.util.concurrent.TimeUnit;

/** One answer of the origin, after its think time and at its speed. Confined to its loop. */
final class MadeAnswer implements Runnable {

  /*
   * Requests on one connection are answered one after another by servers, which wait for an answer
   * before they ask again: no client of ours pipelines, and no answer overtakes another.
   */

  private static final long TICK_MILLIS = 10;
  private static final int HEAD_CAPACITY = 384;

  /** Thu, 01 Jan 2026 00:00:00 GMT. */
  private static final long MODIFIED_EPOCH_SECONDS = 1_767_225_600L;

  private final Channel channel;
  private final OriginTarget target;
  private final long serial;
  private final boolean isWithoutContent;
  private final boolean isUnmodified;
  private final boolean isLast;
  private final MadeContent content;

  private boolean isBegun;
  private long beginNanos;
  private int sent;

  /**
   * An answer that has not begun.
   *
   * @param since the time of If-Modified-Since in seconds since 1970; {@link HttpDate#INVALID} if
   *     there is none
   * @param isLast whether the connection ends with it
   */
  MadeAnswer(
      Channel channel,
      OriginTarget target,
      long serial,
      boolean isHead,
      long since,
      boolean isLast) {
    this.channel = channel;
    this.target = target;
    this.serial = serial;
    this.isUnmodified = MODIFIED_EPOCH_SECONDS <= since;
    this.isWithoutContent = isHead || isUnmodified;
    this.isLast = isLast;
    this.content = MadeContent.of(target.object());
  }

  /** Answers now or when it has been thought about. */
  void start() {
    int millis = target.of(Trait.THINK);
    if (millis == 0) {
      run();
    } else {
      channel.eventLoop().schedule(this, millis, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void run() {
    if (!channel.isActive()) {
      return;
    }
    if (!isBegun) {
      isBegun = true;
      beginNanos = System.nanoTime();
      channel.write(head(), channel.voidPromise());
    }
    int due = isWithoutContent ? 0 : due();
    write(due);
    if (!isWithoutContent && sent < target.length()) {
      channel.flush();
      channel.eventLoop().schedule(this, TICK_MILLIS, TimeUnit.MILLISECONDS);
    } else {
      finish();
    }
  }

  /** Up to where the content may have been sent by now; no further if nobody takes it. */
  private int due() {
    int rate = target.of(Trait.DRIP);
    if (rate == 0) {
      return target.length();
    }
    double seconds = (System.nanoTime() - beginNanos) / 1e9;
    return channel.isWritable()
        ? (int) Math.min(target.length(), Math.max(sent, rate * seconds))
        : sent;
  }

  private void write(int upTo) {
    while (sent < upTo) {
      ByteBuf slice = content.slice(sent, upTo - sent);
      sent += slice.readableBytes();
      channel.write(slice, channel.voidPromise());
    }
  }

  private void finish() {
    if (isLast) {
      channel.writeAndFlush(channel.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
    } else {
      channel.flush();
    }
  }

  private ByteBuf head() {
    ByteBuf head = channel.alloc().directBuffer(HEAD_CAPACITY);
    ByteBufUtil.writeAscii(head, isUnmodified ? "HTTP/1.1 304 Not Modified" : "HTTP/1.1 200 OK");
    field(head, "Date", HttpDate.format(System.currentTimeMillis() / 1000));
    field(head, "Last-Modified", HttpDate.format(MODIFIED_EPOCH_SECONDS));
    field(head, "ETag", "\"v0\"");
    int fresh = target.of(Trait.FRESH);
    field(head, "Cache-Control", fresh == 0 ? "no-store" : "max-age=" + fresh);
    if (!isUnmodified) {
      field(head, "Content-Type", "application/octet-stream");
      field(head, "Content-Length", Integer.toString(target.length()));
    }
    if (isLast) {
      field(head, "Connection", "close");
    }
    field(head, OriginStub.SERIAL_FIELD, Long.toString(serial));
    ByteBufUtil.writeAscii(head, "\r\n\r\n");
    return head;
  }

  private static void field(ByteBuf head, String name, String value) {
    ByteBufUtil.writeAscii(head, "\r\n");
    ByteBufUtil.writeAscii(head, name);
    ByteBufUtil.writeAscii(head, ": ");
    ByteBufUtil.writeAscii(head, value);
  }
}
