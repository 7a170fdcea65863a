package io.kamille.admin;

import io.kamille.admin.api.OperationTable;
import io.kamille.admin.auth.Peer;
import io.kamille.core.loop.WallClock;
import io.kamille.core.tls.ServerTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.HttpResponseEncoder;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Gives each connection to the control plane its handlers, and says whose it is. Confined to the
 * loop.
 */
record ConnectionEquipment(
    OperationTable operations,
    LiveStreams streams,
    Executor control,
    WallClock clock,
    Duration answerLimit,
    ChannelGroup connections) {

  private static final int MAX_CONNECTIONS = 128;

  /** Of the listener; without {@code tls} in clear text. */
  ChannelHandler network(@Nullable ServerTls tls) {
    return new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel connection) {
        // Who is gone already has no address.
        if (connections.size() >= MAX_CONNECTIONS
            || !(connection.remoteAddress() instanceof InetSocketAddress client)
            || (tls != null && !encrypt(connection, tls))) {
          connection.close();
          return;
        }
        equip(connection, new Peer.Network(client.getAddress()));
      }
    };
  }

  /** Of the local socket: it is the way back in, so nobody on the network can take its places. */
  ChannelHandler local() {
    return new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel connection) {
        equip(connection, new Peer.LocalSocket());
      }
    };
  }

  private void equip(Channel connection, Peer peer) {
    connections.add(connection);
    RequestDecoder decoder = new RequestDecoder();
    ChannelPipeline pipeline = connection.pipeline();
    pipeline.addLast(decoder, new HttpResponseEncoder());
    pipeline.addLast(
        new AdminConnection(operations, streams, control, clock, answerLimit, peer, decoder));
  }

  /** By the first certificate, whatever name the client asks for; false if it is not there. */
  private static boolean encrypt(Channel connection, ServerTls tls) {
    ServerTls.Choice choice = tls.choose(null, connection.eventLoop().newPromise()).getNow();
    if (choice == null) {
      return false;
    }
    try {
      connection.pipeline().addLast(tls.handler(choice, connection.alloc()));
    } finally {
      choice.release();
    }
    return true;
  }
}
