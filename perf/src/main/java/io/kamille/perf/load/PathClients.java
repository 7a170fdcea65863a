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

/**
 * Clients that fetch one object again and again, each over a path of its own and as fast as it may.
 * Confined to one thread, which it keeps until the end of a run.
 */
public final class PathClients implements AutoCloseable {

  /*
   * A client without a rate reads whatever has come. One with a rate reads its part ten times a
   * second, or nothing at all, so that its receive buffer fills and its window closes.
   */
  private static final int READ_BYTES = 256 << 10;
  private static final int TURNS_PER_SECOND = 10;
  private static final long TURN_NANOS = 1_000_000_000L / TURNS_PER_SECOND;
  private static final int HEAD_END = 4;

  private final Selector selector;
  private final InetSocketAddress server;
  private final byte[] request;
  private final int length;
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private final List<Client> clients = new ArrayList<>();

  /**
   * Who fetches.
   *
   * @param group by which octets are counted
   * @param local the address it binds to, which decides on its path
   * @param octetsPerSecond it reads; {@link #UNLIMITED} or 0 for nothing at all
   * @param start after the beginning of the run
   */
  public record Fetcher(int group, String local, int octetsPerSecond, Duration start) {

    /** Reads whatever comes. */
    public static final int UNLIMITED = -1;
  }

  private static final class Client {
    private final Fetcher fetcher;
    private final SocketChannel channel;
    private boolean hasStarted;
    private int headEnd;
    private int left;
    private long octets;

    private Client(Fetcher fetcher, SocketChannel channel) {
      this.fetcher = fetcher;
      this.channel = channel;
    }
  }

  /**
   * Clients that fetch nothing yet.
   *
   * @param target of which the content has that length
   * @throws IOException if there is no selector
   */
  public PathClients(InetSocketAddress server, String authority, OriginTarget target)
      throws IOException {
    this.server = server;
    this.selector = Selector.open();
    this.length = target.length();
    this.request =
        ("GET " + target.text() + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n")
            .getBytes(StandardCharsets.US_ASCII);
  }

  /** One more. */
  public void add(Fetcher fetcher) throws IOException {
    SocketChannel channel = SocketChannel.open();
    channel.bind(new InetSocketAddress(fetcher.local(), 0));
    channel.configureBlocking(false);
    clients.add(new Client(fetcher, channel));
  }

  /**
   * Fetches.
   *
   * @param counted the part at the end in which octets count
   * @return octets that came in that part, by client in the order in which they were added
   */
  public List<Long> run(Duration settling, Duration counted) throws IOException {
    long begin = System.nanoTime();
    long count = begin + settling.toNanos();
    long end = count + counted.toNanos();
    long turn = begin;
    boolean isCounting = false;
    for (long now = begin; now - end < 0; now = System.nanoTime()) {
      if (now - turn >= 0) {
        turn += TURN_NANOS;
        start(now - begin);
        takeTurns();
      }
      if (!isCounting && now - count >= 0) {
        isCounting = true;
        clients.forEach(client -> client.octets = 0);
      }
      long wait = Math.max(1, (Math.min(turn, end) - System.nanoTime()) / 1_000_000);
      selector.select(this::ready, wait);
    }
    return clients.stream().map(client -> client.octets).toList();
  }

  private void start(long elapsedNanos) throws IOException {
    for (Client client : clients) {
      if (!client.hasStarted && elapsedNanos >= client.fetcher.start().toNanos()) {
        client.hasStarted = true;
        client.channel.connect(server);
        client.channel.register(selector, SelectionKey.OP_CONNECT, client);
      }
    }
  }

  private void takeTurns() throws IOException {
    for (Client client : clients) {
      int rate = client.fetcher.octetsPerSecond();
      if (rate > 0 && client.channel.isConnected()) {
        in.clear().limit(Math.max(1, rate / TURNS_PER_SECOND));
        read(client);
      }
    }
  }

  private void ready(SelectionKey key) {
    Client client = (Client) key.attachment();
    try {
      if (key.isConnectable()) {
        client.channel.finishConnect();
        key.interestOps(
            client.fetcher.octetsPerSecond() == Fetcher.UNLIMITED ? SelectionKey.OP_READ : 0);
        ask(client);
      } else {
        in.clear();
        read(client);
      }
    } catch (IOException lost) {
      throw new IllegalStateException("a client was lost: " + lost.getMessage(), lost);
    }
  }

  private void ask(Client client) throws IOException {
    client.headEnd = 0;
    client.left = length;
    client.channel.write(ByteBuffer.wrap(request));
  }

  private void read(Client client) throws IOException {
    if (client.channel.read(in) < 0) {
      throw new IOException("the server closed");
    }
    in.flip();
    client.octets += in.remaining();
    while (in.hasRemaining()) {
      if (client.headEnd < HEAD_END) {
        head(client);
      } else {
        int content = Math.min(client.left, in.remaining());
        in.position(in.position() + content);
        client.left -= content;
        if (client.left == 0) {
          ask(client);
        }
      }
    }
  }

  /** Looks for the empty line. */
  private void head(Client client) {
    byte expected = (byte) (client.headEnd % 2 == 0 ? '\r' : '\n');
    byte octet = in.get();
    if (octet == expected) {
      client.headEnd++;
    } else {
      client.headEnd = octet == '\r' ? 1 : 0;
    }
  }

  @Override
  public void close() throws IOException {
    for (Client client : clients) {
      client.channel.close();
    }
    selector.close();
  }
}
