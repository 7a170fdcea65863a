package io.kamille.launcher.appliance;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An origin of HTTP/2 in clear text whose answers take as long as their targets say. It goes away,
 * allows nothing for a while and refuses streams by chance, and notes what a proxy must not do. Any
 * thread.
 */
final class LifeOrigin implements AutoCloseable {

  private static final Pattern TARGET =
      Pattern.compile("/(\\w+)\\?id=(\\w+)&wait=(\\d+)&pieces=(\\d+)&gap=(\\d+)");
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

  static final String PIECE = "0123456789".repeat(10);

  final Queue<String> wrongs = new ConcurrentLinkedQueue<>();
  final AtomicInteger open = new AtomicInteger();
  final AtomicInteger taken = new AtomicInteger();
  final AtomicInteger mischiefs = new AtomicInteger();
  private final Map<String, AtomicInteger> executed = new ConcurrentHashMap<>();
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private final ServerSocket server = new ServerSocket(0, 256, InetAddress.getLoopbackAddress());
  private final Random random;

  LifeOrigin(long seed) throws IOException {
    random = new Random(seed);
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /** How often the request of this id was begun. */
  int executions(String id) {
    return executed.getOrDefault(id, new AtomicInteger()).get();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        socket.setTcpNoDelay(true);
        sockets.add(socket);
        taken.incrementAndGet();
        Thread.ofVirtual().start(() -> new Line(socket).serve());
      }
    } catch (IOException closed) {
      // The end of the test.
    }
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

  /** One connection. */
  private final class Line {

    private final Socket socket;
    private final Map<Integer, String> targets = new ConcurrentHashMap<>();
    private final AtomicInteger inUse = new AtomicInteger();
    private @Nullable DataOutputStream out;
    private int lastTaken = Integer.MAX_VALUE;
    private boolean goAwayIsKnown;
    private boolean noneIsKnown;
    private boolean allowsNone;
    private int settingsOnTheirWay;

    Line(Socket socket) {
      this.socket = socket;
    }

    void serve() {
      open.incrementAndGet();
      try (socket) {
        DataInputStream in = new DataInputStream(socket.getInputStream());
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
      } catch (IOException | Http2Exception over) {
        if (inUse.get() > 0 && !server.isClosed()) {
          wrongs.add("an origin's connection ended with " + targets);
        }
      } finally {
        open.decrementAndGet();
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
        case RST_STREAM -> {
          if (targets.remove(id) != null) {
            inUse.decrementAndGet();
          }
        }
        default -> {}
      }
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
      int chance = chance(24);
      if (chance == 0) {
        mischiefs.incrementAndGet();
        send(RST_STREAM, 0, id, REFUSED);
        return;
      }
      targets.put(id, target);
      inUse.incrementAndGet();
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
      if (inUse.get() == 0 && !allowsNone && chance(6) == 0) {
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
      String target = targets.get(id);
      if (target != null) {
        Thread.ofVirtual().start(() -> answer(id, target));
      }
    }

    private void answer(int id, String target) {
      Matcher asked = TARGET.matcher(target);
      if (!asked.matches()) {
        wrongs.add("a target nobody asked for: " + target);
        return;
      }
      executed.computeIfAbsent(asked.group(2), _ -> new AtomicInteger()).incrementAndGet();
      try {
        Thread.sleep(Long.parseLong(asked.group(3)));
        String lasts = asked.group(1).equals("hit") ? "max-age=600" : "no-store";
        ByteArrayOutputStream section = new ByteArrayOutputStream();
        section.write(0x88);
        section.write(0x0f);
        section.write(0x09);
        section.write(lasts.length());
        section.writeBytes(lasts.getBytes(US_ASCII));
        send(HEADERS, END_HEADERS, id, section.toByteArray());
        for (int i = Integer.parseInt(asked.group(4)); i > 0; i--) {
          send(DATA, 0, id, PIECE.getBytes(US_ASCII));
          Thread.sleep(Long.parseLong(asked.group(5)));
        }
        if (targets.remove(id) != null) {
          inUse.decrementAndGet();
        }
        send(DATA, ACK_OR_END, id);
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
