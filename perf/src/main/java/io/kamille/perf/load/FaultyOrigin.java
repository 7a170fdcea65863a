package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kamille.core.loop.LoopGroup;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Origins in one process: one that fails as it is told, its sound partners, and one of another
 * route. Confined to its one loop.
 *
 * <p>Each answers any request with 1 KiB that must not be stored. The last one also takes orders:
 * {@code /control/hang} makes the first one hang, {@code /control/arrivals} says when those before
 * it were asked, and {@code /control/twice} how often one of them got a POST that one had before.
 */
public final class FaultyOrigin implements AutoCloseable {

  /*
   * One loop, not a scripted origin with a thread for each connection: it shares its core with the
   * load, and there it takes a quarter of the CPU time for a request.
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
    ERROR,
    /** Answers 300 ms late. */
    SLOW,
    /** Answers, but the name server is silent. */
    DNS;

    /** As it stands in orders and tables. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Which of them. */
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

  /** What the path of an order begins with; behind it stands a fault's label, or the next word. */
  public static final String CONTROL = "/control/";

  /** Asks for the arrivals since the last change. */
  public static final String ARRIVALS = "arrivals";

  /** Asks how many POSTs came again since it was asked last. */
  public static final String TWICE = "twice";

  private static final int BEGINNING_LENGTH = 20;
  private static final long DRIP_MILLIS = 200;
  private static final long SLOW_MILLIS = 300;

  private final LoopGroup loops = new LoopGroup(1);
  private final EventLoop loop = loops.loops().getFirst();
  private final Map<Role, Channel> listeners = new EnumMap<>(Role.class);
  private final Set<Channel> toFaulty = new HashSet<>();
  private final List<Arrival> arrivals = new ArrayList<>();
  private final byte[] answer = response("200 OK", FixedContent.octets(CONTENT_LENGTH));
  private final byte[] error = response("503 Service Unavailable", new byte[0]);
  private final Set<String> posted = new HashSet<>();
  private final @Nullable NameServer names;
  private final int faultyPort;
  private Fault fault = Fault.NONE;
  private int twice;

  private FaultyOrigin(List<Integer> ports, @Nullable NameServer names) {
    this.names = names;
    for (int i = 0; i < ports.size(); i++) {
      Role role = i == 0 ? Role.FAULTY : i < ports.size() - 1 ? Role.PARTNER : Role.OTHER;
      listeners.put(role, listen(role, ports.get(i)).syncUninterruptibly().channel());
    }
    faultyPort = port(Role.FAULTY);
  }

  /**
   * Serves on the loopback ports given: the faulty one's, its partners', the other's. A word before
   * them is the address of a name server.
   */
  public static void main(String[] arguments) throws IOException {
    boolean isNamed = arguments[0].contains(".");
    List<Integer> ports =
        List.of(arguments).stream().skip(isNamed ? 1 : 0).map(Integer::valueOf).toList();
    NameServer names = isNamed ? NameServer.open(arguments[0], NameServer.PORT) : null;
    try (var origins = new FaultyOrigin(ports, names)) {
      origins.listener(Role.OTHER).closeFuture().awaitUninterruptibly();
    }
  }

  /** The same until it is closed; port 0 is one that nobody has. */
  static FaultyOrigin open(List<Integer> ports) {
    return new FaultyOrigin(ports, null);
  }

  private ChannelFuture listen(Role role, int port) {
    return OneLoopServer.listen(loop, true, port, () -> new Connection(role));
  }

  /** Where that one listens at first; the last of them if there are several. */
  int port(Role role) {
    return ((InetSocketAddress) listener(role).localAddress()).getPort();
  }

  private Channel listener(Role role) {
    return Objects.requireNonNull(listeners.get(role), role::name);
  }

  /** One connection to one of them. */
  private final class Connection extends RequestScanner {

    private final Role role;

    private Connection(Role role) {
      this.role = role;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      if (role == Role.FAULTY) {
        toFaulty.add(context.channel());
        context.channel().closeFuture().addListener(gone -> toFaulty.remove(context.channel()));
      }
    }

    @Override
    void answer(ChannelHandlerContext context, ByteBuf in, int path, int end) {
      if (role == Role.OTHER) {
        String target = target(in, path, end);
        if (target.startsWith(CONTROL)) {
          obey(context, target.substring(CONTROL.length()));
          return;
        }
      } else {
        arrivals.add(new Arrival(role, System.nanoTime()));
        if (in.getByte(in.readerIndex()) == 'P' && !posted.add(target(in, path, end))) {
          twice++;
        }
      }
      asked(context, role == Role.FAULTY ? fault : Fault.NONE);
    }

    private static String target(ByteBuf in, int path, int end) {
      return in.toString(path, in.indexOf(path, end, (byte) ' ') - path, US_ASCII);
    }

    private void asked(ChannelHandlerContext context, Fault now) {
      switch (now) {
        case NONE, DNS -> context.write(Unpooled.wrappedBuffer(answer));
        case HANG, REFUSED -> {}
        case RESET -> {
          context.channel().config().setOption(ChannelOption.SO_LINGER, 0);
          context.writeAndFlush(Unpooled.wrappedBuffer(answer, 0, BEGINNING_LENGTH));
          context.close();
        }
        case DRIP -> drip(context, 0);
        case ERROR -> context.write(Unpooled.wrappedBuffer(error));
        case SLOW -> {
          Runnable late = () -> context.writeAndFlush(Unpooled.wrappedBuffer(answer));
          loop.schedule(late, SLOW_MILLIS, TimeUnit.MILLISECONDS);
        }
      }
    }

    /** One octet, and the next a while later; the last one again and again. */
    private void drip(ChannelHandlerContext context, int at) {
      if (context.channel().isActive()) {
        context.writeAndFlush(Unpooled.wrappedBuffer(answer, at, 1));
        int next = Math.min(at + 1, answer.length - 1);
        loop.schedule(() -> drip(context, next), DRIP_MILLIS, TimeUnit.MILLISECONDS);
      }
    }

    private void obey(ChannelHandlerContext context, String order) {
      switch (order) {
        case ARRIVALS -> say(context, text(arrivals));
        case TWICE -> {
          say(context, Integer.toString(twice));
          twice = 0;
          posted.clear();
        }
        default -> change(Fault.valueOf(order.toUpperCase(Locale.ROOT)), () -> say(context, ""));
      }
    }

    private static void say(ChannelHandlerContext context, String text) {
      byte[] said = response("200 OK", text.getBytes(US_ASCII));
      context.writeAndFlush(Unpooled.wrappedBuffer(said));
    }
  }

  /** As a process that ends and another that begins: what was open is closed. */
  private void change(Fault next, Runnable done) {
    Fault before = fault;
    fault = next;
    arrivals.clear();
    if (names != null) {
      names.silent(next == Fault.DNS);
    }
    List.copyOf(toFaulty).forEach(Channel::close);
    if (next == Fault.REFUSED) {
      listener(Role.FAULTY).close().addListener(closed -> done.run());
    } else if (before == Fault.REFUSED) {
      ChannelFuture listening = listen(Role.FAULTY, faultyPort);
      listeners.put(Role.FAULTY, listening.channel());
      listening.addListener(bound -> done.run());
    } else {
      done.run();
    }
  }

  private static byte[] response(String status, byte[] content) {
    String head =
        "HTTP/1.1 "
            + status
            + "\r\nCache-Control: no-store\r\nContent-Type: application/octet-stream\r\n"
            + "Content-Length: "
            + content.length
            + "\r\n\r\n";
    ByteBuf all = Unpooled.copiedBuffer(head.getBytes(US_ASCII), content);
    byte[] octets = new byte[all.readableBytes()];
    all.readBytes(octets).release();
    return octets;
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

  @Override
  public void close() {
    loops.close();
    if (names != null) {
      names.close();
    }
  }
}
