package io.kamille.perf.compare;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/** An origin that counts its connections. It takes any upload, and answers GET by 1 MiB. */
final class CountingOrigin implements AutoCloseable {

  static final int LARGE_BYTES = 1 << 20;
  private static final int BACKLOG = 1024;
  private static final int SMALL_BUFFER = 64 << 10;
  private static final String CHUNKED = "transfer-encoding:";
  private static final String LENGTH = "content-length:";

  private final ServerSocket server =
      new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger busy = new AtomicInteger();

  CountingOrigin() throws IOException {
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /** Connections that are open at this moment. */
  int open() {
    return open.get();
  }

  /** Those of them with a request under way. */
  int busy() {
    return busy.get();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      return;
    }
  }

  private void serve(Socket socket) {
    open.incrementAndGet();
    try (socket) {
      socket.setSendBufferSize(SMALL_BUFFER);
      var in = new BufferedInputStream(socket.getInputStream());
      for (String line = line(in); !line.isEmpty(); line = line(in)) {
        busy.incrementAndGet();
        try {
          skipRest(in);
          socket.getOutputStream().write(answer(line.startsWith("GET") ? LARGE_BYTES : 2));
        } finally {
          busy.decrementAndGet();
        }
      }
    } catch (IOException gone) {
      return;
    } finally {
      open.decrementAndGet();
    }
  }

  /** The other lines of the head, and the content. */
  private static void skipRest(InputStream in) throws IOException {
    long length = 0;
    boolean isChunked = false;
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      String lower = line.toLowerCase(Locale.ROOT);
      isChunked |= lower.startsWith(CHUNKED);
      if (lower.startsWith(LENGTH)) {
        length = Long.parseLong(lower.substring(LENGTH.length()).strip());
      }
    }
    in.skipNBytes(length);
    for (long chunk = 1; isChunked && chunk > 0; line(in)) {
      chunk = Long.parseLong(line(in).strip(), 16);
      in.skipNBytes(chunk);
    }
  }

  /** Without its end; empty at the end of the stream, too. */
  private static String line(InputStream in) throws IOException {
    var line = new StringBuilder();
    for (int octet = in.read(); octet >= 0 && octet != '\n'; octet = in.read()) {
      line.append((char) octet);
    }
    return line.toString().stripTrailing();
  }

  private static byte[] answer(int length) {
    String head =
        "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " + length + "\r\n\r\n";
    byte[] octets = head.getBytes(StandardCharsets.US_ASCII);
    return Arrays.copyOf(octets, octets.length + length);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
