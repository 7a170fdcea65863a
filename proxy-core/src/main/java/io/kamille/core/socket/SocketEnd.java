package io.kamille.core.socket;

import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import java.io.IOException;
import java.nio.channels.NotYetConnectedException;

/** The end of what we send on a connection: a FIN (RFC 9293 §3.6). Stateless; on its loop. */
public final class SocketEnd {

  private SocketEnd() {}

  /**
   * Sends it behind all that the kernel has. Nothing may wait in the channel, and nothing may be
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
}
