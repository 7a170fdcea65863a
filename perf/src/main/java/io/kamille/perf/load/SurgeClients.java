package io.kamille.perf.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Users of {@link Surge}, each at an address of its own. Confined to one thread. */
public final class SurgeClients implements AutoCloseable {

  private static final int READ_BYTES = 256 << 10;
  private static final int HEAD_END = 4;
  private static final long LOOK_MILLIS = 5;

  private final Selector selector;
  private final InetSocketAddress server;
  private final String authority;
  private final boolean isPersistent;
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private final List<User> users = new ArrayList<>();
  private boolean isCounting;
  private long octets;
  private long responses;
  private long nanos;

  /**
   * What came in the part that counts.
   *
   * @param octets heads included
   * @param responses complete ones
   * @param meanNanos from the wish for an object, a connection included, to its last octet
   */
  public record Outcome(long octets, long responses, double meanNanos) {}

  private static final class User {
    private final InetSocketAddress local;
    private final Surge surge;
    private @Nullable SocketChannel channel;
    private long dueNanos;
    private long begunNanos;
    private boolean isBusy;
    private int headEnd;
    private int left;
    private ByteBuffer request = ByteBuffer.allocate(0);

    private User(InetSocketAddress local, Surge surge) {
      this.local = local;
      this.surge = surge;
    }
  }

  /**
   * No user yet.
   *
   * @param isPersistent one connection for all requests of a user; else HTTP/1.0, one for each
   */
  public SurgeClients(InetSocketAddress server, String authority, boolean isPersistent)
      throws IOException {
    this.server = server;
    this.authority = authority;
    this.isPersistent = isPersistent;
    this.selector = Selector.open();
  }

  /** One more user, who draws from that seed. */
  public void add(String local, long seed) {
    users.add(new User(new InetSocketAddress(local, 0), new Surge(seed)));
  }

  /** Lets the users ask. */
  public Outcome run(Duration settling, Duration counted) throws IOException {
    long begin = System.nanoTime();
    long count = begin + settling.toNanos();
    long end = count + counted.toNanos();
    for (int i = 0; i < users.size(); i++) {
      users.get(i).dueNanos = begin + settling.toNanos() / 2 * i / users.size();
    }
    for (long now = begin; now - end < 0; now = System.nanoTime()) {
      isCounting = now - count >= 0;
      for (User user : users) {
        if (!user.isBusy && now - user.dueNanos >= 0) {
          ask(user, now);
        }
      }
      selector.select(this::ready, LOOK_MILLIS);
    }
    return new Outcome(octets, responses, (double) nanos / Math.max(1, responses));
  }

  private void ask(User user, long now) throws IOException {
    OriginTarget target = user.surge.next();
    user.isBusy = true;
    user.begunNanos = now;
    user.headEnd = 0;
    user.left = Surge.length((int) target.object());
    String head =
        "GET "
            + target.text()
            + (isPersistent ? " HTTP/1.1" : " HTTP/1.0")
            + "\r\nHost: "
            + authority
            + "\r\n\r\n";
    user.request = ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII));
    SocketChannel channel = user.channel;
    if (channel == null) {
      user.channel = connect(user);
    } else {
      channel.write(user.request);
    }
  }

  private SocketChannel connect(User user) throws IOException {
    SocketChannel channel = SocketChannel.open();
    channel.bind(user.local);
    channel.configureBlocking(false);
    channel.connect(server);
    channel.register(selector, SelectionKey.OP_CONNECT, user);
    return channel;
  }

  private void ready(SelectionKey key) {
    User user = (User) key.attachment();
    SocketChannel channel = (SocketChannel) key.channel();
    try {
      if (key.isConnectable()) {
        channel.finishConnect();
        key.interestOps(SelectionKey.OP_READ);
        channel.write(user.request);
      } else {
        read(user, channel);
      }
    } catch (IOException lost) {
      throw new IllegalStateException("a user was lost: " + lost.getMessage(), lost);
    }
  }

  private void read(User user, SocketChannel channel) throws IOException {
    in.clear();
    if (channel.read(in) < 0) {
      if (user.isBusy) {
        throw new IOException("the server closed");
      }
      leave(user);
      return;
    }
    in.flip();
    octets += isCounting ? in.remaining() : 0;
    while (in.hasRemaining() && user.headEnd < HEAD_END) {
      byte octet = in.get();
      boolean isExpected = octet == (user.headEnd % 2 == 0 ? '\r' : '\n');
      user.headEnd = isExpected ? user.headEnd + 1 : octet == '\r' ? 1 : 0;
    }
    user.left -= in.remaining();
    if (user.headEnd == HEAD_END && user.left == 0) {
      ended(user);
    }
  }

  private void ended(User user) throws IOException {
    long now = System.nanoTime();
    user.isBusy = false;
    user.dueNanos = now + user.surge.pause().toNanos();
    if (isCounting) {
      responses++;
      nanos += now - user.begunNanos;
    }
    if (!isPersistent) {
      leave(user);
    }
  }

  private static void leave(User user) throws IOException {
    SocketChannel channel = user.channel;
    if (channel != null) {
      channel.close();
      user.channel = null;
    }
  }

  @Override
  public void close() throws IOException {
    for (User user : users) {
      leave(user);
    }
    selector.close();
  }
}
