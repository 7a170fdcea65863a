package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AccessLogTest {

  private static final int RECORDS_THAT_FIT = fitting();

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
    CountDownLatch reopened = new CountDownLatch(1);
    Path file = directory.resolve("access.log");
    LogDestination destination = LogFile.open(Optional.of(file));
    AccessLog log =
        AccessLog.start(
            settings(Optional.of(file)),
            new Delegating(destination) {
              @Override
              public void reopen() throws IOException {
                super.reopen();
                reopened.countDown();
              }
            },
            64 << 10,
            registry,
            clock);
    Path renamed = Files.move(file, directory.resolve("access.log.1"));
    log.reopen();
    assertThat(reopened.await(60, TimeUnit.SECONDS)).isTrue();
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
    Collecting collecting = new Collecting();
    AccessLog log =
        AccessLog.start(
            settings(Optional.empty()),
            new Delegating(collecting) {
              @Override
              public void write(ByteBuffer lines) throws IOException {
                writing.countDown();
                awaitUninterruptibly(hold);
                super.write(lines);
              }
            },
            64 << 10,
            registry,
            clock);
    ExchangeObserver loop = log.forLoop();
    loop.ended(request("/"), 200, 0, 0, 0);
    assertThat(writing.await(60, TimeUnit.SECONDS)).isTrue();
    for (int i = 0; i < RECORDS_THAT_FIT + 7; i++) {
      loop.ended(request("/"), 200, 0, 0, 0);
    }
    assertThat(value("kamille_access_log_dropped_lines_total")).isEqualTo(7);
    hold.countDown();
    log.close();
    assertThat(collecting.lines()).hasSize(1 + RECORDS_THAT_FIT);
  }

  @Test
  void theLoopAllocatesNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    RecordRing ring = new RecordRing(64 << 10);
    ExchangeObserver loop =
        new ExchangeRecorder(
            ring,
            () -> {},
            registry.counter(AccessLog.LINES),
            clock,
            AccessLogSettings.SECTION.defaults());
    Exchange exchange =
        Exchanges.from(
            "2001:db8::1", RequestHead.of("GET", "http://h/a", "User-Agent", "u", "Referer", "r"));
    exchange.notes().route("route");
    loop.ended(exchange, 200, 0, 0, 0);
    threads.getCurrentThreadAllocatedBytes();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 10_000; i++) {
      loop.ended(exchange, 200, i, i, i);
      ring.peek();
      ring.release();
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(10_000);
  }

  private static int fitting() {
    RecordRing ring = new RecordRing(64 << 10);
    MetricRegistry registry = new MetricRegistry();
    var dropped = registry.counter(AccessLog.LINES);
    ExchangeObserver loop =
        new ExchangeRecorder(
            ring, () -> {}, dropped, ManualClock.at(0), AccessLogSettings.SECTION.defaults());
    loop.ended(request("/"), 200, 0, 0, 0);
    ring.peek();
    ring.release();
    int fitting = -1;
    while (dropped.value() == 0) {
      loop.ended(request("/"), 200, 0, 0, 0);
      fitting++;
    }
    return fitting;
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

  private static class Delegating implements LogDestination {

    private final LogDestination next;

    Delegating(LogDestination next) {
      this.next = next;
    }

    @Override
    public void write(ByteBuffer lines) throws IOException {
      next.write(lines);
    }

    @Override
    public void reopen() throws IOException {
      next.reopen();
    }

    @Override
    public void close() throws IOException {
      next.close();
    }
  }

  private static final class Collecting implements LogDestination {

    private final StringBuilder text = new StringBuilder();

    @Override
    public void write(ByteBuffer lines) {
      text.append(StandardCharsets.US_ASCII.decode(lines));
    }

    @Override
    public void reopen() {}

    @Override
    public void close() {}

    List<String> lines() {
      return text.toString().lines().toList();
    }
  }
}
