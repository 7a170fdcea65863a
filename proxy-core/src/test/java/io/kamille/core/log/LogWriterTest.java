package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.loop.ManualClock;
import io.kamille.core.metric.MetricRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LogWriterTest {

  private final ManualClock clock = ManualClock.at(0);
  private final MetricRegistry registry = new MetricRegistry();
  private final Disk disk = new Disk();
  private final ByteArrayOutputStream told = new ByteArrayOutputStream();
  private final LogWriter writer =
      new LogWriter(
          Optional.of(Path.of("/gone/access.log")),
          disk,
          1 << 10,
          registry,
          clock,
          System.getLogger("LogWriterTest"));
  private final LineRing ring = writer.newRing();
  private final Logger logger = Logger.getLogger("LogWriterTest");
  private final OperationalLog handler = new OperationalLog(told);

  @BeforeEach
  void listen() {
    logger.addHandler(handler);
  }

  @AfterEach
  void listenNoMore() {
    logger.removeHandler(handler);
  }

  @Test
  void aFailedWriteIsCountedAndTheNextOneGoesOn() {
    disk.room = 0;
    write(1, 2);
    disk.room = Integer.MAX_VALUE;
    write(3);
    assertThat(disk.text).hasToString("line 3\n");
    assertThat(value("kamille_access_log_write_errors_total")).isEqualTo(1);
    assertThat(value("kamille_access_log_dropped_lines_total")).isEqualTo(2);
    assertThat(value("kamille_access_log_lines_total")).isEqualTo(1);
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
  void aBatchThatFailsByAFaultOfOursIsTheLossOfThatOne() {
    disk.isFaulty = true;
    assertThatThrownBy(() -> write(1, 2)).isInstanceOf(OutOfMemoryError.class);
    disk.isFaulty = false;
    write(3);
    assertThat(disk.text).hasToString("line 3\n");
    assertThat(value("kamille_access_log_dropped_lines_total")).isEqualTo(2);
  }

  @Test
  void drainingTellsWhetherThereWasSomething() {
    assertThat(writer.drain()).isFalse();
    add(1);
    assertThat(writer.drain()).isTrue();
    assertThat(writer.drain()).isFalse();
  }

  @Test
  void aFileThatCannotBeReopenedGoesOn() {
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
    add(5);
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
    drop(3);
    writer.drain();
    assertThat(told()).hasSize(1).first().asString().contains("3 lines dropped");
    drop(4);
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
    drop(3);
    writer.drain();
    drop(2);
    writer.close();
    assertThat(told()).hasSize(2).last().asString().contains("2 lines dropped");
  }

  private List<String> told() {
    return told.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private double value(String name) {
    return registry.read().stream()
        .filter(family -> family.descriptor().name().equals(name))
        .flatMap(family -> family.samples().stream())
        .mapToDouble(sample -> sample.value())
        .sum();
  }

  private void write(int... numbers) {
    add(numbers);
    writer.drain();
  }

  private void add(int... numbers) {
    for (int number : numbers) {
      byte[] line = ("line " + number + "\n").getBytes(StandardCharsets.US_ASCII);
      ring.add(line, line.length);
    }
  }

  private void drop(int lines) {
    for (int i = 0; i < lines; i++) {
      ring.add(new byte[2 << 10], 2 << 10);
    }
  }

  /** A disk with so much room. */
  private static final class Disk implements WritableByteChannel {

    private final StringBuilder text = new StringBuilder();
    private int room = Integer.MAX_VALUE;
    private boolean isFaulty;
    private boolean isClosed;

    @Override
    public int write(ByteBuffer lines) throws IOException {
      int before = lines.position();
      if (isFaulty) {
        throw new OutOfMemoryError("for a moment");
      }
      while (lines.hasRemaining() && room > 0) {
        text.append(StandardCharsets.US_ASCII.decode(lines.slice(lines.position(), 1)));
        lines.position(lines.position() + 1);
        room--;
      }
      if (lines.hasRemaining()) {
        throw new IOException("No space left on device");
      }
      return lines.position() - before;
    }

    @Override
    public boolean isOpen() {
      return !isClosed;
    }

    @Override
    public void close() {
      isClosed = true;
    }
  }
}
