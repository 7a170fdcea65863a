package io.kamille.core.socket;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * How far the kernel is with what it was given to send on a TCP connection ({@code tcp(7)},
 * TCP_INFO). One look at a time. Confined to its loop.
 */
public final class TcpOutput {

  /*
   *     0  1  tcpi_state          the state of RFC 9293 §3.3.2, in the kernel's numbers
   *   120  8  tcpi_bytes_acked    octets that the other side has acknowledged (RFC 4898)
   *   144  4  tcpi_notsent_bytes  octets in the send buffer that were never sent
   *
   * An offset of `struct tcp_info` never changes; an older kernel fills less of it.
   */
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_INFO = 11;
  private static final int STATE_OFFSET = 0;
  private static final int ACKNOWLEDGED_OFFSET = 120;
  private static final int UNSENT_OFFSET = 144;
  private static final int LENGTH = UNSENT_OFFSET + Integer.BYTES;

  private static final byte FIN_WAIT_2 = 5;
  private static final byte CLOSE = 7;

  private final ByteBuffer info = ByteBuffer.allocateDirect(LENGTH).order(ByteOrder.nativeOrder());

  /**
   * Looks at this connection; false if the kernel does not tell, or the channel is closed: its
   * descriptor may be somebody else's by now.
   */
  public boolean sample(Channel channel) {
    Socket socket = SocketEnd.socket(channel);
    if (socket == null) {
      return false;
    }
    try {
      info.clear();
      socket.getRawOpt(IPPROTO_TCP, TCP_INFO, info);
      return true;
    } catch (IOException | ChannelException closed) {
      return false;
    }
  }

  /** Whether the connection was over at the last look: reset, or closed and confirmed both ways. */
  public boolean isClosed() {
    return info.get(STATE_OFFSET) == CLOSE;
  }

  /** Whether the other side had acknowledged all that was sent, and its end, at the last look. */
  public boolean isAllAcknowledged() {
    return info.get(STATE_OFFSET) == FIN_WAIT_2 || isClosed();
  }

  /** Octets that had been acknowledged at the last look. */
  public long acknowledgedBytes() {
    return info.getLong(ACKNOWLEDGED_OFFSET);
  }

  /** Octets that lay in the send buffer, never sent, at the last look. */
  public long unsentBytes() {
    return Integer.toUnsignedLong(info.getInt(UNSENT_OFFSET));
  }
}
