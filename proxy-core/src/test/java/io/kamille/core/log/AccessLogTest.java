package io.kamille.core.log;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.AccessLogSettings.Format;
import io.kamille.core.log.AccessLogSettings.LineFields;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.Sections;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AccessLogTest {

  private static final int CAPACITY = 64 << 10;

  @TempDir private Path directory;

  private final MetricRegistry registry = new MetricRegistry();
  private final ManualClock clock = ManualClock.at(0);

  @Test
  void closingWritesEverythingOfEveryLoop() throws IOException {
    Path file = directory.resolve("access.log");
    AccessLog log = AccessLog.open(settings(Optional.of(file)), registry, clock);
    ExchangeObserver first = log.forLoop();
    ExchangeObserver second = log.forLoop();
    for (int i = 0; i < 100; i++) {
      first.ended(request("/first/" + i), 200, i, 0, 0);
      second.ended(request("/second/" + i), 200, i, 0, 0);
    }
    log.close();
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(200);
    assertThat(lines.stream().filter(line -> line.contains("/first/")))
        .hasSize(100)
        .last()
        .asString()
        .contains("\"GET /first/99 HTTP/1.1\" 200 99");
    assertThat(value("kamille_access_log_lines_total")).isEqualTo(200);
  }

  @Test
  void aFileIsAppendedTo() throws IOException {
    Path file = Files.writeString(directory.resolve("access.log"), "before\n");
    AccessLog log = AccessLog.open(settings(Optional.of(file)), registry, clock);
    log.forLoop().ended(request("/"), 200, 0, 0, 0);
    log.close();
    assertThat(Files.readAllLines(file)).hasSize(2).first().isEqualTo("before");
  }

  @Test
  void reopeningBeginsANewFileAfterARename() throws Exception {
    Path file = directory.resolve("access.log");
    AccessLog log = AccessLog.open(settings(Optional.of(file)), registry, clock);
    Path renamed = Files.move(file, directory.resolve("access.log.1"));
    log.reopen();
    while (!Files.exists(file)) {
      LockSupport.parkNanos(1_000_000);
    }
    log.forLoop().ended(request("/new"), 200, 0, 0, 0);
    log.close();
    assertThat(Files.readString(renamed)).isEmpty();
    assertThat(Files.readString(file)).contains("/new");
  }

  @Test
  void aFileThatCannotBeOpenedIsAnError() {
    assertThatThrownBy(() -> AccessLog.open(settings(Optional.of(directory)), registry, clock))
        .isInstanceOf(IOException.class);
  }

  @Test
  void whatFindsNoRoomWhileTheWriterIsHeldIsDroppedAndCounted() throws Exception {
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch hold = new CountDownLatch(1);
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    AccessLog log =
        AccessLog.start(
            settings(Optional.empty()),
            Channels.newChannel(
                new OutputStream() {
                  @Override
                  public void write(int octet) {
                    collected.write(octet);
                  }

                  @Override
                  public void write(byte[] octets, int start, int length) {
                    writing.countDown();
                    awaitUninterruptibly(hold);
                    collected.write(octets, start, length);
                  }
                }),
            CAPACITY,
            registry,
            clock);
    ExchangeObserver loop = log.forLoop();
    loop.ended(request("/"), 200, 0, 0, 0);
    assertThat(writing.await(60, TimeUnit.SECONDS)).isTrue();
    int fitting = CAPACITY / line(request("/")).length();
    for (int i = 0; i < fitting + 7; i++) {
      loop.ended(request("/"), 200, 0, 0, 0);
    }
    assertThat(value("kamille_access_log_dropped_lines_total")).isEqualTo(7);
    hold.countDown();
    log.close();
    assertThat(collected.toString(US_ASCII).lines()).hasSize(1 + fitting);
  }

  @ParameterizedTest
  @EnumSource
  void theLoopAllocatesNothing(Format format) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    AccessLogSettings settings =
        Sections.copy(AccessLogSettings.SECTION.defaults())
            .with("isEnabled", true)
            .with("output", Optional.<Path>empty())
            .with("format", format)
            .with(
                "fields",
                new LineFields(
                    Stream.of("request-field:Accept", "origin", "origin-time", "request-id")
                        .map(LoggedField::parse)
                        .toList(),
                    List.of()))
            .record();
    LineRing ring = new LineRing(CAPACITY, registry.counter(LogWriter.DROPPED, "buffer-full"));
    ExchangeObserver loop = new ExchangeRecorder(ring, () -> {}, clock, format(settings));
    ByteBuffer batch = ByteBuffer.allocate(CAPACITY);
    Exchange exchange =
        Exchanges.from(
            "2001:db8::1",
            RequestHead.of(
                "GET", "http://h/a", "User-Agent", "u\u00c3\u00a9", "Referer", "r", "Accept", "a"));
    exchange.notes().originNanos(1);
    exchange.notes().requestId("7f");
    exchange.notes().route("route");
    loop.ended(exchange, 200, 0, 0, 0);
    threads.getCurrentThreadAllocatedBytes();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 10_000; i++) {
      loop.ended(exchange, 200, i, i, i);
      ring.drainTo(batch.clear());
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
  }

  private static LineFormat format(AccessLogSettings settings) {
    return AccessLog.format(settings, new FieldDigest(FieldDigest.newKey()));
  }

  private static LineBuffer line(Exchange exchange) {
    return format(settings(Optional.empty())).line(exchange, 200, 0, 0, 0);
  }

  private double value(String name) {
    return registry.read().stream()
        .filter(family -> family.descriptor().name().equals(name))
        .flatMap(family -> family.samples().stream())
        .mapToDouble(sample -> sample.value())
        .sum();
  }

  private static Exchange request(String path) {
    return Exchanges.of(RequestHead.of("GET", "http://example.org" + path));
  }

  private static AccessLogSettings settings(Optional<Path> file) {
    return Sections.copy(AccessLogSettings.SECTION.defaults())
        .with("isEnabled", true)
        .with("output", file)
        .record();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException("interrupted", interrupted);
    }
  }
}
