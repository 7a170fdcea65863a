package io.kamille.perf.compare;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Asks for a small stored response at an even rate, on one connection or on one for each request.
 * Confined to its thread; read once that has ended.
 */
final class UpgradeClient implements Runnable {

  static final String LARGE = "/large";
  private static final int LIMIT_MILLIS = 10_000;
  private static final int CONTENT_BYTES = 1024;

  private final int port;
  private final boolean isPersistent;
  private final long periodNanos;
  private final AtomicBoolean isOver;
  private final Histogram latencies = new Histogram(3);
  private @Nullable Socket connection;
  private long failed;
  private long sentAgain;

  UpgradeClient(int port, boolean isPersistent, int rate, AtomicBoolean isOver) {
    this.port = port;
    this.isPersistent = isPersistent;
    periodNanos = 1_000_000_000L / rate;
    this.isOver = isOver;
  }

  @Override
  public void run() {
    long due = System.nanoTime();
    while (!isOver.get()) {
      LockSupport.parkNanos(due - System.nanoTime());
      try {
        ask();
      } catch (IOException trouble) {
        failed++;
        forget();
      }
      latencies.recordValue(Math.max(0, System.nanoTime() - due));
      due += periodNanos;
    }
    forget();
  }

  private void ask() throws IOException {
    Socket used = connection;
    if (used != null && ask(used)) {
      return;
    }
    sentAgain += used == null ? 0 : 1;
    forget();
    Socket fresh = new Socket(InetAddress.getLoopbackAddress(), port);
    connection = fresh;
    fresh.setSoTimeout(LIMIT_MILLIS);
    fresh.setTcpNoDelay(true);
    if (!ask(fresh)) {
      throw new IOException("closed without a response");
    }
  }

  /** Whether a response came; false if the connection was closed before any octet of one. */
  private boolean ask(Socket connection) throws IOException {
    int first;
    InputStream in = connection.getInputStream();
    try {
      connection.getOutputStream().write(request().getBytes(US_ASCII));
      first = in.read();
    } catch (java.net.SocketTimeoutException late) {
      throw late;
    } catch (IOException closed) {
      return false;
    }
    if (first < 0) {
      return false;
    }
    String head = head(in, first);
    if (!head.startsWith("http/1.1 200")) {
      throw new IOException("answered " + head);
    }
    new DataInputStream(in).readFully(new byte[CONTENT_BYTES]);
    if (!isPersistent || head.contains("connection: close")) {
      forget();
    }
    return true;
  }

  private String request() {
    return "GET /small HTTP/1.1\r\nHost: a\r\n"
        + (isPersistent ? "\r\n" : "Connection: close\r\n\r\n");
  }

  /** In lower case, through the empty line. */
  static String head(InputStream in, int first) throws IOException {
    var head = new StringBuilder().append((char) first);
    while (head.indexOf("\r\n\r\n", Math.max(0, head.length() - 4)) < 0) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("closed within a head");
      }
      head.append((char) next);
    }
    return head.toString().toLowerCase(Locale.ROOT);
  }

  private void forget() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (IOException closed) {
      // It was closed already.
    }
    connection = null;
  }

  Histogram latencies() {
    return latencies;
  }

  /** Requests without a right response, however often they were sent. */
  long failed() {
    return failed;
  }

  /** Requests on a persistent connection that the server had closed. */
  long sentAgain() {
    return sentAgain;
  }
}
