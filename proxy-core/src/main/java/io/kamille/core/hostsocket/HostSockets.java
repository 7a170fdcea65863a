package io.kamille.core.hostsocket;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.kamille.core.hostsocket.HostRequest.Connect;
import io.kamille.core.hostsocket.HostRequest.Find;
import io.kamille.core.hostsocket.HostRequest.Listen;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.loop.SteadyTask;
import io.kamille.core.origin.names.NameLookup;
import io.kamille.core.setting.HostPort;
import io.kamille.core.socket.Descriptors;
import io.kamille.core.socket.Network;
import io.kamille.core.socket.UnixSocket;
import io.kamille.core.socket.UnixSocket.Message;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The network of the host, for a process that has none: sockets and addresses of names from a
 * {@link HostSocketServer} (Nakagame and Ishikawa, 2005; docs/research.md, P3). Any thread; nobody
 * waits in a call but for {@link #listen}.
 */
public final class HostSockets implements Network, NameLookup {

  /*
   * One thread connects, reads answers, and connects again once the helper is gone. Requests that
   * are not answered by then are sent again: none changes anything. Each fails by itself when its
   * time is over. An answer that comes later is closed.
   */
  private static final System.Logger LOG = System.getLogger("kamille.host");
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** More than the helper itself may take for a connection. */
  private static final int MARGIN_MILLIS = 500;

  private static final int MOST_WAITING = 1 << 16;

  /** How long an address may be used. The helper heeds the TTL. */
  private static final Duration VALID_FOR = Duration.ofSeconds(5);

  /** What was asked, and becomes what is behind the number of the answer. */
  private record Asked(String number, String words, CompletableFuture<Message> answer) {}

  private final Path path;
  private final Thread thread;

  @GuardedBy("this")
  private final Map<String, Asked> underWay = new LinkedHashMap<>();

  @GuardedBy("this")
  private final SequencedSet<Asked> waiting = new LinkedHashSet<>();

  /** Null while there is no helper. */
  @GuardedBy("this")
  private @Nullable UnixSocket socket;

  @GuardedBy("this")
  private String trouble = "";

  @GuardedBy("this")
  private int lastNumber;

  @GuardedBy("this")
  private boolean isClosed;

  private HostSockets(Path path) {
    this.path = path;
    thread = Thread.ofPlatform().daemon().name("kamille-host-sockets").unstarted(this::run);
  }

  /** Connects to the helper at that socket, now or as soon as there is one. */
  public static HostSockets open(Path path) {
    HostSockets opened = new HostSockets(path);
    opened.thread.start();
    return opened;
  }

  // What is asked

  @Override
  public Future<?> connect(Bootstrap bootstrap, InetSocketAddress address) {
    EventLoop loop = bootstrap.config().group().next();
    Object limit = bootstrap.config().options().get(ChannelOption.CONNECT_TIMEOUT_MILLIS);
    int millis = Math.clamp(limit instanceof Integer given ? given : 0, 1, HostRequest.MOST_MILLIS);
    Promise<Void> promise = loop.newPromise();
    ask(new Connect(address, millis), millis + MARGIN_MILLIS)
        .whenComplete(
            (answer, failure) -> {
              try {
                loop.execute(() -> connected(answer, failure, bootstrap, promise));
              } catch (RejectedExecutionException ended) {
                if (answer != null) {
                  answer.descriptors().forEach(Descriptors::close);
                }
              }
            });
    return promise;
  }

  private static void connected(
      @Nullable Message answer,
      @Nullable Throwable failure,
      Bootstrap bootstrap,
      Promise<Void> promise) {
    if (answer == null) {
      promise.setFailure(Objects.requireNonNull(failure));
      return;
    }
    Channel channel;
    try {
      channel = LoopGroup.socket(answer.descriptors().getFirst());
    } catch (RuntimeException unusable) {
      answer.descriptors().forEach(Descriptors::close);
      promise.setFailure(unusable);
      return;
    }
    // Asked before the handler sees it, which may close it at once.
    if (!channel.isActive()) {
      channel.unsafe().closeForcibly();
      promise.setFailure(new IOException("the origin closed the connection at once"));
      return;
    }
    bootstrap
        .channelFactory(() -> channel)
        .register()
        .addListener(
            registered -> {
              if (registered.isSuccess()) {
                promise.setSuccess(null);
              } else {
                promise.setFailure(registered.cause());
              }
            });
  }

  @Override
  public List<Integer> listen(HostPort address, int backlog, int count) throws IOException {
    int sockets = Math.min(count, HostRequest.MOST_SOCKETS);
    try {
      return ask(new Listen(address, backlog, sockets), (int) PATIENCE.toMillis())
          .join()
          .descriptors();
    } catch (CompletionException failed) {
      Throwable why = Objects.requireNonNull(failed.getCause());
      throw new IOException("cannot listen on " + address + ": " + why.getMessage(), why);
    }
  }

  @Override
  public CompletableFuture<NameLookup.Answer> find(String host) {
    CompletableFuture<NameLookup.Answer> found = new CompletableFuture<>();
    ask(new Find(host), (int) PATIENCE.toMillis())
        .whenComplete(
            (answer, failure) -> {
              List<InetAddress> addresses = answer == null ? List.of() : addresses(answer.text());
              if (addresses.isEmpty()) {
                found.completeExceptionally(
                    failure == null ? new UnknownHostException(host) : failure);
              } else {
                found.complete(new NameLookup.Answer(addresses, VALID_FOR));
              }
            });
    return found;
  }

  private static List<InetAddress> addresses(String words) {
    List<InetAddress> addresses = new ArrayList<>();
    for (String word : words.split(" ", -1)) {
      InetAddress address = NetUtil.createInetAddressFromIpAddressString(word);
      if (address != null) {
        addresses.add(address);
      }
    }
    return addresses;
  }

  /** What the helper answers; fails with what it says, or because it says nothing in time. */
  private CompletableFuture<Message> ask(HostRequest request, int millis) {
    CompletableFuture<Message> result = new CompletableFuture<>();
    Asked asked = queue(request.words());
    asked
        .answer
        .orTimeout(millis, TimeUnit.MILLISECONDS)
        .whenComplete(
            (answer, failure) -> {
              if (answer != null) {
                result.complete(answer);
                return;
              }
              forget(asked);
              result.completeExceptionally(
                  failure instanceof TimeoutException ? late(millis) : failure);
            });
    return result;
  }

  private synchronized Asked queue(String words) {
    lastNumber = lastNumber == 999_999_999 ? 1 : lastNumber + 1;
    Asked asked = new Asked("" + lastNumber, words, new CompletableFuture<>());
    if (isClosed || waiting.size() == MOST_WAITING) {
      asked.answer.completeExceptionally(new IOException("too many requests wait for " + path));
    } else {
      waiting.add(asked);
      send();
    }
    return asked;
  }

  private synchronized void forget(Asked asked) {
    underWay.remove(asked.number);
    waiting.remove(asked);
    send();
  }

  /** It tells nothing of the origin. */
  private synchronized Exception late(int millis) {
    return new ChannelException(
        socket == null
            ? "no helper at " + path + (trouble.isEmpty() ? "" : ": " + trouble)
            : "the helper at " + path + " did not answer in " + millis + " ms");
  }

  /** As much as may be under way. What finds no room waits for the next answer. */
  private synchronized void send() {
    UnixSocket helper = socket;
    try {
      while (helper != null && !waiting.isEmpty() && underWay.size() < HostRequest.MOST_AT_A_TIME) {
        Asked asked = waiting.getFirst();
        if (!helper.offer(asked.number + " " + asked.words, List.of())) {
          return;
        }
        waiting.removeFirst();
        underWay.put(asked.number, asked);
      }
    } catch (IOException gone) {
      helper.shutdown();
    }
  }

  // What is answered

  private void run() {
    new SteadyTask(LOG, "no sockets from the helper at " + path, this::serveOnce)
        .repeatUntil(this::isOver);
  }

  private void serveOnce() {
    try (UnixSocket helper = UnixSocket.connect(path.toString())) {
      begin(helper);
      // Nobody may send by its number once it is closed.
      lost(takeUntilItEnds(helper));
    } catch (IOException nobody) {
      lost(String.valueOf(nobody.getMessage()));
    }
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  /** Takes answers for as long as there are any. Returns why there are no more. */
  private String takeUntilItEnds(UnixSocket helper) {
    try {
      Message message = helper.receive(HostRequest.MOST_BYTES);
      while (!message.text().isEmpty()) {
        take(message);
        message = helper.receive(HostRequest.MOST_BYTES);
      }
      message.descriptors().forEach(Descriptors::close);
      return "it closed the connection";
    } catch (IOException failed) {
      return String.valueOf(failed.getMessage());
    }
  }

  private synchronized boolean isOver() {
    return isClosed;
  }

  private synchronized void begin(UnixSocket helper) {
    if (isClosed) {
      helper.shutdown();
      return;
    }
    if (!trouble.isEmpty()) {
      LOG.log(Level.INFO, "the helper at " + path + " is there again");
      trouble = "";
    }
    socket = helper;
    send();
  }

  private synchronized void lost(String why) {
    socket = null;
    new ArrayList<>(underWay.values()).reversed().forEach(waiting::addFirst);
    underWay.clear();
    if (!isClosed) {
      if (trouble.isEmpty()) {
        LOG.log(Level.WARNING, "no sockets from the helper at " + path + ": " + why);
      }
      trouble = why;
    }
  }

  private void take(Message message) {
    String[] parts = message.text().split(" ", 3);
    Asked asked = taken(parts[0]);
    List<Integer> descriptors = message.descriptors();
    String kind = parts.length < 2 ? "" : parts[1];
    String rest = parts.length < 3 ? "" : parts[2];
    boolean isGiven = kind.equals(HostRequest.GIVEN) && !descriptors.isEmpty();
    boolean isTaken = false;
    if (asked != null && (isGiven || kind.equals(HostRequest.FOUND))) {
      isTaken = asked.answer.complete(new Message(rest, isGiven ? descriptors : List.of()));
    } else if (asked != null) {
      asked.answer.completeExceptionally(failure(rest));
    }
    if (!isTaken || !isGiven) {
      descriptors.forEach(Descriptors::close);
    }
  }

  private synchronized @Nullable Asked taken(String number) {
    Asked asked = underWay.remove(number);
    send();
    return asked;
  }

  /** As the kernel would have failed here. */
  private static Exception failure(String words) {
    String trouble = words.substring(0, Math.max(0, words.indexOf(' ')));
    String reason = trouble.isEmpty() ? "the helper failed" : words.substring(trouble.length() + 1);
    return switch (trouble) {
      case "LATE" -> new ConnectTimeoutException(reason);
      case "REFUSED" -> new ConnectException(reason);
      case "LIMIT" -> new ChannelException(reason);
      default -> new IOException(reason);
    };
  }

  /** Fails what waits, and asks for no more. */
  @Override
  public void close() {
    Collection<Asked> left;
    synchronized (this) {
      isClosed = true;
      left = new ArrayList<>(underWay.values());
      left.addAll(waiting);
      if (socket != null) {
        socket.shutdown();
      }
    }
    LockSupport.unpark(thread);
    left.forEach(asked -> asked.answer.completeExceptionally(new IOException("closing")));
  }
}
