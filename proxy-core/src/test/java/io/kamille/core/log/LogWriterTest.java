package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.exchange.ExchangeObserver;
import io.kamille.core.http.RequestHead;
import io.kamille.core.log.LogWriter.LogWriterMetrics;
import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.Counter;
import io.kamille.core.metric.MetricRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogWriterTest {

  private static final long UNLUCKY = 13;

  private final ManualClock clock = ManualClock.at(0);
  private final MetricRegistry registry = new MetricRegistry();
  private final RecordRing ring = new RecordRing(64 << 10);
  private final Counter dropped = registry.counter(AccessLog.LINES);
  private final LogWriterMetrics metrics =
      new LogWriterMetrics(
          dropped::value,
          registry.counter(AccessLog.LINES),
          registry.counter(AccessLog.LINES),
          registry.counter(AccessLog.LINES));
  private final Disk disk = new Disk();
  private final ByteArrayOutputStream told = new ByteArrayOutputStream();
  private final LogWriter writer =
      new LogWriter(
          List.of(ring),
          this::append,
          disk,
          metrics,
          clock,
          new OperationalLog(told, InstantSource.system()).logger("log"));
  private final ExchangeObserver loop =
      new ExchangeRecorder(ring, () -> {}, dropped, clock, AccessLogSettings.SECTION.defaults());

  @Test
  void aFailedWriteIsCountedAndTheNextOneGoesOn() {
    disk.room = 0;
    write(1, 2);
    disk.room = Integer.MAX_VALUE;
    write(3);
    assertThat(disk.text).hasToString("line 3\n");
    assertThat(metrics.errors().value()).isEqualTo(1);
    assertThat(metrics.lost().value()).isEqualTo(2);
    assertThat(metrics.written().value()).isEqualTo(1);
  }

  @Test
  void aLineThatBrokeOffSpoilsNoOther() {
    disk.room = "line 1\nli".length();
    write(1, 2);
    disk.room = Integer.MAX_VALUE;
    write(3);
    write(4);
    assertThat(disk.text).hasToString("line 1\nli\nline 3\nline 4\n");
  }

  @Test
  void aWriteThatBrokeOffBetweenLinesLeavesNoEmptyOne() {
    disk.room = "line 1\n".length();
    write(1, 2);
    disk.room = Integer.MAX_VALUE;
    write(3);
    assertThat(disk.text).hasToString("line 1\nline 3\n");
  }

  @Test
  void aRecordThatMakesNoLineIsTheLossOfThatOne() {
    noteAll(1, UNLUCKY, 3);
    assertThatThrownBy(writer::drain).isInstanceOf(OutOfMemoryError.class);
    writer.drain();
    assertThat(disk.text).hasToString("line 1\nline 3\n");
    assertThat(metrics.lost().value()).isEqualTo(1);
  }

  private void append(LogRecord record, LineBuffer out) {
    out.ascii("line " + record.contentBytes());
    if (record.contentBytes() == UNLUCKY) {
      throw new OutOfMemoryError("for a moment");
    }
    out.ascii("\n");
  }

  @Test
  void drainingTellsWhetherThereWasSomething() {
    assertThat(writer.drain()).isFalse();
    loop.ended(Exchanges.of(RequestHead.of("GET", "http://h/")), 200, 1, 0, 0);
    assertThat(writer.drain()).isTrue();
    assertThat(writer.drain()).isFalse();
  }

  @Test
  void aFileThatCannotBeReopenedGoesOn() {
    disk.mayReopen = false;
    writer.reopen();
    write(1);
    assertThat(disk.text).hasToString("line 1\n");
    assertThat(told())
        .singleElement()
        .asString()
        .endsWith("the old file is used: /gone/access.log: its directory does not exist");
  }

  @Test
  void closingDrainsAndCloses() {
    loop.ended(Exchanges.of(RequestHead.of("GET", "http://h/")), 200, 5, 0, 0);
    writer.close();
    assertThat(disk.text).hasToString("line 5\n");
    assertThat(disk.isClosed).isTrue();
  }

  @Test
  void aRowOfFailedWritesIsToldOnce() {
    disk.room = 0;
    write(1);
    write(2);
    assertThat(told()).hasSize(1).first().asString().contains("No space left on device");
    disk.room = Integer.MAX_VALUE;
    write(3);
    disk.room = 0;
    write(4);
    assertThat(told()).hasSize(2);
  }

  @Test
  void droppedLinesAreToldOnceAMinute() {
    dropped.add(3);
    writer.drain();
    assertThat(told()).hasSize(1).first().asString().contains("3 lines dropped");
    dropped.add(4);
    clock.advance(Duration.ofSeconds(59));
    writer.drain();
    assertThat(told()).hasSize(1);
    clock.advance(Duration.ofSeconds(1));
    writer.drain();
    writer.drain();
    assertThat(told()).hasSize(2).last().asString().contains("4 lines dropped");
  }

  @Test
  void whatWasDroppedIsToldAtTheEnd() {
    dropped.add(3);
    writer.drain();
    dropped.add(2);
    writer.close();
    assertThat(told()).hasSize(2).last().asString().contains("2 lines dropped");
  }

  private List<String> told() {
    return told.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private void write(long... numbers) {
    noteAll(numbers);
    writer.drain();
  }

  private void noteAll(long... numbers) {
    for (long number : numbers) {
      loop.ended(Exchanges.of(RequestHead.of("GET", "http://h/")), 200, number, 0, 0);
    }
  }

  /** A disk with so much room. */
  private static final class Disk implements LogDestination {

    private final StringBuilder text = new StringBuilder();
    private int room = Integer.MAX_VALUE;
    private boolean mayReopen = true;
    private boolean isClosed;

    @Override
    public void write(ByteBuffer lines) throws IOException {
      while (lines.hasRemaining() && room > 0) {
        text.append(StandardCharsets.US_ASCII.decode(lines.slice(lines.position(), 1)));
        lines.position(lines.position() + 1);
        room--;
      }
      if (lines.hasRemaining()) {
        throw new IOException("No space left on device");
      }
    }

    @Override
    public void reopen() throws IOException {
      if (!mayReopen) {
        throw new NoSuchFileException("/gone/access.log");
      }
    }

    @Override
    public void close() {
      isClosed = true;
    }
  }
}
