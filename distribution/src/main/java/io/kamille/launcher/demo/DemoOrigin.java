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
import java.util.Objects;
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

  private final LongAdder requests = new LongAdder();
  private final Consumer<String> log;
  private final long startEpochSeconds = System.currentTimeMillis() / 1000;
  private final byte[] download = new byte[DOWNLOAD_BYTES];

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpServer server;

  /**
   * Starts on a free loopback port.
   *
   * @param log is told a line for each request, on any thread
   */
  public DemoOrigin(Consumer<String> log) throws IOException {
    this.log = log;
    new Random(2004).nextBytes(download);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
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
      answer(exchange, exchange.getRequestURI().getPath());
      String asked = exchange.getRequestMethod() + " " + exchange.getRequestURI();
      log.accept(asked + " " + exchange.getResponseCode());
    }
  }

  private void answer(HttpExchange exchange, String path) throws IOException {
    String file = FILES.get(path);
    if (file != null) {
      send(exchange, 200, type(file), FOR_AN_HOUR, resource(file));
      return;
    }
    switch (path) {
      case "/download.bin" ->
          send(exchange, 200, "application/octet-stream", FOR_AN_HOUR, download);
      case "/slow" -> {
        think();
        send(exchange, 200, "text/plain", FOR_A_MINUTE, octets("That took a while.\n"));
      }
      case "/now" -> send(exchange, 200, "text/plain", "no-store", octets(now() + "\n"));
      default ->
          send(exchange, 404, "text/plain", FOR_A_MINUTE, octets("There is no such page.\n"));
    }
  }

  private static String now() {
    return HttpDate.format(System.currentTimeMillis() / 1000);
  }

  private void send(
      HttpExchange exchange, int status, String type, String cacheControl, byte[] content)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.getResponseHeaders().set("Cache-Control", cacheControl);
    exchange.getResponseHeaders().set("Last-Modified", HttpDate.format(startEpochSeconds));
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(content.length));
      exchange.sendResponseHeaders(status, -1);
    } else {
      exchange.sendResponseHeaders(status, content.length);
      exchange.getResponseBody().write(content);
    }
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
      return Objects.requireNonNull(in, name).readAllBytes();
    }
  }

  private static byte[] octets(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
