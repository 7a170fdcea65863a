package io.kamille.admin.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.TraceStep;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricFamily;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.trace.LoopTracer;
import io.kamille.core.trace.TraceSettings;
import io.kamille.core.trace.Tracing;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Traces on their way to collectors, good and bad ones. */
class TraceExporterIT {

  private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

  private static final Duration PERIOD = Duration.ofMillis(10);
  private static final Duration PATIENT = Duration.ofSeconds(60);
  private static final Duration HASTY = Duration.ofMillis(500);

  private final ManualClock clock = ManualClock.at(1_795_251_660_000L);
  private final Tracing tracing = new Tracing(TraceSettings.OFF, clock);
  private final LoopTracer tracer = tracing.forLoop(TraceExporterIT::answer);
  private final LinkedBlockingQueue<JsonNode> received = new LinkedBlockingQueue<>();
  private ServerSocket collector;
  private final MetricRegistry registry = new MetricRegistry();
  private @Nullable TraceExporter opened;

  @BeforeEach
  void listen() throws IOException {
    collector = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  private static void answer(Exchange exchange) {
    exchange.notes().route("*/");
    exchange.notes().mark(TraceStep.ORIGIN, "127.0.0.1:9000");
    exchange.notes().origin("127.0.0.1:9000");
    exchange.notes().mark(TraceStep.RESPONSE_END, "");
  }

  @AfterEach
  void close() throws IOException {
    Objects.requireNonNull(opened).close();
    collector.close();
  }

  private long count(MetricDescriptor counted) {
    return (long)
        registry.read().stream()
            .filter(family -> family.descriptor().equals(counted))
            .flatMap(family -> family.samples().stream())
            .mapToDouble(MetricFamily.Sample::value)
            .sum();
  }

  /** What a collector does with each connection once it has read a request. */
  @FunctionalInterface
  private interface Manner {
    void answer(OutputStream out) throws IOException;
  }

  private void open(Duration limit, Manner manner) {
    Thread.ofPlatform().daemon().start(() -> serve(manner));
    open(limit, URI.create("http://127.0.0.1:" + collector.getLocalPort() + "/v1/traces"));
  }

  private void open(Duration limit, URI endpoint) {
    opened = new TraceExporter(tracing, endpoint, "1.2.3", PERIOD, limit, registry);
  }

  private void serve(Manner manner) {
    while (!collector.isClosed()) {
      try (Socket socket = collector.accept()) {
        InputStream in = socket.getInputStream();
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
          int octet = in.read();
          if (octet < 0) {
            throw new EOFException();
          }
          head.append((char) octet);
        }
        int at = head.indexOf("Content-Length: ") + "Content-Length: ".length();
        int length = Integer.parseInt(head, at, head.indexOf("\r", at), 10);
        received.add(JsonMapper.builder().build().readTree(in.readNBytes(length)));
        manner.answer(socket.getOutputStream());
      } catch (IOException ended) {
        // Until the next one.
      }
    }
  }

  private void record(String uri) {
    tracing.order(null, "/", 1, Duration.ofMinutes(1).toNanos());
    Exchange exchange = RecordedExchanges.of(RequestHead.of("GET", uri));
    tracer.handle(exchange);
    tracer.ended(exchange, 200, 7, clock.nanos() - 5_000_000, clock.nanos());
  }

  @Test
  void aCollectorGetsSpansAndNoQuery() throws Exception {
    open(PATIENT, out -> out.write(OK.getBytes(StandardCharsets.US_ASCII)));
    record("http://h/a?secret=1");
    JsonNode request = received.poll(60, TimeUnit.SECONDS);
    assertThat(request).isNotNull();
    assertThat(request.toString()).doesNotContain("secret");
    JsonNode scope = request.path("resourceSpans").path(0).path("scopeSpans").path(0);
    JsonNode exchange = scope.path("spans").path(0);
    JsonNode origin = scope.path("spans").path(1);
    assertThat(exchange.path("traceId").stringValue()).matches("[0-9a-f]{32}");
    assertThat(exchange.path("kind").intValue()).isEqualTo(2);
    assertThat(exchange.path("startTimeUnixNano").stringValue()).isEqualTo("1795251659995000000");
    assertThat(exchange.path("endTimeUnixNano").stringValue()).isEqualTo("1795251660000000000");
    assertThat(exchange.path("events")).hasSize(2);
    assertThat(origin.path("parentSpanId")).isEqualTo(exchange.path("spanId"));
    assertThat(origin.path("kind").intValue()).isEqualTo(3);
    Await.until(() -> count(TraceExporter.EXPORTED) == 1);
    assertThat(count(TraceExporter.LOST)).isZero();
  }

  @Test
  void aCollectorThatNeverAnswersCostsItsTracesAlone() {
    open(HASTY, out -> collector.accept().close());
    record("http://h/a");
    Await.until(() -> count(TraceExporter.LOST) == 1);
    record("http://h/b");
    Await.until(() -> count(TraceExporter.LOST) == 2);
    assertThat(count(TraceExporter.EXPORTED)).isZero();
  }

  /** The client refuses such an endpoint by an exception. */
  @Test
  void aFaultCostsItsTracesAlone() {
    open(PATIENT, URI.create("nobody:speaks/this"));
    record("http://h/a");
    Await.until(() -> count(TraceExporter.LOST) == 1);
    record("http://h/b");
    Await.until(() -> count(TraceExporter.LOST) == 2);
    assertThat(count(TraceExporter.EXPORTED)).isZero();
  }

  @Test
  void anAnswerWithoutAnEndIsCutOff() {
    open(
        HASTY,
        out -> {
          out.write(
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
          byte[] chunk =
              ("400\r\n" + "x".repeat(1024) + "\r\n").getBytes(StandardCharsets.US_ASCII);
          while (true) {
            out.write(chunk);
          }
        });
    record("http://h/a");
    Await.until(() -> count(TraceExporter.LOST) == 1);
    assertThat(count(TraceExporter.EXPORTED)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"202 Accepted", "204 No Content"})
  void anyStatusOfSuccessIsOne(String status) {
    open(
        PATIENT,
        out ->
            out.write(
                ("HTTP/1.1 "
                        + status
                        + "\r\n"
                        + (status.startsWith("202") ? "Content-Length: 0\r\n" : "")
                        + "\r\n")
                    .getBytes(StandardCharsets.US_ASCII)));
    record("http://h/a");
    Await.until(() -> count(TraceExporter.EXPORTED) == 1);
    assertThat(count(TraceExporter.LOST)).isZero();
  }

  /** The client asks for a proxy before anything else. */
  @Test
  void anErrorCostsItsTracesAlone() {
    ProxySelector before = ProxySelector.getDefault();
    AtomicBoolean isFirst = new AtomicBoolean(true);
    ProxySelector.setDefault(
        new ProxySelector() {
          @Override
          public List<Proxy> select(URI uri) {
            if (isFirst.getAndSet(false)) {
              throw new AssertionError("on purpose");
            }
            return List.of(Proxy.NO_PROXY);
          }

          @Override
          public void connectFailed(URI uri, SocketAddress address, IOException cause) {}
        });
    try {
      open(PATIENT, out -> out.write(OK.getBytes(StandardCharsets.US_ASCII)));
    } finally {
      ProxySelector.setDefault(before);
    }
    record("http://h/a");
    Await.until(() -> count(TraceExporter.LOST) == 1);
    record("http://h/b");
    Await.until(() -> count(TraceExporter.EXPORTED) == 1);
  }

  @Test
  void aRefusalIsALoss() {
    open(
        PATIENT,
        out ->
            out.write(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII)));
    record("http://h/a");
    Await.until(() -> count(TraceExporter.LOST) == 1);
  }

  @Test
  void whatIsReplacedBeforeItIsSentIsCounted() {
    for (int i = 0; i < 300; i++) {
      record("http://h/a");
    }
    open(PATIENT, out -> out.write(OK.getBytes(StandardCharsets.US_ASCII)));
    Await.until(() -> count(TraceExporter.EXPORTED) == 256);
    assertThat(count(TraceExporter.LOST)).isEqualTo(44);
  }
}
