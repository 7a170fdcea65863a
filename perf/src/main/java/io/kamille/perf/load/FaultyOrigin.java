package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Three origins in one process: one that fails as it is told, its sound partner, and one of another
 * route. Confined to the thread that serves.
 *
 * <p>Each answers any request with 1 KiB that must not be stored. The last one also takes orders:
 * {@code /control/hang} makes the first one hang, {@code /control/arrivals} says when the first two
 * were asked.
 */
public final class FaultyOrigin implements AutoCloseable {

  /*
   * One thread with a selector, not a scripted origin with a thread for each connection: it shares
   * its core with the load, and there it takes a quarter of the CPU time for a request.
   */

  /** What the first one does. */
  public enum Fault {
    /** Answers. */
    NONE,
    /** Listens no more. */
    REFUSED,
    /** Takes requests and never answers. */
    HANG,
    /** Resets the connection within the head. */
    RESET,
    /** Sends a few octets of the head a second. */
    DRIP,
    /** Answers 503. */
    ERROR;

    /** As it stands in orders and tables. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Which of the three. */
  public enum Role {
    FAULTY,
    PARTNER,
    OTHER
  }

  /**
   * A request came.
   *
   * @param nanos of {@link System#nanoTime}, which is the same for all processes of a machine
   */
  public record Arrival(Role role, long nanos) {}

  /** Of each answer. */
  public static final int CONTENT_LENGTH = 1024;

  private static final int READ_BYTES = 16 * 1024;
  private static final int BACKLOG = 1024;
  private static final long DRIP_MILLIS = 200;

  /** What the path of an order begins with; behind it stands a fault's label, or the next word. */
  public static final String CONTROL = "/control/";

  /** Asks for the arrivals since the last change. */
  public static final String ARRIVALS = "arrivals";

  private final Selector selector;
  private final int[] ports;
  private final ByteBuffer in = ByteBuffer.allocateDirect(READ_BYTES);
  private final List<Arrival> arrivals = new ArrayList<>();
  private final byte[] answer = answer("200 OK", FixedContent.octets(CONTENT_LENGTH));
  private final byte[] error = answer("503 Service Unavailable", new byte[0]);
  private Fault fault = Fault.NONE;
  private volatile boolean closed;

  /** One connection, or one listener. */
  private static final class End {
    private final Role role;
    private final StringBuilder head = new StringBuilder();
    private int dripped = -1;

    private End(Role role) {
      this.role = role;
    }
  }

  private FaultyOrigin(int faultyPort, int partnerPort, int otherPort) throws IOException {
    selector = Selector.open();
    ports = new int[] {faultyPort, partnerPort, otherPort};
    for (Role role : Role.values()) {
      listen(role);
    }
  }

  /** Serves on the loopback ports given: the faulty one's, its partner's, the other's. */
  public static void main(String[] arguments) throws IOException {
    try (var origin =
        open(
            Integer.parseInt(arguments[0]),
            Integer.parseInt(arguments[1]),
            Integer.parseInt(arguments[2]))) {
      origin.serve();
    }
  }

  /** The same; port 0 is one that nobody has. */
  static FaultyOrigin open(int faultyPort, int partnerPort, int otherPort) throws IOException {
    return new FaultyOrigin(faultyPort, partnerPort, otherPort);
  }

  private void listen(Role role) throws IOException {
    var listener = ServerSocketChannel.open();
    listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
    listener.configureBlocking(false);
    int port = ports[role.ordinal()];
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), BACKLOG);
    ports[role.ordinal()] = listener.socket().getLocalPort();
    listener.register(selector, SelectionKey.OP_ACCEPT, new End(role));
  }

  /** Where one of the three listens. Before {@link #serve} begins. */
  int port(Role role) {
    return ports[role.ordinal()];
  }

  /** Serves until it is told to stop. */
  void serve() throws IOException {
    long nextDrip = System.nanoTime();
    while (!closed) {
      selector.select(fault == Fault.DRIP ? DRIP_MILLIS : 0);
      List<SelectionKey> selected = List.copyOf(selector.selectedKeys());
      selector.selectedKeys().clear();
      selected.stream().filter(SelectionKey::isValid).forEach(this::ready);
      if (fault == Fault.DRIP && System.nanoTime() - nextDrip >= 0) {
        selector.keys().forEach(this::drip);
        nextDrip = System.nanoTime() + DRIP_MILLIS * 1_000_000;
      }
    }
  }

  private void ready(SelectionKey key) {
    try {
      if (key.channel() instanceof ServerSocketChannel listener) {
        accept(listener, (End) key.attachment());
      } else {
        read((SocketChannel) key.channel(), (End) key.attachment());
      }
    } catch (IOException gone) {
      end(key);
    }
  }

  private void accept(ServerSocketChannel listener, End end) throws IOException {
    SocketChannel channel = listener.accept();
    if (channel != null) {
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.register(selector, SelectionKey.OP_READ, new End(end.role));
    }
  }

  private void read(SocketChannel channel, End end) throws IOException {
    in.clear();
    if (channel.read(in) < 0) {
      channel.close();
      return;
    }
    end.head.append(US_ASCII.decode(in.flip()));
    for (int over = end.head.indexOf("\r\n\r\n"); over >= 0; over = end.head.indexOf("\r\n\r\n")) {
      String path = end.head.substring(0, over).split(" ", 3)[1];
      end.head.delete(0, over + 4);
      if (end.role == Role.OTHER && path.startsWith(CONTROL)) {
        write(channel, answer("200 OK", obey(path.substring(CONTROL.length()))));
      } else {
        asked(channel, end);
      }
    }
  }

  private void asked(SocketChannel channel, End end) throws IOException {
    if (end.role != Role.OTHER) {
      arrivals.add(new Arrival(end.role, System.nanoTime()));
    }
    switch (end.role == Role.FAULTY ? fault : Fault.NONE) {
      case NONE -> write(channel, answer);
      case HANG, REFUSED -> {}
      case RESET -> {
        channel.write(ByteBuffer.wrap(answer, 0, 20));
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        channel.close();
      }
      case DRIP -> end.dripped = 0;
      case ERROR -> write(channel, error);
    }
  }

  /** Too little to fill a send buffer: what a client does not take at once, it will not take. */
  private static void write(SocketChannel channel, byte[] octets) throws IOException {
    var out = ByteBuffer.wrap(octets);
    channel.write(out);
    if (out.hasRemaining() && octets.length <= 2 * CONTENT_LENGTH) {
      channel.close();
      return;
    }
    while (out.hasRemaining()) {
      channel.write(out);
    }
  }

  private void drip(SelectionKey key) {
    var end = (End) key.attachment();
    if (end.dripped < 0 || !(key.channel() instanceof SocketChannel channel)) {
      return;
    }
    try {
      channel.write(ByteBuffer.wrap(answer, end.dripped, 1));
      end.dripped = Math.min(end.dripped + 1, answer.length - 1);
    } catch (IOException gone) {
      end(key);
    }
  }

  private static void end(SelectionKey key) {
    try {
      key.channel().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private byte[] obey(String order) throws IOException {
    if (order.equals(ARRIVALS)) {
      return text(arrivals).getBytes(US_ASCII);
    }
    change(Fault.valueOf(order.toUpperCase(Locale.ROOT)));
    return new byte[0];
  }

  /** As a process that ends and another that begins: what was open is closed. */
  private void change(Fault next) throws IOException {
    for (SelectionKey key : List.copyOf(selector.keys())) {
      boolean isListener = key.channel() instanceof ServerSocketChannel;
      if (((End) key.attachment()).role == Role.FAULTY && (!isListener || next == Fault.REFUSED)) {
        end(key);
      }
    }
    selector.selectNow();
    if (fault == Fault.REFUSED && next != Fault.REFUSED) {
      listen(Role.FAULTY);
    }
    fault = next;
    arrivals.clear();
  }

  private static byte[] answer(String status, byte[] content) {
    String head =
        "HTTP/1.1 "
            + status
            + "\r\nCache-Control: no-store\r\nContent-Type: application/octet-stream\r\n"
            + "Content-Length: "
            + content.length
            + "\r\n\r\n";
    var all = new ByteArrayOutputStream();
    all.writeBytes(head.getBytes(US_ASCII));
    all.writeBytes(content);
    return all.toByteArray();
  }

  /** A line for each arrival since the last change. */
  static String text(List<Arrival> arrivals) {
    var text = new StringBuilder();
    for (Arrival arrival : arrivals) {
      text.append(arrival.role()).append(' ').append(arrival.nanos()).append('\n');
    }
    return text.toString();
  }

  /** Reads such lines. */
  public static List<Arrival> parse(String text) {
    return text.lines()
        .map(line -> line.split(" ", 2))
        .map(words -> new Arrival(Role.valueOf(words[0]), Long.parseLong(words[1])))
        .toList();
  }

  /** Ends {@link #serve} from another thread. */
  void stop() {
    closed = true;
    selector.wakeup();
  }

  @Override
  public void close() throws IOException {
    for (SelectionKey key : List.copyOf(selector.keys())) {
      end(key);
    }
    selector.close();
  }
}
