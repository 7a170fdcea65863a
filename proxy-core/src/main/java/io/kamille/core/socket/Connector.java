package io.kamille.core.socket;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;

/** Opens connections to origins. Any thread. */
@FunctionalInterface
public interface Connector {

  /** Opens them by sockets of this process. */
  static Connector of(ChannelFactory<? extends Channel> sockets) {
    return (bootstrap, address) -> bootstrap.channelFactory(sockets).connect(address);
  }

  /**
   * Opens one.
   *
   * @param bootstrap with a loop, a handler and options, for this connection alone
   * @return done once the connection is open, on any thread; fails as Netty's own does
   */
  Future<?> connect(Bootstrap bootstrap, InetSocketAddress address);
}
