package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.Operation;
import io.kamille.admin.api.OperationTable;
import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Authenticator;
import io.kamille.admin.auth.Identity;
import io.kamille.admin.auth.Peer;
import io.kamille.admin.auth.TokenFile;
import io.kamille.admin.live.Figure;
import io.kamille.admin.live.History;
import io.kamille.admin.live.Sampler;
import io.kamille.admin.metric.PrometheusText;
import io.kamille.cluster.secret.SharedValues;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.tls.ServerTls;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelGroupFuture;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The control plane: a listener and a local socket on a loop of its own, and a thread for each lane
 * of operations. Any thread.
 */
public final class AdminServer implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final long STOP_MILLIS = 2000;
  private static final long SAMPLE_SECONDS = 1;
  private static final long LANE_REST_SECONDS = 10;
  private static final int MAX_CONNECTIONS = 128;

  /**
   * An answer that a client takes is a task, and so is the next one of its connection. Netty would
   * go on with tasks for a second before it reads from others.
   */
  private static final long TASKS_MILLIS = 2;

  private final EventLoopGroup group = new OneLoop();
  private final ScheduledExecutorService control =
      Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("kamille-control", true));
  private final Map<Operation.Lane, ThreadPoolExecutor> lanes = new EnumMap<>(Operation.Lane.class);
  private final ChannelGroup connections = new DefaultChannelGroup(group.next());

  /** Those that came by the network. Confined to the loop. */
  private final Set<AdminConnection> ofNetwork = new HashSet<>();

  private final History history = new History();
  private final WallClock clock;
  private final Duration answerLimit;
  private final AuditLog audit;
  private final Authenticator authenticator;
  private final PrometheusText metrics;
  private final LiveStreams streams;
  private final OperationTable operations;
  private final @Nullable ServerTls tls;
  private final Channel listener;
  private @Nullable LocalSocket local;
  // Volatile: written once the port is known, read by all lanes.
  private volatile String url = "";

  /**
   * Reads or creates the token and begins to listen, perhaps beside the process that it takes over
   * from.
   *
   * @param settings with an address
   * @param version what the description of the API is of
   * @param operations beside those that need nothing but the control plane
   * @param shared the values that all nodes of the cluster have; null if there is none
   * @param tls null for clear text; stays the caller's
   * @param isBesideAnother whether another process of ours may still listen there
   * @throws BindException if the address cannot be had, with the reason alone as its message
   * @throws IOException if a file beside the token file cannot be used
   * @throws IllegalArgumentException if the address is not on loopback and is not meant so
   */
  public static AdminServer open(
      AdminSettings settings,
      String version,
      List<Operation> operations,
      Supplier<@Nullable SharedValues> shared,
      MetricRegistry registry,
      WallClock clock,
      @Nullable ServerTls tls,
      boolean isBesideAnother)
      throws IOException {
    InetSocketAddress address = address(settings);
    if (!isBesideAnother) {
      probe(address);
    }
    Path directory = directory(settings.tokenFile());
    TokenFile token = TokenFile.open(settings.tokenFile());
    AdminServer server =
        new AdminServer(
            settings,
            address,
            version,
            operations,
            registry,
            new Authenticator(token, directory, clock, shared),
            AuditLog.open(directory.resolve("audit.jsonl"), clock),
            clock,
            tls);
    Sampler sampler = new Sampler(registry);
    server.control.scheduleAtFixedRate(
        new SteadyTask(LOGGER, "a second has no figures", () -> server.sample(sampler)),
        SAMPLE_SECONDS,
        SAMPLE_SECONDS,
        TimeUnit.SECONDS);
    server.openLocal(directory.resolve("admin.sock"));
    return server;
  }

  private AdminServer(
      AdminSettings settings,
      InetSocketAddress address,
      String version,
      List<Operation> more,
      MetricRegistry registry,
      Authenticator authenticator,
      AuditLog audit,
      WallClock clock,
      @Nullable ServerTls tls)
      throws BindException {
    for (Operation.Lane lane : Operation.Lane.values()) {
      lanes.put(lane, thread("kamille-" + lane.name().toLowerCase(Locale.ROOT)));
    }
    this.clock = clock;
    this.answerLimit = settings.answerLimit();
    this.audit = audit;
    this.authenticator = authenticator;
    this.tls = tls;
    metrics = new PrometheusText(registry);
    streams = new LiveStreams(group.next(), clock);
    operations =
        new OperationTable(
            version,
            more,
            metrics,
            history,
            authenticator,
            audit,
            address.getHostString(),
            () -> url);
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .option(NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT), true)
            .childHandler(initializer(this::fromNetwork))
            .bind(address)
            .awaitUninterruptibly();
    listener = bound.channel();
    if (!bound.isSuccess()) {
      close();
      throw cannotBind(bound.cause());
    }
    url = (tls == null ? "http://" : "https://") + NetUtil.toSocketAddressString(address());
  }

  private Executor lane(Operation.Lane lane) {
    return Objects.requireNonNull(lanes.get(lane));
  }

  /** One thread, which is there while there is work. */
  private static ThreadPoolExecutor thread(String name) {
    ThreadPoolExecutor one =
        new ThreadPoolExecutor(
            1,
            1,
            LANE_REST_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            new DefaultThreadFactory(name, true));
    one.allowCoreThreadTimeOut(true);
    return one;
  }

  // Connections, on the loop

  private static ChannelHandler initializer(Consumer<Channel> opened) {
    return new ChannelInitializer<Channel>() {
      @Override
      protected void initChannel(Channel connection) {
        opened.accept(connection);
      }
    };
  }

  private void fromNetwork(Channel connection) {
    // Who is gone already has no address.
    if ((connections.size() >= MAX_CONNECTIONS && !makeRoom())
        || !(connection.remoteAddress() instanceof InetSocketAddress client)
        || (tls != null && !encrypt(connection, tls))) {
      connection.close();
      return;
    }
    AdminConnection opened = equip(connection, new Peer.Network(client.getAddress()));
    ofNetwork.add(opened);
    connection.closeFuture().addListener(closed -> ofNetwork.remove(opened));
  }

  /** Connections that are only held keep nobody out: the one with the least to lose yields. */
  private boolean makeRoom() {
    return ofNetwork.stream()
        .min(AdminConnection.LEAST_TO_LOSE_FIRST)
        .filter(AdminConnection::yields)
        .isPresent();
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

  private AdminConnection equip(Channel connection, Peer peer) {
    connections.add(connection);
    RequestDecoder decoder = new RequestDecoder();
    AdminConnection opened =
        new AdminConnection(
            connection, operations, streams, this::lane, clock, answerLimit, peer, decoder);
    connection.pipeline().addLast(decoder, new HttpResponseEncoder(), opened);
    return opened;
  }

  private void sample(Sampler sampler) {
    Map<Figure, Double> point = sampler.sample(System.nanoTime() / 1e9);
    history.add(point);
    if (streams.isAny()) {
      streams.publish("figures", Answer.jsonText(Figure.named(point)));
    }
  }

  private static InetSocketAddress address(AdminSettings settings) {
    InetSocketAddress address = settings.address().orElseThrow().socketAddress();
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("admin address: " + address + " (expected: resolved)");
    }
    if (!address.getAddress().isLoopbackAddress() && !settings.allowsRemote()) {
      throw new IllegalArgumentException(
          "admin address: "
              + address.getHostString()
              + " (expected: a loopback address, as the API can purge the cache; or allow remote"
              + " use)");
    }
    return address;
  }

  private static Path directory(Path tokenFile) throws IOException {
    Path directory = tokenFile.toAbsolutePath().getParent();
    if (directory == null) {
      throw new IOException(tokenFile + ": not a file name");
    }
    return directory;
  }

  /**
   * The local socket is the way back in, so nobody on the network can take its places. Without it
   * there is still the token file.
   */
  private void openLocal(Path file) {
    try {
      ChannelHandler opened = initializer(connection -> equip(connection, new Peer.LocalSocket()));
      local = LocalSocket.open(file, group, opened);
    } catch (IOException refused) {
      LOGGER.log(
          System.Logger.Level.WARNING, "there is no local socket for the command line", refused);
    }
  }

  /** The port is shared with a process that takes over, and with no other. */
  private static void probe(InetSocketAddress address) throws BindException {
    try (Socket socket = new Socket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
    } catch (IOException taken) {
      throw cannotBind(taken);
    }
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

  /** A link that signs a browser in as who runs this process, once, within a minute. */
  public String signInLink() {
    return url + "/#code=" + authenticator.sessions().code(Identity.local());
  }

  /** Stops listening, answers what has come, closes all and ends the loop, within seconds. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly(STOP_MILLIS);
    try {
      if (local != null) {
        local.close();
      }
    } catch (IOException stays) {
      LOGGER.log(System.Logger.Level.WARNING, "the local socket's file stays", stays);
    }
    ChannelGroupFuture left = connections.newCloseFuture();
    connections.forEach(each -> each.eventLoop().execute(() -> finish(each)));
    left.awaitUninterruptibly(STOP_MILLIS);
    connections.close().awaitUninterruptibly(STOP_MILLIS);
    // The lanes first: they give answers and figures to the loop.
    boolean isControlDone = endLanes();
    group
        .shutdownGracefully(0, STOP_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(2 * STOP_MILLIS);
    metrics.close();
    try {
      if (isControlDone) {
        audit.close();
      }
    } catch (IOException failed) {
      LOGGER.log(System.Logger.Level.WARNING, "the audit log cannot be closed", failed);
    }
  }

  private static void finish(Channel connection) {
    AdminConnection opened = connection.pipeline().get(AdminConnection.class);
    if (opened != null) {
      opened.finish();
    }
  }

  /**
   * A disk that hangs must not hold up the process that takes over. The thread is left to itself
   * then: to interrupt it, or to close its file, waits for the disk as well.
   */
  private boolean endLanes() {
    List<ExecutorService> all = new ArrayList<>(lanes.values());
    all.add(control);
    all.forEach(ExecutorService::shutdown);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_MILLIS);
    try {
      boolean isDone = true;
      for (ExecutorService lane : all) {
        isDone &= lane.awaitTermination(end - System.nanoTime(), TimeUnit.NANOSECONDS);
      }
      if (isDone) {
        return true;
      }
      LOGGER.log(System.Logger.Level.WARNING, "an operation of the API hangs, and is left behind");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** One loop that reads between tasks. */
  private static final class OneLoop extends MultiThreadIoEventLoopGroup {

    OneLoop() {
      super(1, new DefaultThreadFactory("kamille-admin", true), NioIoHandler.newFactory());
    }

    @Override
    protected IoEventLoop newChild(
        Executor executor, IoHandlerFactory handlers, Object... arguments) {
      return new SingleThreadIoEventLoop(
          this,
          executor,
          handlers,
          Integer.MAX_VALUE,
          RejectedExecutionHandlers.reject(),
          TASKS_MILLIS);
    }
  }
}
