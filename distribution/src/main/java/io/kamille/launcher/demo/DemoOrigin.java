package io.kamille.launcher.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kamille.core.http.HttpDate;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The demo's origin server: a few pages, pictures, a download, a slow page and one never stored.
 */
public final class DemoOrigin implements AutoCloseable {

  private static final int DOWNLOAD_BYTES = 1 << 20;
  private static final Duration THINKING = Duration.ofSeconds(2);
  private static final String FOR_AN_HOUR = "max-age=3600";
  private static final String FOR_A_MINUTE = "max-age=60";

  private static final Map<String, String> FILES =
      Map.of(
          "/", "index.html",
          "/about", "about.html",
          "/style.css", "style.css",
          "/logo.svg", "logo.svg",
          "/landscape.svg", "landscape.svg");

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final LongAdder requests = new LongAdder();
  private final Consumer<String> log;
  private final long startEpochSeconds = System.currentTimeMillis() / 1000;
  private final byte[] download = new byte[DOWNLOAD_BYTES];

  private DemoOrigin(HttpServer server, Consumer<String> log) {
    this.server = server;
    this.log = log;
    new Random(2004).nextBytes(download);
  }

  /**
   * Starts on a free loopback port.
   *
   * @param log is told a line for each request, on any thread
   */
  public static DemoOrigin start(Consumer<String> log) throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    DemoOrigin origin = new DemoOrigin(server, log);
    server.createContext("/", origin::answer);
    server.setExecutor(origin.threads);
    server.start();
    return origin;
  }

  /** Where it listens, as a URL. */
  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Requests answered so far. */
  public long requests() {
    return requests.sum();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      requests.increment();
      exchange.getRequestBody().readAllBytes();
      String path = exchange.getRequestURI().getPath();
      int status = answer(exchange, path);
      log.accept(exchange.getRequestMethod() + " " + path + " " + status);
    }
  }

  private int answer(HttpExchange exchange, String path) throws IOException {
    String file = FILES.get(path);
    if (file != null) {
      return send(exchange, 200, type(file), FOR_AN_HOUR, resource(file));
    }
    return switch (path) {
      case "/download.bin" ->
          send(exchange, 200, "application/octet-stream", FOR_AN_HOUR, download);
      case "/slow" -> {
        think();
        yield send(exchange, 200, "text/plain", FOR_A_MINUTE, octets("That took a while.\n"));
      }
      case "/now" ->
          send(
              exchange,
              200,
              "text/plain",
              "no-store",
              octets(HttpDate.format(System.currentTimeMillis() / 1000) + "\n"));
      default ->
          send(exchange, 404, "text/plain", FOR_A_MINUTE, octets("There is no such page.\n"));
    };
  }

  private int send(
      HttpExchange exchange, int status, String type, String cacheControl, byte[] content)
      throws IOException {
    var fields = exchange.getResponseHeaders();
    fields.set("Content-Type", type);
    fields.set("Cache-Control", cacheControl);
    fields.set("Last-Modified", HttpDate.format(startEpochSeconds));
    boolean head = exchange.getRequestMethod().equals("HEAD");
    if (head) {
      fields.set("Content-Length", Integer.toString(content.length));
    }
    exchange.sendResponseHeaders(status, head ? -1 : content.length);
    if (!head) {
      exchange.getResponseBody().write(content);
    }
    return status;
  }

  /** The slow page's work: two seconds of nothing. */
  private static void think() {
    try {
      Thread.sleep(THINKING);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static String type(String file) {
    return switch (file.substring(file.lastIndexOf('.'))) {
      case ".html" -> "text/html; charset=utf-8";
      case ".css" -> "text/css";
      default -> "image/svg+xml";
    };
  }

  private static byte[] resource(String name) throws IOException {
    try (@Nullable InputStream in = DemoOrigin.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + ": missing from the jar");
      }
      return in.readAllBytes();
    }
  }

  private static byte[] octets(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
