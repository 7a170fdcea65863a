package io.kamille.perf.compare;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A client of another kind than {@link UpgradeMeasurement}'s load. Each runs on one thread. */
final class UpgradeVisitor {

  /*
   * Latency counts from the moment at which a request should have been sent. HTTP/2 is the JDK's
   * client, which goes to a new connection after GOAWAY by itself; it has a bounded number of
   * requests under way, because a late one would otherwise delay all behind it. A tunnel lasts as a
   * WebSocket does. One that ends before is a failure, and so is a message without its echo.
   */
  private static final int H2_PER_SECOND = 250;
  private static final int H2_UNDER_WAY = 32;
  private static final int MESSAGES_PER_SECOND = 50;
  private static final int MESSAGE_BYTES = 64;
  private static final Duration TUNNEL = Duration.ofSeconds(30);
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  /** How an origin begins to echo. */
  static final String SWITCHED =
      """
      HTTP/1.1 101 Switching Protocols\r
      Connection: Upgrade\r
      Upgrade: websocket\r
      \r
      """;

  private final LongAdder failed = new LongAdder();
  private final ConcurrentLinkedQueue<Long> nanos = new ConcurrentLinkedQueue<>();
  private final BooleanSupplier isOver;
  private final ConcurrentHashMap<String, LongAdder> troubles = new ConcurrentHashMap<>();

  UpgradeVisitor(BooleanSupplier isOver) {
    this.isOver = isOver;
  }

  /** Asks by HTTP/2 over TLS until it is over. */
  void askByHttp2(URI uri) throws IOException {
    var underWay = new Semaphore(H2_UNDER_WAY);
    try (HttpClient client =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).sslContext(trusting()).build()) {
      HttpRequest request = HttpRequest.newBuilder(uri).timeout(TIME_LIMIT).build();
      long gap = TimeUnit.SECONDS.toNanos(1) / H2_PER_SECOND;
      for (long due = System.nanoTime(); !isOver.getAsBoolean(); due += gap) {
        LockSupport.parkNanos(due - System.nanoTime());
        long begin = due;
        underWay.acquireUninterruptibly();
        client
            .sendAsync(request, BodyHandlers.ofByteArray())
            .whenComplete(
                (answer, fault) -> {
                  count(begin, fault == null && isWhole(answer), words(answer, fault));
                  underWay.release();
                });
      }
      underWay.acquireUninterruptibly(H2_UNDER_WAY);
    }
  }

  private static String words(@Nullable HttpResponse<byte[]> answer, @Nullable Throwable fault) {
    return answer == null
        ? String.valueOf(fault)
        : answer.statusCode() + " by " + answer.version() + ", " + answer.body().length + " octets";
  }

  private static boolean isWhole(HttpResponse<byte[]> answer) {
    return answer.statusCode() == 200
        && answer.version() == HttpClient.Version.HTTP_2
        && answer.body().length == 1024;
  }

  private static SSLContext trusting() throws IOException {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), new SecureRandom());
      return context;
    } catch (GeneralSecurityException broken) {
      throw new IOException(broken);
    }
  }

  /** Sends messages through one tunnel after another until it is over, and waits for each echo. */
  void talk(int port, String target) {
    while (!isOver.getAsBoolean()) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) TIME_LIMIT.toMillis());
        talk(socket, target);
      } catch (IOException broken) {
        count(System.nanoTime(), false, broken.toString());
      }
    }
  }

  private void talk(Socket socket, String target) throws IOException {
    InputStream in = socket.getInputStream();
    OutputStream out = socket.getOutputStream();
    String head =
        """
        GET %s HTTP/1.1\r
        Host: a\r
        Connection: Upgrade\r
        Upgrade: websocket\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r
        """;
    out.write(head.replace("%s", target).getBytes(StandardCharsets.US_ASCII));
    for (int matched = 0; matched < 4; ) {
      int octet = in.read();
      if (octet < 0) {
        throw new IOException("no tunnel");
      }
      matched = octet == (matched % 2 == 0 ? '\r' : '\n') ? matched + 1 : octet == '\r' ? 1 : 0;
    }
    byte[] message = new byte[MESSAGE_BYTES];
    long gap = TimeUnit.SECONDS.toNanos(1) / MESSAGES_PER_SECOND;
    long end = System.nanoTime() + TUNNEL.toNanos();
    for (long due = System.nanoTime(); due < end && !isOver.getAsBoolean(); due += gap) {
      LockSupport.parkNanos(due - System.nanoTime());
      Arrays.fill(message, (byte) (due / gap));
      out.write(message);
      byte[] echo = in.readNBytes(MESSAGE_BYTES);
      if (!Arrays.equals(echo, message)) {
        throw new IOException("the tunnel ended");
      }
      count(due, true, "");
    }
  }

  private void count(long begin, boolean isGood, String fault) {
    nanos.add(System.nanoTime() - begin);
    if (!isGood) {
      failed.increment();
      troubles.computeIfAbsent(fault, any -> new LongAdder()).increment();
    }
  }

  /** A row of the table; comes after the end. */
  List<String> row(String name) {
    long[] sorted = nanos.stream().mapToLong(Long::longValue).sorted().toArray();
    return List.of(
        name,
        Integer.toString(sorted.length),
        Long.toString(failed.sum()),
        "–",
        millis(sorted, 0.999),
        millis(sorted, 1));
  }

  /** How often which failure came, empty for none. */
  String trouble() {
    return troubles.isEmpty() ? "" : troubles + "\n";
  }

  private static String millis(long[] sorted, double part) {
    int at = (int) Math.ceil(part * sorted.length) - 1;
    return sorted.length == 0 ? "–" : String.format(Locale.ROOT, "%.1f", sorted[at] / 1e6);
  }
}
