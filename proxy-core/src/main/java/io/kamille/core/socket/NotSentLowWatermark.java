package io.kamille.core.socket;

import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import java.io.IOException;
import java.lang.System.Logger.Level;

/**
 * What may lie in the kernel that was never sent: below half of it the kernel asks for more, above
 * it it takes none ({@code tcp(7)}, TCP_NOTSENT_LOWAT).
 */
public final class NotSentLowWatermark {

  static final int IPPROTO_TCP = 6;
  static final int OPTION = 25;

  private static final System.Logger LOG = System.getLogger("kamille.server");

  private NotSentLowWatermark() {}

  /** Sets it for a socket, or for all that a listening one accepts. On its loop. */
  public static void set(Channel channel, int bytes) {
    if (!channel.isOpen()
        || !(channel instanceof UnixChannel unix && unix.fd() instanceof Socket socket)) {
      return;
    }
    try {
      socket.setIntOpt(IPPROTO_TCP, OPTION, bytes);
    } catch (IOException | ChannelException refused) {
      LOG.log(Level.WARNING, "the kernel refuses TCP_NOTSENT_LOWAT: " + refused.getMessage());
    }
  }
}
