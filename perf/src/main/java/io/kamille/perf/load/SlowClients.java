package io.kamille.perf.load;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Many clients that keep a server's connections for as long as they can with as little as they can.
 * A client that the server ends comes back. Confined to one thread, which may do other things in
 * between.
 */
public final class SlowClients implements AutoCloseable {

  /** What a slow client does, once a second. */
  public enum Kind {
    /** Sends another octet of a head that never ends: slowloris. */
    HEAD(0, "GET /hit/1024 HTTP/1.1", "Host: 127.0.0.1", "X-Slow: "),
    /** Sends another octet of content that an origin waits for: slow POST. */
    POST(
        0,
        "POST /made/1?length=1&fresh=0&think=3600000 HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Length: 1000000",
        "",
        ""),
    /** Takes some octets of a large answer, with a small receive buffer: slow read. */
    READ(2048, "GET /hit/1048576 HTTP/1.1", "Host: 127.0.0.1", "", "");

    private final int receiveBuffer;
    private final String opening;

    Kind(int receiveBuffer, String... lines) {
      this.receiveBuffer = receiveBuffer;
      this.opening = String.join("\r\n", lines);
    }
  }

  /*
   * Nothing is waited for: each client has its turn once a second, and all turns are spread over
   * that second. They have no thread of their own: on the core of the load that is measured beside
   * them it would take the core from that load for as long as the kernel's scheduler likes.
   */
  private static final long PERIOD_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int READ_OCTETS = 16;
  private static final byte OCTET = 'x';

  private final InetSocketAddress server;
  private final List<Client> clients = new ArrayList<>();
  private final ByteBuffer in = ByteBuffer.allocateDirect(4096);
  private final ByteBuffer out = ByteBuffer.allocateDirect(1);
  private final LongSupplier clock;
  private long ended;
  private long turns;
  private long beginNanos;
  private long turnsAtBegin;

  private static final class Client {
    private final Kind kind;
    private @Nullable SocketChannel channel;
    private boolean hasAsked;

    private Client(Kind kind) {
      this.kind = kind;
    }
  }

  private SlowClients(
      InetSocketAddress server, Collection<Kind> kinds, int each, LongSupplier clock) {
    this.server = server;
    this.clock = clock;
    for (int i = 0; i < each; i++) {
      kinds.forEach(kind -> clients.add(new Client(kind)));
    }
  }

  /**
   * So many clients of each kind, none of them connected yet.
   *
   * @param each how many of each kind
   */
  public static SlowClients of(InetSocketAddress server, Collection<Kind> kinds, int each) {
    return of(server, kinds, each, System::nanoTime);
  }

  /** With another clock. */
  static SlowClients of(
      InetSocketAddress server, Collection<Kind> kinds, int each, LongSupplier clock) {
    return new SlowClients(server, kinds, each, clock);
  }

  /** Connects all of them; from now on each is due once a second. */
  public void start() {
    turn(clients.size());
    beginNanos = clock.getAsLong();
    turnsAtBegin = turns;
  }

  /** Gives the next client its turn if it is due; to be called often. */
  public void goOn() {
    if (turns - turnsAtBegin < due()) {
      turn(1);
    }
  }

  private long due() {
    return (clock.getAsLong() - beginNanos) * clients.size() / PERIOD_NANOS;
  }

  /** Whether more than one turn of each client is due: they were slower than they should be. */
  public boolean isBehind() {
    return due() - (turns - turnsAtBegin) > clients.size();
  }

  /** Gives the next so many clients their turn. */
  void turn(int count) {
    for (int i = 0; i < count; i++) {
      turn(clients.get((int) (turns++ % clients.size())));
    }
  }

  private void turn(Client client) {
    SocketChannel channel = client.channel;
    try {
      if (channel == null) {
        channel = open(client.kind);
        client.channel = channel;
        client.hasAsked = false;
      }
      if (!client.hasAsked) {
        client.hasAsked = asks(client.kind, channel);
      } else if (!isGoingOn(client.kind, channel)) {
        end(client, channel);
      }
    } catch (IOException reset) {
      if (channel != null) {
        end(client, channel);
      }
    }
  }

  private SocketChannel open(Kind kind) throws IOException {
    SocketChannel channel = SocketChannel.open();
    try {
      if (kind.receiveBuffer > 0) {
        channel.setOption(StandardSocketOptions.SO_RCVBUF, kind.receiveBuffer);
      }
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      channel.connect(server);
      return channel;
    } catch (IOException failed) {
      channel.close();
      throw failed;
    }
  }

  /** Asks, once there is a connection; nobody waits for it, since the load would wait, too. */
  private static boolean asks(Kind kind, SocketChannel channel) throws IOException {
    if (!channel.isConnected() && !channel.finishConnect()) {
      return false;
    }
    var opening = StandardCharsets.US_ASCII.encode(kind.opening);
    while (opening.hasRemaining()) {
      channel.write(opening);
    }
    return true;
  }

  /** Does what that kind does; false if the server has closed. */
  private boolean isGoingOn(Kind kind, SocketChannel channel) throws IOException {
    in.clear();
    if (kind == Kind.READ) {
      in.limit(READ_OCTETS);
    } else {
      out.clear().put(OCTET).flip();
      channel.write(out);
    }
    return channel.read(in) >= 0;
  }

  private void end(Client client, SocketChannel channel) {
    ended++;
    client.channel = null;
    closeQuietly(channel);
  }

  private static void closeQuietly(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException gone) {
      return;
    }
  }

  /** How often the server has ended one of them. */
  public long ended() {
    return ended;
  }

  @Override
  public void close() {
    for (Client client : clients) {
      SocketChannel channel = client.channel;
      if (channel != null) {
        closeQuietly(channel);
      }
    }
  }
}
