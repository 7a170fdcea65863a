package io.kamille.admin;

import io.kamille.admin.api.OperationTable;
import io.kamille.core.tls.ServerTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Gives each connection to the control plane its handlers. Confined to the loop. */
final class ConnectionEquipment extends ChannelInitializer<Channel> {

  private static final int MAX_CONNECTIONS = 128;
  private static final int REQUEST_LINE_BYTES = 4096;
  private static final int HEADER_SECTION_BYTES = 8192;

  private final AdminSettings settings;
  private final @Nullable ServerTls tls;
  private final OperationTable operations;
  private final Executor control;
  private final Answers answers;
  private final LiveStreams streams;
  private final ChannelGroup connections;

  ConnectionEquipment(
      AdminSettings settings,
      @Nullable ServerTls tls,
      OperationTable operations,
      Executor control,
      Answers answers,
      LiveStreams streams,
      ChannelGroup connections) {
    this.settings = settings;
    this.tls = tls;
    this.operations = operations;
    this.control = control;
    this.answers = answers;
    this.streams = streams;
    this.connections = connections;
  }

  @Override
  protected void initChannel(Channel connection) {
    // The local socket is the way back in: nobody on the network can take its places.
    boolean isLocal = !(connection.localAddress() instanceof InetSocketAddress);
    if (!isLocal && connections.size() >= MAX_CONNECTIONS) {
      connection.close();
      return;
    }
    connections.add(connection);
    if (!isLocal && tls != null && !encrypt(connection, tls)) {
      connection.close();
      return;
    }
    HttpDecoderConfig limits =
        new HttpDecoderConfig()
            .setMaxInitialLineLength(REQUEST_LINE_BYTES)
            .setMaxHeaderSize(HEADER_SECTION_BYTES);
    connection
        .pipeline()
        .addLast(new HttpServerCodec(limits))
        .addLast(new AnswerDeadline(settings.answerLimit()))
        .addLast(new RequestCollector(operations, answers))
        .addLast(new AdminHandler(operations, answers, streams, control));
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
