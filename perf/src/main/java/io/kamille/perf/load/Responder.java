package io.kamille.perf.load;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.kamille.core.http.HttpDate;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.loop.PacedPolls;
import io.kamille.perf.load.OriginTarget.Trait;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.collection.IntObjectHashMap;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The origin server of every comparison and of the lab: one loop on a port, which answers as the
 * path says.
 *
 * <p>{@code /hit/SIZE} may be stored for an hour, {@code /text/SIZE} too and is text, {@code
 * /pass/SIZE} must not be stored. Each response carries a number of its own in {@code X-Serial}: a
 * proxy that answers twice with the same number answered from its store. {@code /made/…} is
 * answered as {@link OriginTarget} says. {@code /requests} tells how many have come, {@code /polls}
 * how many polls there were and how many events they brought. What begins with an E is sent back.
 *
 * <p>A bare one is the floor of comparisons: it answers {@code /hit/SIZE} by a ready-made response
 * and looks at nothing else.
 */
public final class Responder implements AutoCloseable {

  /*
   * Requests are trusted to be well-formed GET, HEAD or POST with a Content-Length. Requests on one
   * connection are answered one after another by servers, which wait for an answer before they ask
   * again: no client of ours pipelines, and no answer overtakes another.
   *
   * A poll accepts whoever waits: with the usual sixteen at a time a long interval between two
   * polls would bound how many clients can connect.
   */

  /** The property that makes it bare. */
  public static final String BARE = "kamille.bench.bare";

  /** The property that says whether to use the JDK's selector, {@code nio}, or native epoll. */
  public static final String TRANSPORT = "kamille.bench.transport";

  /** The property with the interval between two polls, in microseconds; 0 for no pacing. */
  public static final String INTERVAL = "kamille.bench.interval";

  /** The property that says that no poll waits; of use with an interval alone. */
  public static final String ZERO_TIMEOUT = "kamille.bench.zero-timeout";

  /** The property with the longest busy wait before the loop blocks, in microseconds. */
  public static final String SPIN = "kamille.bench.spin";

  /** The property that allows the busy wait only while nobody else wants the processor. */
  public static final String GUARD = "kamille.bench.guard";

  /** The option that makes the JDK's selectors use {@code poll(2)}. */
  public static final String POLL_OPTION =
      "-Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.PollSelectorProvider";

  private static final int BACKLOG = 1024;
  private static final int STOP_MILLIS = 5000;
  private static final long NANOS = 1000;
  private static final int CRLF_CRLF = 0x0d0a0d0a;
  private static final int HEAD_LIMIT_BYTES = 16 * 1024;
  private static final int SIZE_LIMIT = 16 << 20;
  private static final String OCTETS = "application/octet-stream";
  private static final long TICK_MILLIS = 10;

  /** Thu, 01 Jan 2026 00:00:00 GMT. */
  private static final long MODIFIED_EPOCH_SECONDS = 1_767_225_600L;

  private final boolean isBare;
  private final PacedPolls polls;
  private final MultiThreadIoEventLoopGroup loop;
  private final Channel socket;

  // What follows belongs to the loop.
  private final IntObjectHashMap<ByteBuf> contents = new IntObjectHashMap<>();
  private long requests;
  private long second;
  private byte[] beginning = {};

  private Responder(InetSocketAddress address, boolean isEpoll, PaceSettings pace, boolean isBare) {
    this.isBare = isBare;
    IoHandlerFactory selector = isEpoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    polls =
        PacedPolls.over(
            Boolean.getBoolean(ZERO_TIMEOUT) ? ZeroTimeout.over(selector) : selector, pace);
    loop = new MultiThreadIoEventLoopGroup(1, polls);
    socket =
        new ServerBootstrap()
            .group(loop)
            .channel(isEpoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(
                ChannelOption.RECVBUF_ALLOCATOR,
                new ServerChannelRecvByteBufAllocator()
                    .respectMaybeMoreData(false)
                    .maxMessagesPerRead(BACKLOG))
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new Connection());
                  }
                })
            .bind(address)
            .syncUninterruptibly()
            .channel();
  }

  /**
   * Serves until the process is told to end.
   *
   * @param arguments a port; an address, the loopback address if not said
   */
  public static void main(String[] arguments) {
    long interval = Long.getLong(INTERVAL, 0) * NANOS;
    PaceSettings pace = interval == 0 ? PaceSettings.OFF : PaceSettings.fixed(interval);
    try (var responder =
        new Responder(
            new InetSocketAddress(
                arguments.length > 1 ? arguments[1] : "127.0.0.1", Integer.parseInt(arguments[0])),
            !"nio".equals(System.getProperty(TRANSPORT)),
            pace.withSpin(Duration.ofNanos(Long.getLong(SPIN, 0) * NANOS)),
            Boolean.getBoolean(BARE))) {
      if (Boolean.getBoolean(GUARD)) {
        responder.polls.guarded();
      }
      responder.socket.closeFuture().awaitUninterruptibly();
    }
  }

  /** Serves until it is closed; port 0 lets the kernel choose. */
  static Responder open(int port, boolean isEpoll, PaceSettings pace, boolean isBare) {
    return new Responder(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), isEpoll, pace, isBare);
  }

  /** An origin without pacing. */
  static Responder open() {
    return open(0, true, PaceSettings.OFF, false);
  }

  int port() {
    return ((InetSocketAddress) socket.localAddress()).getPort();
  }

  /** Everything that is the same in all responses of a second. */
  private byte[] beginning() {
    long now = System.currentTimeMillis() / 1000;
    if (now != second) {
      second = now;
      beginning =
          ("HTTP/1.1 200 OK\r\nDate: " + HttpDate.format(now) + "\r\nContent-Type: ")
              .getBytes(US_ASCII);
    }
    return beginning;
  }

  /** The content of that length outside the heap; a whole response if this is bare. */
  private ByteBuf content(int size) {
    ByteBuf known = contents.get(size);
    if (known == null) {
      String head =
          isBare
              ? "HTTP/1.1 200 OK\r\nContent-Type: "
                  + OCTETS
                  + "\r\nContent-Length: "
                  + size
                  + "\r\n\r\n"
              : "";
      known = Unpooled.directBuffer(head.length() + size).writeBytes(head.getBytes(US_ASCII));
      known.writeBytes(FixedContent.octets(size));
      contents.put(size, known);
    }
    return known;
  }

  /** Finds where each request ends, and answers it. Confined to its loop. */
  private final class Connection extends ChannelInboundHandlerAdapter {

    /** The beginning of a head whose end has not come, ours to release. */
    private @Nullable ByteBuf begun;

    /** Octets of a request's content that have not come and are not looked at. */
    private int skipped;

    private int uses;
    private int usesLimit;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf in = joined((ByteBuf) message);
      if (in.isReadable() && in.getByte(in.readerIndex()) == 'E') {
        context.writeAndFlush(in);
        return;
      }
      try {
        skip(in);
        for (int end = headEnd(in); end >= 0; end = headEnd(in)) {
          answer(context, in, end);
          in.readerIndex(end);
          skip(in);
        }
        if (in.readableBytes() > HEAD_LIMIT_BYTES) {
          context.close();
        } else if (in.isReadable()) {
          begun = context.alloc().buffer(HEAD_LIMIT_BYTES).writeBytes(in);
        }
      } finally {
        in.release();
      }
    }

    private ByteBuf joined(ByteBuf more) {
      ByteBuf first = begun;
      if (first == null) {
        return more;
      }
      begun = null;
      first.writeBytes(more);
      more.release();
      return first;
    }

    private void skip(ByteBuf in) {
      int count = Math.min(skipped, in.readableBytes());
      in.skipBytes(count);
      skipped -= count;
    }

    /** Behind the empty line of the first head, or -1 if it has not come. */
    private static int headEnd(ByteBuf in) {
      int start = in.readerIndex();
      int end = in.writerIndex();
      for (int lf = in.indexOf(start, end, (byte) '\n');
          lf >= 0;
          lf = in.indexOf(lf + 1, end, (byte) '\n')) {
        if (lf - start >= 3 && in.getInt(lf - 3) == CRLF_CRLF) {
          return lf + 1;
        }
      }
      return -1;
    }

    private void answer(ChannelHandlerContext context, ByteBuf in, int end) {
      int path = in.readerIndex() + (in.getByte(in.readerIndex()) == 'G' ? 4 : 5);
      switch (in.getByte(path + 1)) {
        case 'h' -> hit(context, number(in, path + "/hit/".length()));
        case 'p' -> {
          if (in.getByte(path + 2) == 'o') {
            say(context, polls.count() + " " + polls.events());
          } else {
            send(context, "no-store", number(in, path + "/pass/".length()));
          }
        }
        case 'm' -> make(context, in.toString(in.readerIndex(), end - in.readerIndex(), US_ASCII));
        default -> say(context, Long.toString(requests));
      }
    }

    /** The decimal number at {@code index}, at most nine digits of it. */
    private static int number(ByteBuf in, int index) {
      int value = 0;
      for (int i = index; i < index + 9; i++) {
        int digit = in.getByte(i) - '0';
        if (digit < 0 || digit > 9) {
          break;
        }
        value = value * 10 + digit;
      }
      return value;
    }

    private void hit(ChannelHandlerContext context, int size) {
      if (isBare) {
        context.write(content(size).retainedDuplicate(), context.voidPromise());
      } else {
        send(context, "max-age=3600", size);
      }
    }

    private void send(ChannelHandlerContext context, String cacheControl, int size) {
      if (size > SIZE_LIMIT) {
        context.close();
        return;
      }
      requests++;
      context.write(head(context, OCTETS, cacheControl, size), context.voidPromise());
      context.write(content(size).retainedDuplicate(), context.voidPromise());
    }

    private void say(ChannelHandlerContext context, String words) {
      context.write(head(context, OCTETS, "no-store", words.length()), context.voidPromise());
      context.write(Unpooled.copiedBuffer(words, US_ASCII), context.voidPromise());
    }

    private ByteBuf head(
        ChannelHandlerContext context, String type, String cacheControl, int size) {
      ByteBuf head = context.alloc().directBuffer(256);
      head.writeBytes(beginning());
      ByteBufUtil.writeAscii(head, type);
      ByteBufUtil.writeAscii(head, "\r\nCache-Control: ");
      ByteBufUtil.writeAscii(head, cacheControl);
      ByteBufUtil.writeAscii(head, "\r\nContent-Length: ");
      ByteBufUtil.writeAscii(head, Integer.toString(size));
      ByteBufUtil.writeAscii(head, "\r\nX-Serial: ");
      ByteBufUtil.writeAscii(head, Long.toString(requests));
      ByteBufUtil.writeAscii(head, "\r\n\r\n");
      return head;
    }

    private void make(ChannelHandlerContext context, String head) {
      requests++;
      OriginTarget target = OriginTarget.parse(head.split(" ", 3)[1]);
      if (uses++ == 0) {
        usesLimit = target.of(Trait.USES);
      }
      String length = field(head, "\ncontent-length:");
      skipped = length.isEmpty() ? 0 : Integer.parseInt(length);
      String since = field(head, "\nif-modified-since:");
      boolean isUnmodified =
          since.length() == HttpDate.LENGTH && MODIFIED_EPOCH_SECONDS <= HttpDate.parse(since, 0);
      var answer =
          new MadeAnswer(
              context.channel(),
              target,
              requests,
              isUnmodified,
              isUnmodified || head.startsWith("HEAD"),
              usesLimit > 0 && uses >= usesLimit);
      int millis = target.of(Trait.THINK);
      if (millis == 0) {
        answer.run();
      } else {
        context.channel().eventLoop().schedule(answer, millis, TimeUnit.MILLISECONDS);
      }
    }

    /** The value of that field; empty if there is none. */
    private static String field(String head, String name) {
      int at = head.toLowerCase(Locale.ROOT).indexOf(name);
      return at < 0 ? "" : head.substring(at + name.length(), head.indexOf('\r', at + 1)).strip();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      if (begun != null) {
        begun.release();
        begun = null;
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** One answer that a target describes, after its think time and at its speed. */
  private static final class MadeAnswer implements Runnable {

    private final Channel channel;
    private final OriginTarget target;
    private final long serial;
    private final boolean isUnmodified;
    private final boolean isLast;
    private final MadeContent content;
    private final int length;
    private boolean isBegun;
    private long beginNanos;
    private int sent;

    private MadeAnswer(
        Channel channel,
        OriginTarget target,
        long serial,
        boolean isUnmodified,
        boolean isWithoutContent,
        boolean isLast) {
      this.channel = channel;
      this.target = target;
      this.serial = serial;
      this.isUnmodified = isUnmodified;
      this.isLast = isLast;
      this.content = MadeContent.of(target.object());
      this.length = isWithoutContent ? 0 : target.length();
    }

    /** Sends what is due, and comes again for the rest. */
    @Override
    public void run() {
      if (!channel.isActive()) {
        return;
      }
      if (!isBegun) {
        isBegun = true;
        beginNanos = System.nanoTime();
        channel.write(Unpooled.copiedBuffer(head(), US_ASCII), channel.voidPromise());
      }
      for (int upTo = due(); sent < upTo; ) {
        ByteBuf slice = content.slice(sent, upTo - sent);
        sent += slice.readableBytes();
        channel.write(slice, channel.voidPromise());
      }
      if (sent < length) {
        channel.flush();
        channel.eventLoop().schedule(this, TICK_MILLIS, TimeUnit.MILLISECONDS);
      } else if (isLast) {
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
      } else {
        channel.flush();
      }
    }

    /** Up to where the content may have been sent by now; no further if nobody takes it. */
    private int due() {
      int rate = target.of(Trait.DRIP);
      if (rate == 0) {
        return length;
      }
      double seconds = (System.nanoTime() - beginNanos) / 1e9;
      return channel.isWritable() ? (int) Math.min(length, Math.max(sent, rate * seconds)) : sent;
    }

    private String head() {
      int fresh = target.of(Trait.FRESH);
      return (isUnmodified ? "HTTP/1.1 304 Not Modified" : "HTTP/1.1 200 OK")
          + ("\r\nDate: " + HttpDate.format(System.currentTimeMillis() / 1000))
          + ("\r\nLast-Modified: " + HttpDate.format(MODIFIED_EPOCH_SECONDS))
          + "\r\nETag: \"v0\"\r\nCache-Control: "
          + (fresh == 0 ? "no-store" : "max-age=" + fresh)
          + (isUnmodified
              ? ""
              : "\r\nContent-Type: " + OCTETS + "\r\nContent-Length: " + target.length())
          + (isLast ? "\r\nConnection: close" : "")
          + ("\r\nX-Serial: " + serial + "\r\n\r\n");
    }
  }

  /** Ends the loop, and what it has open. */
  @Override
  public void close() {
    socket.close().awaitUninterruptibly();
    loop.shutdownGracefully(0, STOP_MILLIS, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(STOP_MILLIS);
    contents.values().forEach(ByteBuf::release);
  }
}
