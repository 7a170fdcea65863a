package io.kamille.core.socket;

import io.netty.channel.ChannelException;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a loop saw of some of its connections, in rows. Owned by the loop that fills it, then by
 * whoever took it, until that gives it back.
 */
public final class TcpSamples {

  /*
   * The kernel writes into the rows themselves: a look costs one system call and allocates nothing.
   * An older kernel fills less of a row, of each row the same, so that the rest stays 0 as it was.
   */
  static final int ROWS = 128;

  private static final int IPPROTO_TCP = 6;
  private static final int TCP_INFO = 11;

  private final TcpSampler looker;
  private final ByteBuffer infos =
      ByteBuffer.allocateDirect(ROWS * TcpSample.LENGTH).order(ByteOrder.nativeOrder());
  private final @Nullable TunableChannel[] channels = new @Nullable TunableChannel[ROWS];
  private final @Nullable Waiting[] waiting = new @Nullable Waiting[ROWS];
  private final boolean[] isGone = new boolean[ROWS];
  private int rows;
  private long atNanos;

  /**
   * Octets that wait for a client in front of the kernel.
   *
   * @param bufferedBytes in memory of their own
   * @param leasedBytes in the store's memory
   * @param fileBytes in files
   */
  public record Waiting(long bufferedBytes, long leasedBytes, long fileBytes) {

    static final Waiting NONE = new Waiting(0, 0, 0);

    boolean isNone() {
      return equals(NONE);
    }
  }

  /** One other send buffer. */
  public record Change(TunableChannel channel, SendBuffer buffer) {}

  TcpSamples(TcpSampler looker) {
    this.looker = looker;
  }

  // The loop's side

  void begin(long nowNanos) {
    rows = 0;
    atNanos = nowNanos;
  }

  boolean isFull() {
    return rows == ROWS;
  }

  boolean isEmpty() {
    return rows == 0;
  }

  /** Notes that {@code channel} is closed. */
  void gone(TunableChannel channel) {
    channels[rows] = channel;
    isGone[rows] = true;
    rows++;
  }

  /** Looks at a connection that is open; false if the kernel does not tell. */
  boolean sample(TunableChannel channel, Socket socket, Waiting octets) {
    infos.limit((rows + 1) * TcpSample.LENGTH).position(rows * TcpSample.LENGTH);
    try {
      socket.getRawOpt(IPPROTO_TCP, TCP_INFO, infos);
    } catch (IOException | ChannelException refused) {
      return false;
    }
    channels[rows] = channel;
    waiting[rows] = octets;
    isGone[rows] = false;
    rows++;
    return true;
  }

  /** Whether the kernel holds octets for the connection of the last row. */
  boolean lastHoldsOctets() {
    TcpSample last = sample(rows - 1);
    return last.unsentBytes() + last.inFlightBytes() > 0;
  }

  // The taker's side

  /** How many rows there are. */
  public int size() {
    return rows;
  }

  /** Whose row it is. */
  public TunableChannel channel(int row) {
    return Objects.requireNonNull(channels[row]);
  }

  /** Whether the connection is closed; then the row tells nothing else. */
  public boolean isGone(int row) {
    return isGone[row];
  }

  /** What TCP told. */
  public TcpSample sample(int row) {
    infos.clear();
    return TcpSample.read(infos, row * TcpSample.LENGTH, atNanos, channel(row).congestionControl());
  }

  /** What waited in front of the kernel. */
  public Waiting waiting(int row) {
    return Objects.requireNonNull(waiting[row]);
  }

  /** Who looked, and sets other send buffers. Any thread. */
  public TcpSampler looker() {
    return looker;
  }

  /** Returns the rows to the loop, which uses them again. Any thread; once. */
  public void giveBack() {
    looker.takeBack(this);
  }

  /** Lets go of channels, on the loop. */
  void forget() {
    for (int row = 0; row < rows; row++) {
      channels[row] = null;
      waiting[row] = null;
    }
    rows = 0;
  }
}
