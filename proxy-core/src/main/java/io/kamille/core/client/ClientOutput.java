package io.kamille.core.client;

import io.kamille.core.socket.TunableChannel;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.FileRegion;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What goes to one client: octets and regions of files in the queue of its channel, flushed once
 * for a burst of reads, and what of it the kernel has not taken. Confined to its loop.
 */
public final class ClientOutput {

  /*
   * A region of a file waits in the channel's queue like everything else, but the channel does not
   * count its octets. So they are counted here, and as long as any are left the client passes for
   * one that does not take its answers.
   *
   * TLS encrypts what it is given when it is flushed; until then the channel does not count that
   * either. So under TLS as much as a client may have waiting is flushed within a burst. That it is
   * too much Netty tells in a later task under TLS: until then the source would go on, so its owner
   * is told at once.
   */

  /** Who writes here, and is told what becomes of it. */
  public interface Owner {

    /** {@link #isWritable} may give another answer than before. */
    void writabilityChanged();

    /** So many octets of a region were dropped with the connection. */
    void notSent(long bytes);
  }

  /** Ten segments of the least size that every host takes (RFC 6928 §2, RFC 9293 §3.7.1). */
  private static final int FIRST_FLIGHT_BYTES = 10 * 536;

  private final Channel channel;
  private final LoopTime time;
  private final PendingFlushes flushes;
  private final Owner owner;
  private final @Nullable TunableChannel tunable;
  private final boolean isEncrypted;
  private final Runnable plannedFlush = this::flushPlanned;
  private @Nullable PendingRegions regions;
  private boolean inBurst;
  private boolean flushPlanned;
  private boolean unflushed;
  private boolean hasFlushed;
  private int unencryptedBytes;

  /**
   * The output of {@code channel}.
   *
   * @param flushes of its loop
   * @param tunable told of each flush; null if nobody tunes
   * @param isEncrypted whether TLS stands between us and the socket
   */
  ClientOutput(
      Channel channel,
      LoopTime time,
      PendingFlushes flushes,
      Owner owner,
      @Nullable TunableChannel tunable,
      boolean isEncrypted) {
    this.channel = channel;
    this.time = time;
    this.flushes = flushes;
    this.owner = owner;
    this.tunable = tunable;
    this.isEncrypted = isEncrypted;
  }

  /** For what is queued there without {@link #write}; {@link #queued} has to follow. */
  public Channel channel() {
    return channel;
  }

  /** Queues octets; they leave at the end of this burst. Takes ownership. */
  public void write(ByteBuf octets) {
    int bytes = isEncrypted ? octets.readableBytes() : 0;
    channel.write(octets, channel.voidPromise());
    queued(bytes);
  }

  /** So many octets were queued with the channel: they leave at the end of this burst. */
  public void queued(int bytes) {
    flushSoon();
    if (isEncrypted) {
      unencryptedBytes += bytes;
      if (unencryptedBytes >= channel.config().getWriteBufferHighWaterMark()) {
        flush();
      }
      if (!channel.isWritable()) {
        owner.writabilityChanged();
      }
    }
  }

  /** As {@link #write(ByteBuf)}; the client passes for slow until the region has left. */
  public void write(FileRegion region) {
    boolean isFirst = regions == null;
    PendingRegions pending = regions == null ? new PendingRegions() : regions;
    regions = pending;
    pending.add(region);
    if (tunable != null) {
      tunable.regionBegins(region.count());
    }
    channel.write(region).addListener(_ -> left(pending));
    flushSoon();
    if (isFirst) {
      owner.writabilityChanged();
    }
  }

  /** The oldest region has left: it is with the kernel, or it was dropped with the connection. */
  private void left(PendingRegions pending) {
    long unsent = pending.remove();
    if (unsent > 0) {
      owner.notSent(unsent);
    }
    if (pending.isEmpty()) {
      regions = null;
      if (tunable != null) {
        tunable.regionsEnd();
      }
      if (isWritable()) {
        time.update();
        owner.writabilityChanged();
      }
    }
  }

  /** A burst of reads begins: what is queued meanwhile leaves at its end. */
  public void burstBegins() {
    inBurst = true;
  }

  public void burstEnds() {
    inBurst = false;
    flushIfAny();
  }

  /** Something was queued: it leaves at the end of this burst. */
  public void flushSoon() {
    unflushed = true;
    if (!inBurst && !flushPlanned) {
      flushPlanned = true;
      flushes.add(plannedFlush);
    }
  }

  private void flushPlanned() {
    flushPlanned = false;
    flushIfAny();
  }

  private void flushIfAny() {
    if (unflushed) {
      flush();
    }
  }

  /** What is queued leaves now. */
  public void flush() {
    unflushed = false;
    hasFlushed = true;
    unencryptedBytes = 0;
    if (tunable != null) {
      tunable.writes();
    }
    channel.flush();
  }

  /** Whether all that was ever written here is queued, and so little that one flight carries it. */
  public boolean isFirstFlight() {
    return !hasFlushed && !isEncrypted && pendingBytes() <= FIRST_FLIGHT_BYTES;
  }

  /** Whether TLS stands between us and the socket. */
  public boolean isEncrypted() {
    return isEncrypted;
  }

  /** Whether the client takes its answers: no region waits, nor too many octets. */
  public boolean isWritable() {
    return regions == null && channel.isWritable();
  }

  /** Whether twice as much waits as makes a client pass for slow, and twice {@code leastBytes}. */
  public boolean isOverfull(int leastBytes) {
    long most = Math.max(leastBytes, channel.config().getWriteBufferHighWaterMark());
    return !isWritable() && pendingBytes() > 2 * most;
  }

  /** Whether the kernel has not taken all that it was given. */
  public boolean isBehind() {
    return !unflushed && pendingBytes() != 0;
  }

  /** Octets the kernel has not taken. The pending count alone ignores what is partly written. */
  public long pendingBytes() {
    ChannelOutboundBuffer out = channel.unsafe().outboundBuffer();
    if (out == null) {
      return 0;
    }
    long inFiles = regions == null ? 0 : regions.bytes();
    return inFiles + out.totalPendingWriteBytes() - out.currentProgress();
  }

  /** Octets of regions that the kernel has not taken. */
  public long unsentRegionBytes() {
    return regions == null ? 0 : regions.unsentBytes();
  }

  /** The regions of files in a channel's queue, which leave it in order. Confined to its loop. */
  private static final class PendingRegions {

    private final ArrayDeque<FileRegion> regions = new ArrayDeque<>(2);
    private long bytes;

    /** Notes one that is about to be queued; it stays the channel's. */
    void add(FileRegion region) {
      regions.addLast(region);
      bytes += region.count();
    }

    /** Forgets the oldest, and says how much of it was never sent. */
    long remove() {
      FileRegion region = regions.removeFirst();
      bytes -= region.count();
      return region.count() - region.transferred();
    }

    boolean isEmpty() {
      return regions.isEmpty();
    }

    /** What the regions hold, sent or not. */
    long bytes() {
      return bytes;
    }

    /** What of it the kernel has not taken. */
    long unsentBytes() {
      FileRegion oldest = regions.peekFirst();
      return oldest == null ? 0 : bytes - oldest.transferred();
    }
  }
}
