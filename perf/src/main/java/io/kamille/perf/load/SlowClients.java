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

/** Clients as slow as they can be; what a server ends begins anew. Confined to one thread. */
public final class SlowClients implements AutoCloseable {

  /*
   * Nothing is waited for: each client has its turn once a second, and all turns are spread over
   * that second. They have no thread of their own: on the core of the load that is measured beside
   * them it would take the core from that load for as long as the kernel's scheduler likes.
   */

  /** What a slow client does, once a second. */
  public enum Attack {
    /** Sends another octet of a head that never ends: slowloris. */
    HEAD("GET /hit/1024 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "),

    /** Sends another octet of content that an origin waits for: slow POST. */
    POST(
        """
        POST /made/1?length=1&fresh=0&think=3600000 HTTP/1.1\r
        Host: 127.0.0.1\r
        Content-Length: 1000000\r
        \r
        """),

    /** Takes some octets of a large answer, with a small receive buffer: slow read. */
    READ("GET /hit/1048576 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");

    private final String opening;

    Attack(String opening) {
      this.opening = opening;
    }
  }

  private static final long PERIOD_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int READ_OCTETS = 16;
  private static final int SMALL_BUFFER = 2048;

  private final InetSocketAddress server;
  private final List<Client> clients = new ArrayList<>();
  private final ByteBuffer in = ByteBuffer.allocateDirect(4096);
  private final ByteBuffer out = ByteBuffer.allocateDirect(1);
  private final LongSupplier clock;
  private long ended;
  private long turns;
  private long beginNanos;

  /** So many of each of these kinds, not connected yet. */
  public SlowClients(InetSocketAddress server, Collection<Attack> kinds, int each) {
    this(server, kinds, each, System::nanoTime);
  }

  /** With another clock. */
  SlowClients(InetSocketAddress server, Collection<Attack> kinds, int each, LongSupplier clock) {
    this.server = server;
    this.clock = clock;
    for (int i = 0; i < each; i++) {
      kinds.forEach(kind -> clients.add(new Client(kind)));
    }
  }

  /** Connects all of them; from now on each is due once a second. */
  public void start() {
    turn(clients.size());
    turns = 0;
    beginNanos = clock.getAsLong();
  }

  /** Gives the next client its turn if it is due; to be called often. */
  public void goOn() {
    if (turns < due()) {
      turn(1);
    }
  }

  /** Gives the next so many clients their turn. */
  void turn(int count) {
    for (int i = 0; i < count; i++) {
      clients.get((int) (turns++ % clients.size())).turn();
    }
  }

  private long due() {
    return (clock.getAsLong() - beginNanos) * clients.size() / PERIOD_NANOS;
  }

  /** Whether more than one turn of each client is due: they were slower than they should be. */
  public boolean isBehind() {
    return due() - turns > clients.size();
  }

  /** How often the server has ended one of them. */
  public long ended() {
    return ended;
  }

  /** One of them, and its connection at present. */
  private final class Client {
    private final Attack kind;
    private @Nullable SocketChannel channel;
    private boolean hasAsked;

    private Client(Attack kind) {
      this.kind = kind;
    }

    private void turn() {
      try {
        SocketChannel current = channel;
        if (current == null) {
          current = SocketChannel.open();
          channel = current;
          open(current);
        }
        if (!hasAsked) {
          hasAsked = asks(current);
        } else if (!isGoingOn(current)) {
          ended++;
          close();
        }
      } catch (IOException reset) {
        ended++;
        close();
      }
    }

    private void open(SocketChannel socket) throws IOException {
      hasAsked = false;
      if (kind == Attack.READ) {
        socket.setOption(StandardSocketOptions.SO_RCVBUF, SMALL_BUFFER);
      }
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      socket.configureBlocking(false);
      socket.connect(server);
    }

    /** Asks, once there is a connection; nobody waits for it, since the load would wait, too. */
    private boolean asks(SocketChannel socket) throws IOException {
      if (!socket.isConnected() && !socket.finishConnect()) {
        return false;
      }
      socket.write(StandardCharsets.US_ASCII.encode(kind.opening));
      return true;
    }

    /** Does what that kind does; false if the server has closed. */
    private boolean isGoingOn(SocketChannel socket) throws IOException {
      in.clear();
      if (kind == Attack.READ) {
        in.limit(READ_OCTETS);
      } else {
        socket.write(out.clear().put((byte) 'x').flip());
      }
      return socket.read(in) >= 0;
    }

    private void close() {
      SocketChannel socket = channel;
      channel = null;
      if (socket != null) {
        try {
          socket.close();
        } catch (IOException gone) {
          return;
        }
      }
    }
  }

  @Override
  public void close() {
    clients.forEach(Client::close);
  }
}
