package io.kamille.launcher.fuzz;

import io.kamille.launcher.fuzz.RecordingOrigin.Seen;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;

/** Clients of an appliance, each with a connection and an address of its own. Any thread. */
final class Wire {

  /**
   * What came of one connection.
   *
   * @param client its address
   * @param got all octets until the proxy closed
   * @param seen the requests that the origin had of it
   * @param wasReset whether answers may have been lost on their way
   */
  record Conversation(String client, String got, List<Seen> seen, boolean wasReset) {}

  /*
   * Addresses are taken from 127.1.0.0 on. The proxy tells them to the origin, which knows by them
   * whose request it sees, however many connections there are at once.
   */
  private static final int FIRST = 127 << 24 | 1 << 16;
  private static final int COUNT = 16_000_000;
  private static final int BUFFER_BYTES = 8192;

  private final SocketAddress proxy;
  private final RecordingOrigin origin;
  private final AtomicInteger clients = new AtomicInteger();

  Wire(int port, RecordingOrigin origin) {
    proxy = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    this.origin = origin;
  }

  /** Sends octets in pieces, closes this side, and reads to the end. */
  Conversation say(String octets, SplittableRandom random) throws IOException {
    int number = FIRST + clients.getAndIncrement() % COUNT;
    InetAddress address = InetAddress.getByAddress(ByteBuffer.allocate(4).putInt(number).array());
    String client = address.getHostAddress();
    List<Seen> seen = origin.expect(client);
    ByteArrayOutputStream got = new ByteArrayOutputStream();
    boolean wasSent;
    boolean wasReceived;
    try (SocketChannel channel = SocketChannel.open()) {
      channel.bind(new InetSocketAddress(address, 0));
      channel.connect(proxy);
      wasSent = send(channel, octets, random);
      wasReceived = receive(channel, got);
    }
    boolean wasReset = !wasSent || !wasReceived;
    origin.forget(client, wasReset);
    return new Conversation(
        client, got.toString(StandardCharsets.ISO_8859_1), List.copyOf(seen), wasReset);
  }

  /** False if the proxy closed before the last piece, which is no reason not to read. */
  private static boolean send(SocketChannel channel, String octets, SplittableRandom random) {
    ByteBuffer rest = ByteBuffer.wrap(octets.getBytes(StandardCharsets.ISO_8859_1));
    int end = rest.limit();
    try {
      while (rest.position() < end) {
        int length = end - rest.position();
        rest.limit(random.nextInt(3) == 0 ? rest.position() + 1 + random.nextInt(length) : end);
        while (rest.hasRemaining()) {
          channel.write(rest);
        }
      }
      channel.shutdownOutput();
      return true;
    } catch (IOException reset) {
      return false;
    }
  }

  private static boolean receive(SocketChannel channel, ByteArrayOutputStream got) {
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    try {
      for (int read = channel.read(buffer); read >= 0; read = channel.read(buffer)) {
        got.write(buffer.array(), 0, buffer.position());
        buffer.clear();
      }
      return true;
    } catch (IOException reset) {
      return false;
    }
  }
}
