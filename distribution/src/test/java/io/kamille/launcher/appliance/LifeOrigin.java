package io.kamille.launcher.appliance;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * An origin of HTTP/2 and HTTP/1.1 whose answers take as long as their targets say. It notes what a
 * proxy must not do. Any thread.
 *
 * <p>By chance it goes away, allows nothing for a while and refuses streams: nobody need notice. A
 * rough one also breaks off what is under way, and closes used connections without a word.
 */
final class LifeOrigin implements AutoCloseable {

  private static final Pattern TARGET =
      Pattern.compile("/\\w+/(\\w+)\\?id=(\\w+)&wait=(\\d+)&pieces=(\\d+)&gap=(\\d+)&cut=(\\d*)");
  private static final int PREFACE_BYTES = 24;
  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int RST_STREAM = 3;
  private static final int SETTINGS = 4;
  private static final int PING = 6;
  private static final int GOAWAY = 7;
  private static final int WINDOW_UPDATE = 8;
  private static final int ACK_OR_END = 1;
  private static final int END_HEADERS = 4;
  private static final byte[] ALLOWS_NONE = {0, 3, 0, 0, 0, 0};
  private static final byte[] ALLOWS_SOME = {0, 3, 0, 0, 0, 2};
  private static final byte[] REFUSED = {0, 0, 0, 7};
  private static final byte[] INTERNAL_ERROR = {0, 0, 0, 2};

  private static final byte[] NONE = {};
  private static final Pattern LENGTH = Pattern.compile("\r\ncontent-length: (\\d+)");

  /** The requests of clients that leave have names that begin so. */
  static final String LEAVES = "l";

  static final String PIECE = "0123456789".repeat(10);

  final Queue<String> wrongs = new ConcurrentLinkedQueue<>();
  final AtomicInteger open = new AtomicInteger();
  final AtomicInteger taken = new AtomicInteger();
  final AtomicInteger mischiefs = new AtomicInteger();
  private final Map<String, AtomicInteger> executed = new ConcurrentHashMap<>();
  private final Set<String> broken = ConcurrentHashMap.newKeySet();
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final ServerSocket server = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
  private final Random random;
  private final @Nullable SSLContext tls;
  private final boolean isRough;
  private final CountDownLatch over;

  /**
   * An origin that has begun.
   *
   * @param tls null for clear text
   * @param over ends all waiting
   */
  LifeOrigin(long seed, @Nullable SSLContext tls, boolean isRough, CountDownLatch over)
      throws IOException {
    this.random = new Random(seed);
    this.tls = tls;
    this.isRough = isRough;
    this.over = over;
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /** How often the request of this id was begun. */
  int executions(String id) {
    return executed.getOrDefault(id, new AtomicInteger()).get();
  }

  /** Whether it has broken off the answer to this request. */
  boolean hasBroken(String id) {
    return broken.contains(id);
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        socket.setTcpNoDelay(true);
        sockets.add(socket);
        taken.incrementAndGet();
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The end of the test.
    }
  }

  private void serve(Socket socket) {
    open.incrementAndGet();
    Set<String> inUse = ConcurrentHashMap.newKeySet();
    try (Socket talk = tls == null ? socket : secured(socket, tls)) {
      PushbackInputStream in =
          new PushbackInputStream(new BufferedInputStream(talk.getInputStream()), 1);
      int first = in.read();
      if (first >= 0) {
        in.unread(first);
        if (first == 'P' && isPreface(talk)) {
          new Line(talk, inUse).serve(new DataInputStream(in));
        } else {
          new Turns(talk, in, inUse).serve();
        }
      }
    } catch (IOException | Http2Exception | InterruptedException ended) {
      inUse.removeIf(id -> id.startsWith(LEAVES) || broken.contains(id));
      if (!inUse.isEmpty() && !server.isClosed()) {
        wrongs.add("an origin's connection ended with " + inUse + ": " + ended);
      }
    } finally {
      open.decrementAndGet();
    }
  }

  private static Socket secured(Socket socket, SSLContext tls) throws IOException {
    SSLSocket secured = (SSLSocket) tls.getSocketFactory().createSocket(socket, null, 0, true);
    secured.setUseClientMode(false);
    secured.setHandshakeApplicationProtocolSelector(
        (_, offered) -> offered.contains("h2") ? "h2" : "http/1.1");
    secured.startHandshake();
    return secured;
  }

  /** POST and PUT begin like the preface of HTTP/2. */
  private boolean isPreface(Socket talk) {
    return talk instanceof SSLSocket secured
        ? secured.getApplicationProtocol().equals("h2")
        : !isRough;
  }

  private Matcher begun(String target) throws IOException {
    Matcher asked = TARGET.matcher(target);
    if (!asked.matches()) {
      wrongs.add("a target nobody asked for: " + target);
      throw new IOException(target);
    }
    return asked;
  }

  private void execute(String id) {
    executed.computeIfAbsent(id, _ -> new AtomicInteger()).incrementAndGet();
  }

  private void pause(String millis) throws InterruptedException {
    over.await(Long.parseLong(millis), TimeUnit.MILLISECONDS);
  }

  private static String lasts(Matcher asked) {
    return asked.group(1).equals("hit") ? "max-age=600" : "no-store";
  }

  /** How many pieces come; the answer is cut if that is less than its target says. */
  private static int pieces(Matcher asked) {
    return Integer.parseInt(asked.group(asked.group(6).isEmpty() ? 4 : 6));
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private int chance(int of) {
    synchronized (random) {
      return random.nextInt(of);
    }
  }

  /** One connection in HTTP/1.1. */
  private final class Turns {

    private final Socket socket;
    private final InputStream in;
    private final Set<String> inUse;

    Turns(Socket socket, InputStream in, Set<String> inUse) {
      this.socket = socket;
      this.in = in;
      this.inUse = inUse;
    }

    void serve() throws IOException, InterruptedException {
      boolean isUsed = false;
      while (true) {
        String head = section();
        if (head.isEmpty() || (isUsed && chance(24) == 0)) {
          // Without a word: nothing of that request was done.
          mischiefs.addAndGet(head.isEmpty() ? 0 : 1);
          return;
        }
        isUsed = true;
        Matcher asked = begun(head.split(" ", 3)[1]);
        String id = asked.group(2);
        inUse.add(id);
        content(head);
        execute(id);
        boolean isLast = chance(12) == 0;
        answer(asked, isLast);
        inUse.remove(id);
        if (isLast || chance(12) == 0) {
          mischiefs.incrementAndGet();
          return;
        }
      }
    }

    private void answer(Matcher asked, boolean isLast) throws IOException, InterruptedException {
      pause(asked.group(3));
      boolean isCut = !asked.group(6).isEmpty();
      if (isCut) {
        broken.add(asked.group(2));
      }
      String close = isLast ? "Connection: close\r\n" : "";
      send("HTTP/1.1 200 OK\r\nCache-Control: " + lasts(asked) + "\r\n" + close);
      send("Transfer-Encoding: chunked\r\n\r\n");
      for (int i = pieces(asked); i > 0; i--) {
        send(Integer.toHexString(PIECE.length()) + "\r\n" + PIECE + "\r\n");
        pause(asked.group(5));
      }
      if (isCut) {
        throw new IOException("cut");
      }
      send("0\r\n\r\n");
    }

    private void send(String octets) throws IOException {
      socket.getOutputStream().write(octets.getBytes(US_ASCII));
    }

    /** Lines up to and with the empty one; empty at the end. */
    private String section() throws IOException {
      StringBuilder section = new StringBuilder();
      while (section.indexOf("\r\n\r\n") < 0) {
        int octet = in.read();
        if (octet < 0) {
          return "";
        }
        section.append((char) octet);
      }
      return section.toString();
    }

    private void content(String head) throws IOException {
      String fields = head.toLowerCase(Locale.ROOT);
      Matcher length = LENGTH.matcher(fields);
      if (length.find()) {
        exactly(Integer.parseInt(length.group(1)));
      } else if (fields.contains("transfer-encoding: chunked")) {
        int size = chunk();
        while (size > 0) {
          exactly(size + 2);
          size = chunk();
        }
        exactly(2);
      }
    }

    private int chunk() throws IOException {
      StringBuilder line = new StringBuilder();
      while (line.indexOf("\r\n") < 0) {
        line.append(new String(exactly(1), US_ASCII));
      }
      return Integer.parseInt(line.toString().strip(), 16);
    }

    private byte[] exactly(int length) throws IOException {
      byte[] octets = in.readNBytes(length);
      if (octets.length < length) {
        throw new EOFException();
      }
      return octets;
    }
  }

  /** One connection in HTTP/2. */
  private final class Line {

    private final Socket socket;
    private final Set<String> inUse;
    private final Map<Integer, Matcher> targets = new ConcurrentHashMap<>();
    private @Nullable DataOutputStream out;
    private int lastTaken = Integer.MAX_VALUE;
    private boolean goAwayIsKnown;
    private boolean noneIsKnown;
    private boolean allowsNone;
    private int settingsOnTheirWay;

    Line(Socket socket, Set<String> inUse) {
      this.socket = socket;
      this.inUse = inUse;
    }

    void serve(DataInputStream in) throws IOException, Http2Exception {
      out = new DataOutputStream(socket.getOutputStream());
      in.readFully(new byte[PREFACE_BYTES]);
      settings(ALLOWS_SOME);
      DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
      while (true) {
        byte[] payload = new byte[in.readUnsignedByte() << 16 | in.readUnsignedShort()];
        int type = in.readUnsignedByte();
        int flags = in.readUnsignedByte();
        int id = in.readInt();
        in.readFully(payload);
        frame(decoder, type, flags, id, payload);
      }
    }

    private synchronized void frame(
        DefaultHttp2HeadersDecoder decoder, int type, int flags, int id, byte[] payload)
        throws IOException, Http2Exception {
      boolean isLast = (flags & ACK_OR_END) != 0;
      switch (type) {
        case HEADERS -> {
          var section = decoder.decodeHeaders(id, Unpooled.wrappedBuffer(payload));
          begun(id, String.valueOf(section.path()), isLast);
        }
        case DATA -> {
          if (payload.length > 0) {
            byte[] credit = {0, 0, (byte) (payload.length >> 8), (byte) payload.length};
            send(WINDOW_UPDATE, 0, 0, credit);
            send(WINDOW_UPDATE, 0, id, credit);
          }
          if (isLast) {
            answer(id);
          }
        }
        case SETTINGS -> {
          if (isLast) {
            settingsOnTheirWay--;
            noneIsKnown = allowsNone && settingsOnTheirWay == 0;
          } else {
            send(SETTINGS, ACK_OR_END, 0);
          }
        }
        case PING -> {
          if (isLast) {
            goAwayIsKnown = lastTaken < Integer.MAX_VALUE;
          } else {
            send(PING, ACK_OR_END, 0, payload);
          }
        }
        case RST_STREAM -> ended(id);
        default -> {}
      }
    }

    private boolean ended(int id) {
      Matcher asked = targets.remove(id);
      if (asked != null) {
        inUse.remove(asked.group(2));
      }
      return asked != null;
    }

    private void begun(int id, String target, boolean isLast) throws IOException {
      if (goAwayIsKnown) {
        wrongs.add("a stream behind GOAWAY: " + target);
      }
      if (noneIsKnown) {
        wrongs.add("a stream where none is allowed: " + target);
      }
      if (id > lastTaken) {
        return;
      }
      Matcher asked = LifeOrigin.this.begun(target);
      int chance = chance(24);
      if (chance == 0) {
        mischiefs.incrementAndGet();
        send(RST_STREAM, 0, id, REFUSED);
        return;
      }
      targets.put(id, asked);
      inUse.add(asked.group(2));
      if (isRough && chance(24) == 0) {
        mischiefs.incrementAndGet();
        broken.addAll(inUse);
        throw new IOException("breaks off");
      }
      if (chance == 1) {
        mischiefs.incrementAndGet();
        lastTaken = id;
        send(GOAWAY, 0, 0, 0, 0, (byte) (id >> 8), (byte) id, 0, 0, 0, 0);
        send(PING, 0, 0, new byte[8]);
      } else if (chance == 2 && !allowsNone) {
        mischiefs.incrementAndGet();
        settings(ALLOWS_NONE);
        allowsNone = true;
      } else if (chance > 18 && allowsNone) {
        allowSome();
      }
      if (isLast) {
        answer(id);
      }
    }

    /** For whoever lends an idle connection without asking it. */
    private synchronized void allowNoneIfIdle() throws IOException {
      if (!inUse.isEmpty()) {
        return;
      }
      if (isRough && chance(12) == 0) {
        mischiefs.incrementAndGet();
        socket.close();
      } else if (!allowsNone && chance(6) == 0) {
        mischiefs.incrementAndGet();
        settings(ALLOWS_NONE);
        allowsNone = true;
      }
    }

    private void allowSome() throws IOException {
      allowsNone = false;
      noneIsKnown = false;
      settings(ALLOWS_SOME);
    }

    private void settings(byte[] allowed) throws IOException {
      settingsOnTheirWay++;
      send(SETTINGS, 0, 0, allowed);
    }

    private void answer(int id) {
      Matcher asked = targets.get(id);
      if (asked != null) {
        Thread.ofVirtual().start(() -> answer(id, asked));
      }
    }

    private void answer(int id, Matcher asked) {
      execute(asked.group(2));
      try {
        pause(asked.group(3));
        boolean isCut = !asked.group(6).isEmpty();
        if (isCut) {
          broken.add(asked.group(2));
        }
        String lasts = lasts(asked);
        ByteArrayOutputStream section = new ByteArrayOutputStream();
        section.write(0x88);
        section.write(0x0f);
        section.write(0x09);
        section.write(lasts.length());
        section.writeBytes(lasts.getBytes(US_ASCII));
        send(HEADERS, END_HEADERS, id, section.toByteArray());
        for (int i = pieces(asked); i > 0; i--) {
          send(DATA, 0, id, PIECE.getBytes(US_ASCII));
          pause(asked.group(5));
        }
        if (ended(id)) {
          send(
              isCut ? RST_STREAM : DATA, isCut ? 0 : ACK_OR_END, id, isCut ? INTERNAL_ERROR : NONE);
        }
        allowNoneIfIdle();
      } catch (IOException | InterruptedException gone) {
        // Who closed it is noted by who reads.
      }
    }

    private void send(int type, int flags, int id, int... octets) throws IOException {
      byte[] payload = new byte[octets.length];
      for (int i = 0; i < octets.length; i++) {
        payload[i] = (byte) octets[i];
      }
      send(type, flags, id, payload);
    }

    private synchronized void send(int type, int flags, int id, byte[] payload) throws IOException {
      ByteArrayOutputStream frame = new ByteArrayOutputStream();
      DataOutputStream to = new DataOutputStream(frame);
      to.writeByte(0);
      to.writeShort(payload.length);
      to.writeByte(type);
      to.writeByte(flags);
      to.writeInt(id);
      to.write(payload);
      if (out != null) {
        out.write(frame.toByteArray());
      }
    }
  }
}
