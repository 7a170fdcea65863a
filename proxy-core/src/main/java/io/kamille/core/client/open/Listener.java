package io.kamille.core.client.open;

import io.kamille.core.client.Accepted;
import io.kamille.core.client.ClientSettings;
import io.kamille.core.client.ServerShard;
import io.kamille.core.gate.ClientTable;
import io.kamille.core.setting.HostPort;
import io.kamille.core.socket.Descriptors;
import io.kamille.core.tls.Challenges;
import io.kamille.core.tls.ServerTls;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.IntegerUnixChannelOption;
import io.netty.channel.unix.UnixChannelOption;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A listening address: one socket per loop, among which the kernel spreads the connections. Any
 * thread.
 */
public final class Listener implements AutoCloseable {

  /*
   * With SO_REUSEPORT a second Kamille could listen on the same address unnoticed, and each would
   * get half the connections. So the address is first bound without it, for a moment.
   *
   * A client that is not let in, or has too many connections, is refused before anything is made
   * for the connection or another one yields to it.
   */

  /** Connections that the kernel holds until a loop accepts them. */
  public static final int BACKLOG = 4_096;

  /** Ports below it are not for everybody. */
  private static final int PRIVILEGED = 1024;

  private static final int ACCEPTS_PER_TURN = 64;

  // Accepted sockets take it over (socket(7)). TCP_NODELAY is what Netty sets of each by itself.
  private static final IntegerUnixChannelOption KEEPALIVE =
      new IntegerUnixChannelOption("SO_KEEPALIVE", 1, 9);
  private static final IntegerUnixChannelOption NOT_SENT_LOW_WATERMARK =
      new IntegerUnixChannelOption("TCP_NOTSENT_LOWAT", 6, 25);
  private static final System.Logger LOG = System.getLogger("kamille.server");

  private final List<Channel> sockets = new ArrayList<>();
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicReference<ListenerSettings> settings;
  private final ConnectionLimit limit;
  private final ClientTable clients;

  private Listener(ListenerSettings settings, ConnectionLimit limit, ClientTable clients) {
    this.settings = new AtomicReference<>(settings);
    this.limit = limit;
    this.clients = clients;
  }

  /**
   * Listens, by sockets that listen already if there are any.
   *
   * @param shards of the loops that serve it
   * @param limit of all connections together
   * @param clients of all listeners
   * @param tls null for clear text; stays the caller's
   * @param challenges answered to certificate authorities; null for none
   * @param notSentLowWatermark as for {@link #notSentLowWatermark}
   * @param inherited descriptors of sockets on that address; owned from now on
   * @throws IOException if the address cannot be had; the message says which and why
   */
  public static Listener open(
      ListenerSettings settings,
      List<ServerShard> shards,
      ConnectionLimit limit,
      ClientTable clients,
      @Nullable ServerTls tls,
      @Nullable Challenges challenges,
      int notSentLowWatermark,
      List<Integer> inherited)
      throws IOException {
    Listener listener = new Listener(settings, limit, clients);
    Function<ServerShard, Opening> opening =
        shard ->
            listener
            .new Opening(new ConnectionOpener(shard, settings, tls, challenges, shards.size()));
    try {
      if (inherited.isEmpty()) {
        InetSocketAddress address = settings.address().socketAddress();
        probe(address);
        for (ServerShard shard : shards) {
          Opening next = opening.apply(shard);
          listener.add(bind(address, notSentLowWatermark, next, shards.size() > 1), next);
          address = listener.address();
        }
      } else {
        for (int i = 0; i < Math.max(shards.size(), inherited.size()); i++) {
          int descriptor =
              i < inherited.size()
                  ? inherited.get(i)
                  : Descriptors.copyOf(inherited.get(i % inherited.size()));
          Opening next = opening.apply(shards.get(i % shards.size()));
          listener.add(adopt(descriptor, notSentLowWatermark, next), next);
        }
      }
    } catch (IOException failed) {
      listener.sockets.forEach(Channel::close);
      throw failed;
    }
    return listener;
  }

  private void add(Channel socket, Opening opening) {
    socket.pipeline().addLast(limit.acceptTrouble(opening.server));
    sockets.add(socket);
  }

  /** Without listening: who connected just then would be reset. */
  private static void probe(InetSocketAddress address) throws IOException {
    if (address.isUnresolved()) {
      throw new IOException("cannot listen on " + address.getHostString() + ": unknown host");
    }
    try (Socket socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
    } catch (IOException failed) {
      throw cannotListen(address, failed);
    }
  }

  private static IOException cannotListen(InetSocketAddress address, Throwable why) {
    boolean isPrivileged =
        address.getPort() < PRIVILEGED && String.valueOf(why.getMessage()).contains("denied");
    return new IOException(
        "cannot listen on "
            + HostPort.text(address)
            + ": "
            + why.getMessage()
            + (isPrivileged
                ? " (take a port from 1024 on, or give the process CAP_NET_BIND_SERVICE)"
                : ""),
        why);
  }

  private static Channel bind(
      InetSocketAddress address, int notSentLowWatermark, Opening opening, boolean spread)
      throws IOException {
    ChannelFuture bind =
        bootstrap(notSentLowWatermark, opening)
            .channel(EpollServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(UnixChannelOption.SO_REUSEPORT, spread)
            .bind(address)
            .awaitUninterruptibly();
    if (!bind.isSuccess()) {
      throw cannotListen(address, bind.cause());
    }
    return bind.channel();
  }

  private static Channel adopt(int descriptor, int notSentLowWatermark, Opening opening)
      throws IOException {
    ChannelFuture adopted =
        bootstrap(notSentLowWatermark, opening)
            .channelFactory(() -> new EpollServerSocketChannel(descriptor))
            .register()
            .awaitUninterruptibly();
    if (!adopted.isSuccess()) {
      throw new IOException(
          "cannot listen on inherited descriptor "
              + descriptor
              + ": "
              + adopted.cause().getMessage(),
          adopted.cause());
    }
    return adopted.channel();
  }

  private static ServerBootstrap bootstrap(int notSentLowWatermark, Opening opening) {
    ClientSettings settings = opening.server.settings();
    EventLoop loop = opening.server.loop();
    return new ServerBootstrap()
        .group(loop, loop)
        .option(ChannelOption.RECVBUF_ALLOCATOR, acceptsPerTurn())
        .option(KEEPALIVE, 1)
        .option(NOT_SENT_LOW_WATERMARK, notSentLowWatermark)
        .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
        .childOption(
            ChannelOption.WRITE_BUFFER_WATER_MARK,
            new WriteBufferWaterMark(settings.lowWatermarkBytes(), settings.highWatermarkBytes()))
        .childHandler(opening);
  }

  /**
   * Netty accepts one connection for each event by default: over level-triggered epoll it takes the
   * number of the new descriptor for a count of octets and believes that nothing more is there.
   */
  private static RecvByteBufAllocator acceptsPerTurn() {
    return new ServerChannelRecvByteBufAllocator()
        .respectMaybeMoreData(false)
        .maxMessagesPerRead(ACCEPTS_PER_TURN);
  }

  /** The address, with the port the kernel chose. */
  public InetSocketAddress address() {
    return (InetSocketAddress) sockets.getFirst().localAddress();
  }

  /** Connections that came by this address and are open now. */
  public int connections() {
    return open.get();
  }

  /**
   * Clients of other addresses, or behind other load balancers, may connect from now on;
   * connections that are open stay.
   */
  public void settings(ListenerSettings settings) {
    this.settings.setRelease(settings);
  }

  /**
   * What accepted sockets have from the beginning, for they take it over from the listening one.
   *
   * @param bytes TCP_NOTSENT_LOWAT; 0 for the system's own
   */
  public void notSentLowWatermark(int bytes) {
    sockets.forEach(socket -> socket.eventLoop().execute(() -> notSentLowWatermark(socket, bytes)));
  }

  private static void notSentLowWatermark(Channel socket, int bytes) {
    try {
      if (socket.isOpen()) {
        socket.config().setOption(NOT_SENT_LOW_WATERMARK, bytes);
      }
    } catch (ChannelException refused) {
      LOG.log(Level.WARNING, "the kernel refuses TCP_NOTSENT_LOWAT: " + refused.getMessage());
    }
  }

  /** The listening sockets; each loop has at least one. */
  List<Channel> sockets() {
    return sockets;
  }

  /** The listening sockets as descriptors, which stay this listener's. */
  public List<Integer> descriptors() {
    return sockets.stream()
        .map(socket -> ((EpollServerSocketChannel) socket).fd().intValue())
        .toList();
  }

  /** Stops accepting; open connections stay. */
  @Override
  public void close() {
    sockets.forEach(socket -> socket.close().awaitUninterruptibly());
  }

  private final class Opening extends ChannelInitializer<SocketChannel> {

    private final ServerShard server;
    private final ConnectionOpener opener;

    Opening(ConnectionOpener opener) {
      this.opener = opener;
      this.server = opener.server();
    }

    @Override
    protected void initChannel(SocketChannel channel) {
      InetSocketAddress remote = channel.remoteAddress();
      InetAddress address = remote == null ? null : remote.getAddress();
      ListenerSettings now = settings.getAcquire();
      boolean isProxied = now.proxyProtocol().isRequired();
      ClientTable.Tally client = isProxied ? balancer(now, address) : enter(now, address);
      if (client == null) {
        channel.close();
      } else {
        admit(channel, client, isProxied);
      }
    }

    /** A load balancer counts for nothing: the client that it will name does. */
    private ClientTable.@Nullable Tally balancer(
        ListenerSettings now, @Nullable InetAddress address) {
      if (address != null && now.proxyProtocol().from().contains(address)) {
        return ClientTable.Tally.UNLIMITED;
      }
      clients.deny(address);
      return null;
    }

    private ClientTable.@Nullable Tally enter(ListenerSettings now, @Nullable InetAddress address) {
      return address != null && now.trustedProxies().from().contains(address)
          ? clients.enterProxy(now.access(), address)
          : clients.enter(now.access(), address);
    }

    private void admit(SocketChannel channel, ClientTable.Tally client, boolean isProxied) {
      open.incrementAndGet();
      channel
          .closeFuture()
          .addListener(
              closed -> {
                open.decrementAndGet();
                client.leave();
                limit.leave();
              });
      limit.admit(channel, server, () -> begin(channel, client, isProxied));
    }

    private void begin(SocketChannel channel, ClientTable.Tally client, boolean isProxied) {
      Accepted accepted = Accepted.of(channel, client);
      if (isProxied) {
        channel
            .pipeline()
            .addLast(
                new ProxyOpening(server, accepted, clients, header -> named(accepted, header)));
      } else {
        opener.open(accepted.behind(settings.getAcquire().trustedProxies()));
      }
    }

    /** The load balancer has named the client, or speaks for itself. */
    private void named(Accepted accepted, ProxyHeader header) {
      InetSocketAddress source = header.source();
      InetSocketAddress destination = header.destination();
      if (source == null || destination == null) {
        open(accepted, accepted.client(), accepted.local());
      } else {
        open(accepted, source, destination);
      }
    }

    private void open(Accepted accepted, InetSocketAddress client, InetSocketAddress local) {
      ListenerSettings now = settings.getAcquire();
      ClientTable.Tally tally = enter(now, client.getAddress());
      if (tally == null) {
        accepted.channel().close();
        return;
      }
      accepted.channel().closeFuture().addListener(closed -> tally.leave());
      opener.open(accepted.with(client, local, tally).behind(now.trustedProxies()));
    }
  }
}
