package io.kamille.core.socket;

import io.netty.channel.ChannelException;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Which connections of a loop send regions of files without a mark on unsent octets, and what their
 * sockets book for that. Confined to the loop.
 */
final class UnmarkedRegions {

  /*
   * A mark cuts a large region into many calls of sendfile(2). What a socket books for a region is
   * no memory of its own: the pages are the file's, however many sockets send them. So a region has
   * no mark, as long as what sockets book stays within an allowance. What is booked is asked of the
   * socket before each region, and counted with the region until the connection is looked at again.
   */
  private static final int SOL_SOCKET = 1;
  private static final int SO_MEMINFO = 55;
  private static final int WMEM_QUEUED = 5;

  private final ByteBuffer figures =
      ByteBuffer.allocateDirect((WMEM_QUEUED + 1) * Integer.BYTES).order(ByteOrder.nativeOrder());

  /** Those that have no mark now. */
  private final Set<TunableChannel> unmarked = new LinkedHashSet<>();

  private long allowanceBytes;
  private long bookedBytes;

  /** What all sockets together may book. If it is less than before, the largest get marks back. */
  void allow(long bytes) {
    allowanceBytes = bytes;
    if (bookedBytes > bytes) {
      for (TunableChannel each : largestFirst()) {
        end(each);
        look(each);
        if (bookedBytes <= bytes) {
          return;
        }
      }
    }
  }

  private List<TunableChannel> largestFirst() {
    return unmarked.stream()
        .sorted(Comparator.comparingLong((TunableChannel each) -> each.bookedBytes).reversed())
        .toList();
  }

  /** A region is about to be queued: it goes without a mark if it is allowed. */
  void begin(TunableChannel channel, long bytes) {
    Socket socket = channel.socket();
    if (socket == null) {
      return;
    }
    long booked = queued(socket) + bytes;
    if (bookedBytes - channel.bookedBytes + booked <= allowanceBytes) {
      count(channel, booked);
      if (unmarked.add(channel)) {
        channel.unmark(socket);
      }
    } else {
      end(channel);
    }
  }

  /** No region waits there any more: it has a mark again. */
  void end(TunableChannel channel) {
    if (unmarked.remove(channel)) {
      Socket socket = channel.socket();
      if (socket != null) {
        channel.mark(socket);
      }
    }
  }

  /** Counts what it books now, unless more of a region is still to come. */
  void look(TunableChannel channel) {
    if (channel.bookedBytes > 0 && !unmarked.contains(channel)) {
      Socket socket = channel.socket();
      count(channel, socket == null ? 0 : queued(socket));
    }
  }

  /** It is closed. */
  void closed(TunableChannel channel) {
    unmarked.remove(channel);
    count(channel, 0);
  }

  private void count(TunableChannel channel, long bytes) {
    bookedBytes += bytes - channel.bookedBytes;
    channel.bookedBytes = bytes;
  }

  /**
   * What the kernel books for unsent and unacknowledged octets; all there is if it does not tell.
   */
  private long queued(Socket socket) {
    figures.clear();
    try {
      socket.getRawOpt(SOL_SOCKET, SO_MEMINFO, figures);
      return figures.getInt(WMEM_QUEUED * Integer.BYTES) & 0xffff_ffffL;
    } catch (IOException | ChannelException untold) {
      return allowanceBytes;
    }
  }
}
