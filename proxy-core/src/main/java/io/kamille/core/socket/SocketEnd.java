package io.kamille.core.socket;

import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import java.io.IOException;
import java.nio.channels.NotYetConnectedException;
import org.jspecify.annotations.Nullable;

/**
 * The socket of a channel, and the ends of its connection (RFC 9293 §3.6). Stateless; on its loop.
 */
public final class SocketEnd {

  private SocketEnd() {}

  /** Null if the channel has none of the kernel's, or is closed and has it no longer. */
  static @Nullable Socket socket(Channel channel) {
    return channel.isOpen()
            && channel instanceof UnixChannel unix
            && unix.fd() instanceof Socket socket
        ? socket
        : null;
  }

  /**
   * Sends a FIN behind all that the kernel has. Nothing may wait in the channel, and nothing may be
   * written to it any more: unlike {@code DuplexChannel.shutdownOutput}, this makes no exception
   * with its stack for writes that never come, if the channel is one of {@code LoopGroup}.
   */
  public static void send(Channel channel) {
    if (channel instanceof UnixChannel unix && unix.fd() instanceof Socket socket) {
      try {
        socket.shutdown(false, true);
      } catch (IOException | NotYetConnectedException over) {
        channel.close();
      }
    } else if (channel instanceof DuplexChannel duplex) {
      duplex.shutdownOutput();
    }
  }

  /**
   * Closes both ways. Netty would first ask for SO_LINGER and take the socket out of epoll, which
   * the kernel does by itself: so the descriptor is closed before the channel. Nobody may stand
   * between who calls and the socket, such as TLS, and no other process may have the descriptor.
   */
  public static void close(Channel channel) {
    if (channel instanceof UnixChannel unix && unix.fd().isOpen()) {
      try {
        unix.fd().close();
      } catch (IOException lost) {
        // The kernel has given the descriptor up all the same, close(2).
      }
    }
    channel.close();
  }
}
