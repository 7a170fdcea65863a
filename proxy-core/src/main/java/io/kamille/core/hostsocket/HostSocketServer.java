package io.kamille.core.hostsocket;

import io.kamille.core.loop.LoopGroup;
import io.kamille.core.socket.UnixSocket;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
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
  private static final long LOG_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Path path;
  private final int ownUser;
  private final int otherUser;
  private final UnixSocket socket;
  private final AllowedAddresses allowed;
  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(
          1, new DefaultThreadFactory("kamille-host", true), LoopGroup.epoll());
  private final Set<HostCaller> callers = ConcurrentHashMap.newKeySet();
  private final AtomicLong nextLine = new AtomicLong(System.nanoTime());
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
    while (!isClosed) {
      try {
        UnixSocket caller = socket.accept();
        if (caller != null && !serves(caller)) {
          caller.close();
        }
      } catch (IOException trouble) {
        // Such as no descriptor left, which would come again at once.
        if (!isClosed) {
          log(path + ": " + trouble.getMessage());
          LockSupport.parkNanos(MOMENT.toNanos());
        }
      }
    }
    socket.close();
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
    HostCaller caller = new HostCaller(socket, allowed, loop, this::log);
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
  private void log(@Nullable String line) {
    long now = System.nanoTime();
    long next = nextLine.get();
    if (now - next >= 0 && nextLine.compareAndSet(next, now + LOG_PAUSE_NANOS)) {
      LOG.log(Level.WARNING, line);
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
    callers.forEach(HostCaller::end);
    loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
