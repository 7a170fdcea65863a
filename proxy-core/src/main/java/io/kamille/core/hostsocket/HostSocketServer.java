package io.kamille.core.hostsocket;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.hostsocket.HostRequest.Connect;
import io.kamille.core.hostsocket.HostRequest.Find;
import io.kamille.core.hostsocket.HostRequest.Listen;
import io.kamille.core.hostsocket.HostRequest.Trouble;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.Seldom;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.socket.Descriptors;
import io.kamille.core.socket.PacketFilter;
import io.kamille.core.socket.UnixSocket;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.unix.Socket;
import io.netty.channel.unix.UnixChannel;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Gives sockets of this host to a Kamille that has no network of its own, over a Unix socket with
 * mode 0600. Any thread.
 */
public final class HostSocketServer implements AutoCloseable {

  /*
   * The other side may be hostile. It gets sockets for addresses of a list alone, each with a
   * packet filter, and is told of nothing else. What it can occupy is bounded: so many connections,
   * so many requests under way on each, for so long.
   */
  private static final System.Logger LOG = System.getLogger("kamille.host");
  private static final Duration MOMENT = Duration.ofMillis(200);
  private static final int MOST_CALLERS = 8;
  private static final int ROOT = 0;
  private static final int WRITABLE_BY_OTHERS = 0022;

  private final Path path;
  private final int ownUser;
  private final int otherUser;
  private final UnixSocket socket;
  private final AllowedAddresses allowed;
  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("kamille-host", true), LoopGroup.epoll());
  private final Set<Caller> callers = ConcurrentHashMap.newKeySet();
  private final Seldom line = new Seldom(TimeUnit.SECONDS.toNanos(1));
  private final Thread accepting =
      Thread.ofPlatform().daemon().name("kamille-host-accept").unstarted(this::accept);
  // Volatile: set by whoever closes, read by the thread that accepts.
  private volatile boolean isClosed;

  private HostSocketServer(
      Path path, int ownUser, int otherUser, UnixSocket socket, AllowedAddresses allowed) {
    this.path = path;
    this.ownUser = ownUser;
    this.otherUser = otherUser;
    this.socket = socket;
    this.allowed = allowed;
  }

  /**
   * Listens at {@code path}, in the place of a helper that has ended.
   *
   * @param user who may ask besides root and the user of this process, as the number of that user;
   *     negative for nobody. It becomes the owner of the socket.
   * @param allowed stays the caller's
   * @throws IOException if that cannot be, another helper serves there, or others may change the
   *     directory
   */
  public static HostSocketServer open(Path path, int user, AllowedAddresses allowed)
      throws IOException {
    if (isServed(path)) {
      throw new IOException(path + ": another process listens there");
    }
    refuseOthers(path.toAbsolutePath().resolve("..").normalize());
    Path draft = path.resolveSibling(path.getFileName() + "." + ProcessHandle.current().pid());
    Files.deleteIfExists(draft);
    UnixSocket socket = UnixSocket.listen(draft.toString());
    try {
      socket.timeout(MOMENT);
      Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
      int ownUser = owner(draft);
      if (user >= 0 && user != ownUser) {
        Files.setAttribute(draft, "unix:uid", user);
      }
      Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      HostSocketServer server = new HostSocketServer(path, ownUser, user, socket, allowed);
      server.accepting.start();
      return server;
    } catch (IOException failed) {
      socket.close();
      Files.deleteIfExists(draft);
      throw failed;
    }
  }

  /** Who may put a link in the place of the socket gets another file's mode and owner changed. */
  private static void refuseOthers(Path directory) throws IOException {
    int owner = owner(directory);
    int mode = (Integer) Files.getAttribute(directory, "unix:mode");
    boolean isOurs = owner == ROOT || owner == owner(Path.of("/proc/self"));
    if (!isOurs || (mode & WRITABLE_BY_OTHERS) != 0) {
      throw new IOException(
          directory + ": others may write here (expected: a directory of this user or root alone)");
    }
  }

  private static int owner(Path path) throws IOException {
    return (Integer) Files.getAttribute(path, "unix:uid");
  }

  private static boolean isServed(Path path) {
    try {
      UnixSocket.connect(path.toString()).close();
      return true;
    } catch (IOException nobody) {
      return false;
    }
  }

  private void accept() {
    new SteadyTask(LOG, path + " answers nobody for now", this::acceptOne)
        .repeatUntil(() -> isClosed);
    socket.close();
  }

  private void acceptOne() throws IOException {
    UnixSocket caller = socket.accept();
    if (caller != null && !serves(caller)) {
      caller.close();
    }
  }

  private boolean serves(UnixSocket socket) {
    UnixSocket.Peer peer;
    try {
      peer = socket.peer();
    } catch (IOException unknown) {
      log("a process was refused: " + unknown.getMessage());
      return false;
    }
    int user = peer.userId();
    if (user != ROOT && user != ownUser && user != otherUser) {
      log("process " + peer.processId() + " of user " + user + " was refused");
      return false;
    }
    if (callers.size() == MOST_CALLERS) {
      log("process " + peer.processId() + " was refused: " + MOST_CALLERS + " are connected");
      return false;
    }
    Caller caller = new Caller(socket);
    callers.add(caller);
    Thread.ofPlatform()
        .daemon()
        .name("kamille-host-" + peer.processId())
        .start(
            () -> {
              try {
                caller.serve();
              } finally {
                callers.remove(caller);
              }
            });
    return true;
  }

  /** At most a line a second: the other side can cause as many as it likes. */
  private void log(@Nullable String text) {
    if (line.isDue(System.nanoTime())) {
      LOG.log(Level.WARNING, text);
    }
  }

  /** Where it listens. */
  public Path path() {
    return path;
  }

  /** Gives no more. What was given stays, and the socket's file: it may be another helper's. */
  @Override
  public void close() {
    isClosed = true;
    socket.shutdown();
    try {
      accepting.join();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    callers.forEach(Caller::end);
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }

  /**
   * A sandbox that is connected to the helper, as the helper serves it: on a thread of its own,
   * which waits for nothing but the next request, so that it sees the caller leave.
   */
  private final class Caller {

    private final UnixSocket socket;

    @GuardedBy("this")
    private final Set<ChannelFuture> opening = new HashSet<>();

    @GuardedBy("this")
    private boolean isClosed;

    /** Takes ownership of the socket. */
    Caller(UnixSocket socket) {
      this.socket = socket;
    }

    /** Answers until the caller leaves, or says what we do not understand. */
    void serve() {
      try {
        while (true) {
          UnixSocket.Message message = socket.receive(HostRequest.MOST_BYTES);
          message.descriptors().forEach(Descriptors::close);
          if (message.text().isEmpty()) {
            return;
          }
          int space = message.text().indexOf(' ');
          String number = message.text().substring(0, Math.max(0, space));
          HostRequest request = HostRequest.parse(message.text().substring(space + 1));
          if (request == null || !HostRequest.DIGITS.matcher(number).matches()) {
            log("a sandbox sent no request, and was disconnected");
            return;
          }
          serve(number, request);
        }
      } catch (IOException gone) {
        log("a sandbox was disconnected: " + gone.getMessage());
      } finally {
        close();
      }
    }

    private void serve(String number, HostRequest request) {
      switch (request) {
        case Connect connect when allowed.mayConnectTo(connect.address()) ->
            connect(number, connect);
        case Connect connect -> deny(number, "connect to " + HostRequest.text(connect.address()));
        case Listen listen when allowed.mayListenOn(listen.address()) -> listen(number, listen);
        case Listen listen -> deny(number, "listen on " + listen.address());
        case Find find when allowed.knows(find.name()) -> find(number, find.name());
        case Find find -> deny(number, "look up " + find.name());
      }
    }

    private void deny(String number, String what) {
      log("a sandbox may not " + what);
      fail(number, Trouble.DENIED, "the helper is not allowed to " + what);
    }

    private void find(String number, String name) {
      List<InetAddress> found = allowed.find(name);
      if (found.isEmpty()) {
        fail(number, Trouble.OTHER, "the helper knows no address of " + name);
      } else {
        answer(
            number,
            found.stream()
                .limit(HostRequest.MOST_ADDRESSES)
                .map(NetUtil::toAddressString)
                .collect(Collectors.joining(" ", HostRequest.FOUND + " ", "")),
            List.of());
      }
    }

    // Nothing is read here: the first octets are the sandbox's.
    private void connect(String number, Connect request) {
      if (isFull()) {
        fail(number, Trouble.LIMIT, "the helper opens no more connections at a time");
        return;
      }
      Bootstrap bootstrap =
          new Bootstrap()
              .group(loop)
              .option(ChannelOption.AUTO_READ, false)
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, request.millis())
              .handler(
                  new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) throws IOException {
                      PacketFilter.onlyFrom(request.address(), descriptor(channel));
                    }
                  });
      ChannelFuture registered = bootstrap.channelFactory(LoopGroup::socket).register();
      ChannelPromise opened = registered.channel().newPromise();
      begun(opened);
      // Before it connects: of an origin that greets and closes at once, Netty would take both.
      opened.addListener(done -> connected(number, opened));
      registered.addListener(
          done -> {
            if (done.isSuccess()) {
              registered.channel().connect(request.address(), opened);
            } else {
              opened.setFailure(done.cause());
            }
          });
    }

    private synchronized boolean isFull() {
      return opening.size() == HostRequest.MOST_AT_A_TIME;
    }

    private synchronized void begun(ChannelFuture opened) {
      opening.add(opened);
    }

    private synchronized void ended(ChannelFuture opened) {
      opening.remove(opened);
    }

    private void connected(String number, ChannelFuture opened) {
      ended(opened);
      Throwable cause = opened.cause();
      if (cause == null) {
        answer(number, HostRequest.GIVEN, List.of(descriptor(opened.channel())));
        opened.channel().close();
      } else {
        fail(number, trouble(cause), String.valueOf(cause.getMessage()));
      }
    }

    private void listen(String number, Listen request) {
      List<Socket> sockets = new ArrayList<>();
      try {
        InetSocketAddress address = request.address().socketAddress();
        if (address.isUnresolved()) {
          throw new IOException("unknown host");
        }
        for (int i = 0; i < request.sockets(); i++) {
          Socket opened = Socket.newSocketStream();
          sockets.add(opened);
          opened.setReuseAddress(true);
          opened.setReusePort(request.sockets() > 1);
          opened.bind(address);
          address = opened.localAddress();
          PacketFilter.onlyTo(address.getPort(), opened.intValue());
          opened.listen(request.backlog());
        }
        answer(number, HostRequest.GIVEN, sockets.stream().map(Socket::intValue).toList());
      } catch (IOException | ChannelException failed) {
        fail(
            number,
            Trouble.OTHER,
            "the helper cannot listen on " + request.address() + ": " + failed.getMessage());
      } finally {
        sockets.forEach(HostSocketServer::close);
      }
    }

    private void fail(String number, Trouble trouble, String reason) {
      answer(number, HostRequest.FAILED + " " + trouble + " " + reason, List.of());
    }

    /** Any thread. A caller that does not read its answers is disconnected. */
    private synchronized void answer(String number, String words, List<Integer> descriptors) {
      if (isClosed) {
        return;
      }
      try {
        if (!socket.offer(number + " " + words, descriptors)) {
          log("a sandbox does not read its answers, and was disconnected");
          socket.shutdown();
        }
      } catch (IOException gone) {
        socket.shutdown();
      }
    }

    /** Ends what the caller's thread waits for. */
    synchronized void end() {
      if (!isClosed) {
        socket.shutdown();
      }
    }

    /** The caller's place is free once its connections are gone: else nothing bounds them. */
    private void close() {
      closeSocket().stream()
          // One that is done may have no channel; it ends in connected().
          .filter(opened -> !opened.isDone())
          .map(opened -> opened.channel().close())
          .toList()
          .forEach(ChannelFuture::awaitUninterruptibly);
    }

    private synchronized List<ChannelFuture> closeSocket() {
      isClosed = true;
      socket.close();
      return List.copyOf(opening);
    }
  }

  private static int descriptor(Channel channel) {
    return ((UnixChannel) channel).fd().intValue();
  }

  private static Trouble trouble(Throwable cause) {
    return switch (cause) {
      case ConnectTimeoutException late -> Trouble.LATE;
      case ConnectException refused -> Trouble.REFUSED;
      case ChannelException noSocket -> Trouble.LIMIT;
      default -> Trouble.OTHER;
    };
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException gone) {
      // It is closed all the same.
    }
  }
}
