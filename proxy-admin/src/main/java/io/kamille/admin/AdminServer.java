package io.kamille.admin;

import io.kamille.admin.api.ResourceTable;
import io.kamille.admin.auth.BearerToken;
import io.kamille.admin.auth.TokenFile;
import io.kamille.admin.metric.PrometheusText;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.time.WallClock;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** The control plane's listener, on a loop of its own. Any thread. */
public final class AdminServer implements AutoCloseable {

  private static final int MAX_CONNECTIONS = 64;
  private static final int REQUEST_LINE_BYTES = 4096;
  private static final int HEADER_SECTION_BYTES = 8192;
  private static final long STOP_MILLIS = 2000;

  private final EventLoopGroup group;
  private final PrometheusText metrics;
  private final ChannelGroup connections;
  private final Channel listener;

  private AdminServer(
      EventLoopGroup group, PrometheusText metrics, ChannelGroup connections, Channel listener) {
    this.group = group;
    this.metrics = metrics;
    this.connections = connections;
    this.listener = listener;
  }

  /**
   * Reads or creates the token and begins to listen.
   *
   * @throws BindException if the address cannot be had, with the reason alone as its message
   * @throws IOException if the token file cannot be used
   */
  public static AdminServer open(
      AdminSettings settings, ApplianceView appliance, MetricRegistry registry, WallClock clock)
      throws IOException {
    BearerToken token = TokenFile.open(settings.tokenFile());
    EventLoopGroup group =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("kamille-admin", true), NioIoHandler.newFactory());
    PrometheusText metrics = new PrometheusText(registry);
    ResourceTable resources =
        new ResourceTable(appliance, metrics, token, settings.address().getHostString(), clock);
    ChannelGroup connections = new DefaultChannelGroup(group.next());
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .childHandler(new Connections(settings, resources, new Answers(clock), connections))
            .bind(settings.address())
            .awaitUninterruptibly();
    AdminServer server = new AdminServer(group, metrics, connections, bound.channel());
    if (!bound.isSuccess()) {
      server.close();
      throw cannotBind(bound.cause());
    }
    return server;
  }

  private static BindException cannotBind(Throwable why) {
    BindException failure = new BindException(why.getMessage());
    failure.initCause(why);
    return failure;
  }

  /** The address that is listened on. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** Stops listening, closes all connections and ends the loop, within seconds. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly(STOP_MILLIS);
    connections.close().awaitUninterruptibly(STOP_MILLIS);
    group
        .shutdownGracefully(0, STOP_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(2 * STOP_MILLIS);
    metrics.close();
  }

  /** Equips each connection. Confined to the loop. */
  private static final class Connections extends ChannelInitializer<Channel> {

    private final AdminSettings settings;
    private final ResourceTable resources;
    private final Answers answers;
    private final ChannelGroup connections;

    Connections(
        AdminSettings settings,
        ResourceTable resources,
        Answers answers,
        ChannelGroup connections) {
      this.settings = settings;
      this.resources = resources;
      this.answers = answers;
      this.connections = connections;
    }

    @Override
    protected void initChannel(Channel connection) {
      if (connections.size() >= MAX_CONNECTIONS) {
        connection.close();
        return;
      }
      connections.add(connection);
      HttpDecoderConfig limits =
          new HttpDecoderConfig()
              .setMaxInitialLineLength(REQUEST_LINE_BYTES)
              .setMaxHeaderSize(HEADER_SECTION_BYTES);
      connection
          .pipeline()
          .addLast(new HttpServerCodec(limits))
          .addLast(new AnswerDeadline(settings.answerLimit()))
          .addLast(new ContentLimiter(answers))
          .addLast(new AdminHandler(resources, answers));
    }
  }
}
