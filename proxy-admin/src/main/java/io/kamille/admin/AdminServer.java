package io.kamille.admin;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.OperationTable;
import io.kamille.admin.api.Resource;
import io.kamille.admin.auth.AuditLog;
import io.kamille.admin.auth.Authenticator;
import io.kamille.admin.auth.BearerToken;
import io.kamille.admin.auth.Identity;
import io.kamille.admin.auth.TokenFile;
import io.kamille.admin.live.History;
import io.kamille.admin.live.Point;
import io.kamille.admin.live.Sampler;
import io.kamille.admin.metric.PrometheusText;
import io.kamille.admin.view.ApplianceView;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.tls.ServerTls;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The control plane: a listener and a local socket on a loop of its own, and one thread that
 * operations run on. Any thread.
 */
public final class AdminServer implements AutoCloseable {

  private static final System.Logger LOGGER = System.getLogger("kamille.admin");
  private static final long STOP_MILLIS = 2000;
  private static final long SAMPLE_SECONDS = 1;

  private final EventLoopGroup group;
  private final ExecutorService control;
  private final AuditLog audit;
  private final Authenticator authenticator;
  private final PrometheusText metrics;
  private final ChannelGroup connections;
  private final Channel listener;
  private final String scheme;

  private @Nullable LocalSocket local;

  private AdminServer(
      EventLoopGroup group,
      ExecutorService control,
      AuditLog audit,
      Authenticator authenticator,
      PrometheusText metrics,
      ChannelGroup connections,
      Channel listener,
      String scheme) {
    this.group = group;
    this.control = control;
    this.audit = audit;
    this.authenticator = authenticator;
    this.metrics = metrics;
    this.connections = connections;
    this.listener = listener;
    this.scheme = scheme;
  }

  /**
   * Reads or creates the token and begins to listen.
   *
   * @param settings with an address
   * @param more resources beside those of every appliance
   * @throws BindException if the address cannot be had, with the reason alone as its message
   * @throws IOException if a file beside the token file cannot be used
   * @throws IllegalArgumentException if the address is not on loopback and is not meant so
   */
  public static AdminServer open(
      AdminSettings settings,
      ApplianceView appliance,
      List<Resource> more,
      MetricRegistry registry,
      WallClock clock)
      throws IOException {
    return open(settings, appliance, more, registry, clock, null, false);
  }

  /**
   * Begins to listen in clear text or by TLS, perhaps beside the process that it takes over from.
   *
   * @param tls null for clear text; stays the caller's
   * @param isBesideAnother whether another process of ours may still listen there
   */
  public static AdminServer open(
      AdminSettings settings,
      ApplianceView appliance,
      List<Resource> more,
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
    BearerToken token = TokenFile.open(settings.tokenFile());
    EventLoopGroup group =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("kamille-admin", true), NioIoHandler.newFactory());
    PrometheusText metrics = new PrometheusText(registry);
    Authenticator authenticator = Authenticator.open(token, directory, clock);
    AuditLog audit = AuditLog.open(directory.resolve("audit.jsonl"), clock);
    AtomicReference<String> origin = new AtomicReference<>("");
    ScheduledExecutorService control =
        Executors.newSingleThreadScheduledExecutor(
            new DefaultThreadFactory("kamille-control", true));
    History history = new History();
    LiveStreams streams = new LiveStreams(group.next(), clock);
    OperationTable operations =
        OperationTable.of(
            appliance,
            metrics,
            registry,
            history,
            more,
            authenticator,
            audit,
            address.getHostString(),
            origin::get,
            clock);
    ChannelGroup connections = new DefaultChannelGroup(group.next());
    ConnectionEquipment equipment =
        new ConnectionEquipment(
            operations, streams, control, clock, settings.answerLimit(), connections);
    Sampler sampler = new Sampler(appliance);
    Runnable look =
        () -> {
          Point point = sampler.look(System.nanoTime() / 1e9);
          history.add(point);
          streams.publish("figures", Answer.jsonText(point.named()));
        };
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .option(NioChannelOption.of(StandardSocketOptions.SO_REUSEPORT), true)
            .childHandler(equipment.network(tls))
            .bind(address)
            .awaitUninterruptibly();
    AdminServer server =
        new AdminServer(
            group,
            control,
            audit,
            authenticator,
            metrics,
            connections,
            bound.channel(),
            tls == null ? "http://" : "https://");
    if (!bound.isSuccess()) {
      server.close();
      throw cannotBind(bound.cause());
    }
    origin.set(server.url());
    control.scheduleAtFixedRate(
        () -> looked(look), SAMPLE_SECONDS, SAMPLE_SECONDS, TimeUnit.SECONDS);
    server.openLocal(directory.resolve("admin.sock"), equipment);
    return server;
  }

  /** A look that fails is the last word on that second, not on all that come. */
  private static void looked(Runnable look) {
    try {
      look.run();
    } catch (RuntimeException fault) {
      LOGGER.log(System.Logger.Level.ERROR, "a second has no figures", fault);
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

  /** Without the local socket there is still the token file. */
  private void openLocal(Path file, ConnectionEquipment equipment) {
    try {
      local = LocalSocket.open(file, group, equipment.local());
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
    String code =
        CompletableFuture.supplyAsync(
                () -> authenticator.sessions().code(Identity.local()), control)
            .join();
    return url() + "/#code=" + code;
  }

  private String url() {
    return scheme + NetUtil.toSocketAddressString(address());
  }

  /** Stops listening, closes all connections and ends the loop, within seconds. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly(STOP_MILLIS);
    try {
      if (local != null) {
        local.close();
      }
    } catch (IOException left) {
      LOGGER.log(System.Logger.Level.WARNING, "the local socket's file stays", left);
    }
    connections.close().awaitUninterruptibly(STOP_MILLIS);
    // The control thread first: it gives its answers and figures to the loop.
    boolean isControlDone = endControl();
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

  /**
   * A disk that hangs must not hold up the process that takes over. The thread is left to itself
   * then: to interrupt it, or to close its file, waits for the disk as well.
   */
  private boolean endControl() {
    control.shutdown();
    try {
      if (control.awaitTermination(STOP_MILLIS, TimeUnit.MILLISECONDS)) {
        return true;
      }
      LOGGER.log(System.Logger.Level.WARNING, "an operation of the API hangs, and is left behind");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    return false;
  }
}
