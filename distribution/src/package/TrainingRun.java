import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Drives a Kamille through what most days bring, so that the JVM learns for its AOT cache which
 * classes are used and which methods are hot. A program of the build, run from its source: {@code
 * java TrainingRun.java DIRECTORY CACHE COMMAND…}. The JVM writes the cache as the command ends. Of
 * packages for another machine it is a part, which {@code bin/kamille} runs there.
 */
final class TrainingRun {

  /*
   * What is used here is what C1 compiles at once in the first second of a start. So no kind of
   * request of a client is missing. All classes of the cache are resident from the start. So nothing
   * asks for JSON here, which would add a sixth to them. C1 takes each method after a few calls, so that a short run tells them all.
   * C2 is kept out: for what it compiled here, a start would hand the profile of these few requests
   * to C2 again, before the load shows its own.
   */
  private static final String JVM_OPTIONS =
      " -XX:Tier3InvocationThreshold=5 -XX:Tier3MinInvocationThreshold=2"
          + " -XX:Tier3CompileThreshold=20 -XX:Tier0InvokeNotifyFreqLog=1"
          + " -XX:Tier4InvocationThreshold=1000000000 -XX:Tier4MinInvocationThreshold=1000000000"
          + " -XX:Tier4CompileThreshold=1000000000 -XX:Tier4BackEdgeThreshold=1000000000";

  private static final int ROUNDS = 60;
  private static final int HITS_PER_ROUND = 4;
  private static final Duration LIMIT = Duration.ofSeconds(300);
  private static final byte[] SMALL = "k".repeat(1024).getBytes(StandardCharsets.US_ASCII);
  private static final byte[] LARGE = new byte[1 << 20];
  private static final byte[] PAGE =
      "<p>The same words again and again.</p>\n".repeat(200).getBytes(StandardCharsets.US_ASCII);

  private static final String CONFIGURATION =
      """
      listeners: ['127.0.0.1:0']
      loops: 1
      upstreams: {site: {origins: ['http://127.0.0.1:%d']}}
      routes:
        - {upstream: site, cache: {compress: on}}
        - {path: /direct, upstream: site, cache: off}
      cache: {memory: {capacity: 64MiB}}
      log: {access: {enabled: on, output: '%s'}}
      admin: {address: '127.0.0.1:0', token-file: '%s'}
      """;

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Path directory;
  private String site = "";
  private String admin = "";

  private TrainingRun(Path directory) {
    this.directory = directory;
  }

  public static void main(String[] words) throws Exception {
    Path directory = Files.createDirectories(Path.of(words[0]).toAbsolutePath());
    HttpServer origin = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    origin.createContext("/", TrainingRun::answer);
    origin.setExecutor(Executors.newCachedThreadPool(Thread.ofPlatform().daemon().factory()));
    origin.start();
    Path file = directory.resolve("kamille.yaml");
    Files.writeString(
        file,
        CONFIGURATION.formatted(
            origin.getAddress().getPort(),
            directory.resolve("access.log"),
            directory.resolve("admin-token")));
    List<String> command = new ArrayList<>(List.of(words).subList(2, words.length));
    command.addAll(List.of("run", "--config", file.toString()));
    Path log = directory.resolve("kamille.log");
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("KAMILLE_JAVA_OPTS", "-XX:AOTCacheOutput=" + words[1] + JVM_OPTIONS);
    Process kamille = builder.redirectOutput(log.toFile()).start();
    try {
      new TrainingRun(directory).train(kamille, log);
      kamille.destroy();
      if (!kamille.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) || kamille.exitValue() != 0) {
        throw new IOException("it did not end well; see " + log);
      }
    } finally {
      kamille.destroyForcibly();
      origin.stop(0);
    }
  }

  private static void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    exchange.getRequestBody().readAllBytes();
    var fields = exchange.getResponseHeaders();
    boolean isKept = path.contains("/kept");
    fields.set(
        "Cache-Control", isKept ? "max-age=600" : path.contains("/etag") ? "no-cache" : "no-store");
    if (path.contains("/vary")) {
      fields.set("Vary", "Accept-Language");
    }
    if (path.contains("/page")) {
      fields.set("Content-Type", "text/html");
    }
    if (isKept || path.contains("/etag")) {
      fields.set("ETag", "\"1\"");
      if ("\"1\"".equals(exchange.getRequestHeaders().getFirst("If-None-Match"))) {
        exchange.sendResponseHeaders(304, -1);
        exchange.close();
        return;
      }
    }
    byte[] content = path.contains("/large") ? LARGE : path.contains("/page") ? PAGE : SMALL;
    boolean hasNoContent = exchange.getRequestMethod().equals("HEAD");
    int status = path.contains("/missing") ? 404 : 200;
    exchange.sendResponseHeaders(
        status, hasNoContent ? -1 : path.contains("/chunked") ? 0 : content.length);
    if (!hasNoContent) {
      exchange.getResponseBody().write(content);
    }
    exchange.close();
  }

  private void train(Process kamille, Path log) throws Exception {
    site = "http://" + awaitAddress(kamille, log, "listening on ");
    admin = "http://" + awaitAddress(kamille, log, "admin on ");
    for (int round = 0; round < ROUNDS; round++) {
      for (int hit = 0; hit < HITS_PER_ROUND; hit++) {
        get("/kept/" + hit);
      }
      get("/kept/miss/" + round);
      get("/direct/" + round % 7);
      if (round % 8 == 0) {
        lessCommon(round);
      }
      if (round % 20 == 0) {
        operate();
      }
    }
  }

  private void lessCommon(int round) throws Exception {
    get("/kept/large");
    get("/kept/large", "Range", "bytes=1000-1999");
    get("/kept/chunked/" + round);
    get("/kept/vary", "Accept-Language", round % 16 == 0 ? "de" : "en");
    get("/kept/0", "If-None-Match", "\"1\"");
    get("/kept/page", "Accept-Encoding", List.of("gzip", "br", "zstd").get(round / 8 % 3));
    get("/etag");
    get("/missing");
    get("/nothing/..%2f", "Cache-Control", "no-cache");
    get("/kept/absent/" + round, "Cache-Control", "only-if-cached");
    send(request(site + "/posted").POST(BodyPublishers.ofByteArray(SMALL)));
    send(request(site + "/posted").POST(BodyPublishers.ofByteArray(LARGE)));
    send(request(site + "/kept/0").method("HEAD", BodyPublishers.noBody()));
    mistake();
  }

  private void operate() throws Exception {
    String token = Files.readString(directory.resolve("admin-token")).strip();
    for (String path : List.of("/healthz", "/readyz", "/metrics")) {
      send(request(admin + path).header("Authorization", "Bearer " + token));
    }
  }

  /** What no library would send. */
  private void mistake() throws IOException {
    URI server = URI.create(site);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getPort())) {
      socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      socket.getInputStream().readAllBytes();
    }
  }

  private void get(String path, String... fields) throws Exception {
    HttpRequest.Builder request = request(site + path);
    send(fields.length == 0 ? request : request.headers(fields));
  }

  private static HttpRequest.Builder request(String url) {
    return HttpRequest.newBuilder(URI.create(url)).timeout(LIMIT);
  }

  private void send(HttpRequest.Builder request) throws Exception {
    client.send(request.build(), BodyHandlers.discarding());
  }

  private static String awaitAddress(Process kamille, Path log, String words) throws Exception {
    Pattern line = Pattern.compile(words + "(\\S+)\\n");
    for (int look = 0; look < LIMIT.toMillis() / 20 && kamille.isAlive(); look++) {
      Matcher matcher = line.matcher(Files.readString(log));
      if (matcher.find()) {
        return matcher.group(1);
      }
      Thread.sleep(20);
    }
    throw new IOException("no \"" + words + "\" in " + log + ":\n" + Files.readString(log));
  }
}
