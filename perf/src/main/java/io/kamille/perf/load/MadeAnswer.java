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

  private final Channel channel;
  private final OriginTarget target;
  private final long serial;
  private final boolean isWithoutContent;
  private final boolean isUnmodified;
  private final boolean isLast;
  private final int end;
  private final MadeContent content;
  private final long version;
  private final long modified;

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
    long now = System.currentTimeMillis() / 1000;
    this.version = target.version(now);
    this.modified = target.modifiedEpochSeconds(now);
    this.isUnmodified = modified <= since;
    this.isWithoutContent = isHead || isUnmodified;
    this.isLast = isLast;
    this.content = MadeContent.of(target.object(), version);
    int abort = target.of(Trait.ABORT);
    this.end = abort < 0 ? target.length() : Math.min(abort, target.length());
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
    if (!isWithoutContent && sent < end) {
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
      return end;
    }
    double seconds = (System.nanoTime() - beginNanos) / 1e9;
    return channel.isWritable() ? (int) Math.min(end, Math.max(sent, rate * seconds)) : sent;
  }

  private void write(int upTo) {
    while (sent < upTo) {
      ByteBuf slice = content.slice(sent, upTo - sent);
      sent += slice.readableBytes();
      channel.write(slice, channel.voidPromise());
    }
  }

  private void finish() {
    boolean isBrokenOff = !isWithoutContent && end < target.length();
    if (isLast || isBrokenOff) {
      channel.writeAndFlush(channel.alloc().buffer(0)).addListener(ChannelFutureListener.CLOSE);
    } else {
      channel.flush();
    }
  }

  private ByteBuf head() {
    long now = System.currentTimeMillis() / 1000;
    ByteBuf head = channel.alloc().directBuffer(HEAD_CAPACITY);
    ByteBufUtil.writeAscii(head, isUnmodified ? "HTTP/1.1 304 Not Modified" : "HTTP/1.1 200 OK");
    field(head, "Date", HttpDate.format(now));
    field(head, "Last-Modified", HttpDate.format(modified));
    field(head, "ETag", "\"v" + version + "\"");
    int fresh = target.of(Trait.FRESH);
    if (fresh == 0) {
      field(head, "Cache-Control", "no-store");
    } else if (target.of(Trait.EXPIRES) != 0) {
      field(head, "Expires", HttpDate.format(now + fresh));
    } else {
      field(head, "Cache-Control", "max-age=" + fresh);
    }
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
