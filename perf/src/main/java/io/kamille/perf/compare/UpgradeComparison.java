package io.kamille.perf.compare;

import io.kamille.launcher.service.Upgrade;
import io.kamille.perf.host.Workbench;
import io.kamille.perf.load.Arrivals;
import io.kamille.perf.load.LoadClient;
import io.kamille.perf.load.LoadRequest;
import io.kamille.perf.load.LoadResult;
import io.kamille.perf.load.LoadSettings;
import io.kamille.perf.load.RequestSource;
import io.kamille.perf.load.ScriptedAnswer;
import io.kamille.perf.load.ScriptedOrigin;
import io.kamille.perf.report.Table;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import org.HdrHistogram.SynchronizedHistogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What clients notice of one upgrade after another, and how much of the cache is left. */
@Command
public final class UpgradeComparison extends Comparison {

  /*
   * Half of the requests share persistent connections, half have one each; latency counts from the
   * moment at which a request should have been sent. One client reads a large response slowly all
   * the while, one asks by HTTP/2, one sends messages through tunnels and waits for their echo. A
   * server may close a persistent connection between two requests (RFC 9112 §9.3.1), so a request
   * that met such an end before any octet of a response is sent again on a new connection, and
   * counted apart. Requests go to many keys, so that an empty cache shows: the origin counts what
   * reaches it.
   */

  private static final String LARGE = "/large";
  private static final String ECHO = "/echo";
  private static final String KEY = "/small/";
  private static final int KEYS = 2000;
  private static final int FILL_RATE = 2000;
  private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

  /** Two clients, the origin and the download share a core. */
  private static final long IDLE_NANOS = 50_000;

  private static final int LARGE_BYTES = 64 << 20;
  private static final int PART_BYTES = 64 << 10;
  private static final Duration DOWNLOAD = Duration.ofSeconds(60);
  private static final Duration TUNNEL = Duration.ofSeconds(30);
  private static final Duration START_LIMIT = Duration.ofSeconds(30);
  private static final int H2_PER_SECOND = 250;
  private static final int H2_UNDER_WAY = 32;
  private static final int MESSAGES_PER_SECOND = 50;
  private static final int MESSAGE_BYTES = 64;
  private static final String SWITCHED =
      """
      HTTP/1.1 101 Switching Protocols\r
      Connection: Upgrade\r
      Upgrade: websocket\r
      \r
      """;
  private static final String SWITCH =
      """
      GET /echo HTTP/1.1\r
      Host: a\r
      Connection: Upgrade\r
      Upgrade: websocket\r
      Sec-WebSocket-Version: 13\r
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
      \r
      """;
  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:%PORT%', {address: '127.0.0.1:%TLS%', tls: self-signed}]
      upstreams: {site: {origins: ['http://127.0.0.1:%ORIGIN%']}}
      routes: [{upstream: site}]
      cache: {memory: {capacity: 256MiB}}
      limits: {drain-deadline: 90s}
      log: {access: {enabled: off}}
      admin: {address: off}
      """;

  @Option(names = "--upgrades", description = "how many follow each other (${DEFAULT-VALUE})")
  private int upgrades = 20;

  @Option(names = "--pause", description = "seconds between two of them (${DEFAULT-VALUE})")
  private int pause = 3;

  @Option(names = "--rate", description = "requests each second, of both kinds (${DEFAULT-VALUE})")
  private int rate = 5000;

  private final AtomicBoolean isOver = new AtomicBoolean();
  private final LongAdder forwarded = new LongAdder();
  private final LongAdder asked = new LongAdder();
  private final Table table =
      new Table("connections", "requests", "failed", "sent again", "p99.9 ms", "latest ms");

  /** With 64 persistent connections. */
  public UpgradeComparison() {
    super(1, 1, 64);
  }

  @Override
  void run() throws IOException, InterruptedException {
    loadFromHere();
    upgrades = isQuick ? Math.min(upgrades, 2) : upgrades;
    begin();
    try (ScriptedOrigin origin = ScriptedOrigin.start(0, ScriptedOrigin.answering(this::answer))) {
      int port = Workbench.freePort();
      int tlsPort = Workbench.freePort();
      Path control = startKamille(port, tlsPort, origin.port());
      measure(port, tlsPort, control);
    }
  }

  private boolean answer(ScriptedOrigin.Request request, Socket connection) throws IOException {
    if (request.target().startsWith(KEY)) {
      forwarded.increment();
    }
    if (request.target().equals(ECHO)) {
      connection.getOutputStream().write(SWITCHED.getBytes(StandardCharsets.US_ASCII));
      connection.getInputStream().transferTo(connection.getOutputStream());
      return false;
    }
    byte[] content = new byte[request.target().equals(LARGE) ? LARGE_BYTES : 1024];
    new ScriptedAnswer(200, List.of("Cache-Control: max-age=3600"), content)
        .send(request, connection);
    return !request.isLast();
  }

  /** Returns the socket that takes the order to upgrade. */
  private Path startKamille(int port, int tlsPort, int originPort) throws IOException {
    Path directory = bench().directory("upgrade");
    Path file =
        Files.writeString(
            directory.resolve("kamille.yaml"),
            CONFIGURATION
                .replace("%PORT%", Integer.toString(port))
                .replace("%TLS%", Integer.toString(tlsPort))
                .replace("%ORIGIN%", Integer.toString(originPort)));
    List<String> command =
        List.of(
            "env",
            "RUNTIME_DIRECTORY=" + directory,
            "STATE_DIRECTORY=" + directory,
            checkout().kamille().toString(),
            "run",
            "--config",
            file.toString());
    bench()
        .start("upgrade-first", Workbench.Core.SERVER, command)
        .awaitListening(port, START_LIMIT);
    Path control = directory.resolve("control");
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (Files.notExists(control) && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
    return control;
  }

  private void measure(int port, int tlsPort, Path control)
      throws IOException, InterruptedException {
    AtomicInteger left = new AtomicInteger(2 * KEYS);
    try (var client = LoadClient.open(settings(port))) {
      client.run(Arrivals.even(FILL_RATE, () -> left.getAndDecrement() <= 0), keys());
    }
    hitRatio();
    try (var persistent = LoadClient.open(settings(port));
        var single = LoadClient.open(settings(port).withUsesPerConnection(1));
        var threads = Executors.newCachedThreadPool()) {
      Future<LoadResult> onPersistent = threads.submit(() -> ask(persistent));
      Future<LoadResult> onSingle = threads.submit(() -> ask(single));
      Future<String> download = threads.submit(() -> download(port));
      Future<Tally> http2 = threads.submit(() -> askByHttp2(tlsPort));
      Future<Tally> tunnel = threads.submit(() -> talk(port));
      upgrade(control);
      isOver.set(true);
      row("persistent", persistent, onPersistent.get());
      row("one for each request", single, onSingle.get());
      http2.get().row("HTTP/2 over TLS");
      tunnel.get().row("messages in tunnels");
      print(table);
      System.out.println("download of " + DOWNLOAD.toSeconds() + " s: " + download.get());
    } catch (ExecutionException e) {
      throw new IOException("a client broke off: " + e.getCause(), e);
    }
  }

  private LoadSettings settings(int port) {
    return LoadSettings.persistent(port, connections)
        .withTimeLimit(TIME_LIMIT)
        .withIdle(() -> LockSupport.parkNanos(IDLE_NANOS))
        .askingAgain();
  }

  private LoadResult ask(LoadClient client) throws IOException {
    return client.run(Arrivals.even(rate / 2.0, isOver::get), keys());
  }

  /** All keys in turn. */
  private RequestSource keys() {
    LoadRequest[] requests = new LoadRequest[KEYS];
    Arrays.setAll(requests, i -> LoadRequest.get("a", KEY + i, new byte[1024]));
    int[] next = {0};
    return () -> {
      asked.increment();
      return requests[next[0]++ % KEYS];
    };
  }

  /** The part of the requests since the last call that did not reach the origin. */
  private double hitRatio() {
    long requests = asked.sumThenReset();
    return 1 - forwarded.sumThenReset() / (double) Math.max(1, requests);
  }

  private void upgrade(Path control) {
    long last = 0;
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(pause));
    System.out.printf(Locale.ROOT, "hit ratio before: %.4f%n", hitRatio());
    for (int i = 0; i < upgrades; i++) {
      LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(pause));
      long begin = System.nanoTime();
      try {
        last = Upgrade.order(control);
        System.out.println("upgraded in " + (System.nanoTime() - begin) / 1_000_000 + " ms");
      } catch (IOException failed) {
        System.out.println("not upgraded: " + failed.getMessage());
      }
    }
    LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(pause));
    System.out.printf(Locale.ROOT, "hit ratio meanwhile: %.4f%n", hitRatio());
    long process = last;
    bench().undo(() -> ProcessHandle.of(process).ifPresent(ProcessHandle::destroy));
  }

  private void row(String name, LoadClient client, LoadResult load) {
    row(
        name,
        load.offered(),
        load.failed(),
        Long.toString(client.sentAgain()),
        load.latencyMicros(99.9),
        load.latencyMicros(100));
  }

  private void row(String name, long count, long failed, String again, double p999, double latest) {
    table.row(
        List.of(
            name,
            Long.toString(count),
            Long.toString(failed),
            again,
            String.format(Locale.ROOT, "%.1f", p999 / 1e3),
            String.format(Locale.ROOT, "%.1f", latest / 1e3)));
  }

  /** What one of the other clients sees. Any thread. */
  private final class Tally {
    private final SynchronizedHistogram nanos = new SynchronizedHistogram(3);
    private final LongAdder failed = new LongAdder();

    private void count(long begin, boolean isGood, String fault) {
      nanos.recordValue(Math.max(0, System.nanoTime() - begin));
      if (!isGood) {
        failed.increment();
        System.out.println("failed: " + fault);
      }
    }

    private void row(String name) {
      double p999 = nanos.getValueAtPercentile(99.9) / 1e3;
      UpgradeComparison.this.row(
          name, nanos.getTotalCount(), failed.sum(), "–", p999, nanos.getMaxValue() / 1e3);
    }
  }

  private Tally askByHttp2(int port) throws GeneralSecurityException {
    var tally = new Tally();
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(
        null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), new SecureRandom());
    var underWay = new Semaphore(H2_UNDER_WAY);
    try (HttpClient client = HttpClient.newBuilder().sslContext(trusting).build()) {
      var uri = URI.create("https://127.0.0.1:" + port + "/small");
      HttpRequest request = HttpRequest.newBuilder(uri).timeout(TIME_LIMIT).build();
      long gap = TimeUnit.SECONDS.toNanos(1) / H2_PER_SECOND;
      for (long due = System.nanoTime(); !isOver.get(); due += gap) {
        LockSupport.parkNanos(due - System.nanoTime());
        long begin = due;
        underWay.acquireUninterruptibly();
        client
            .sendAsync(request, BodyHandlers.ofByteArray())
            .whenComplete(
                (answer, fault) -> {
                  boolean isGood = fault == null && isWhole(answer);
                  tally.count(begin, isGood, String.valueOf(fault == null ? answer : fault));
                  underWay.release();
                });
      }
      underWay.acquireUninterruptibly(H2_UNDER_WAY);
    }
    return tally;
  }

  private static boolean isWhole(HttpResponse<byte[]> answer) {
    return answer.statusCode() == 200
        && answer.version() == HttpClient.Version.HTTP_2
        && answer.body().length == 1024;
  }

  /** Sends messages through one tunnel after another, and waits for each echo. */
  private Tally talk(int port) {
    var tally = new Tally();
    while (!isOver.get()) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) TIME_LIMIT.toMillis());
        talk(socket, tally);
      } catch (IOException broken) {
        tally.count(System.nanoTime(), false, broken.toString());
      }
    }
    return tally;
  }

  private void talk(Socket socket, Tally tally) throws IOException {
    socket.getOutputStream().write(SWITCH.getBytes(StandardCharsets.US_ASCII));
    InputStream in = socket.getInputStream();
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
    for (long due = System.nanoTime(); due < end && !isOver.get(); due += gap) {
      LockSupport.parkNanos(due - System.nanoTime());
      Arrays.fill(message, (byte) (due / gap));
      socket.getOutputStream().write(message);
      if (!Arrays.equals(in.readNBytes(MESSAGE_BYTES), message)) {
        throw new IOException("the tunnel ended");
      }
      tally.count(due, true, "");
    }
  }

  /** One response that a client reads evenly over a long time. */
  private static String download(int port) {
    long pauseNanos = DOWNLOAD.toNanos() / (LARGE_BYTES / PART_BYTES);
    int received = 0;
    try (InputStream in = URI.create("http://127.0.0.1:" + port + LARGE).toURL().openStream()) {
      long due = System.nanoTime();
      for (int read = 1; read > 0; received += read) {
        read = in.readNBytes(PART_BYTES).length;
        due += pauseNanos;
        LockSupport.parkNanos(due - System.nanoTime());
      }
      return received == LARGE_BYTES ? "whole" : "ended after " + received + " octets";
    } catch (IOException broken) {
      return "broken after " + received + " octets: " + broken.getMessage();
    }
  }
}
