package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OperationalLogTest {

  private static final Instant NOW = Instant.parse("2026-11-21T09:00:00.123456Z");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final OperationalLog log = new OperationalLog(out);

  @AfterEach
  void showAsUsual() {
    OperationalLog.show(System.Logger.Level.INFO);
  }

  @Test
  void aMessageIsOneLine() {
    log(Level.INFO, "listening on {0}", "127.0.0.1:8080");
    assertThat(text())
        .isEqualTo("2026-11-21T09:00:00.123Z INFO  kamille.server: listening on 127.0.0.1:8080\n");
  }

  @Test
  void whatCameFromOutsideStaysOnTheLine() {
    log(Level.WARNING, "host a\r\n\u001b[2J\u202e\u2028\u00e9");
    assertThat(text())
        .endsWith("WARN  kamille.server: host a\\u000d\\n\\u001b[2J\\u202e\\u2028\u00e9\n");
  }

  @Test
  void aStackTraceFollowsIndented() {
    log(Level.SEVERE, new IllegalStateException("why\nnot"), "broken");
    assertThat(text().lines().toList())
        .startsWith(
            "2026-11-21T09:00:00.123Z ERROR kamille.server: broken",
            "    java.lang.IllegalStateException: why",
            "    not")
        .anyMatch(line -> line.startsWith("    at io.kamille.core.log.OperationalLogTest."));
  }

  @Test
  void lesserMessagesThanTheLevelAreNotShown() {
    System.Logger ours = System.getLogger("kamille.server");
    System.Logger theirs = System.getLogger("io.netty");
    assertThat(ours.isLoggable(System.Logger.Level.INFO)).isTrue();
    assertThat(ours.isLoggable(System.Logger.Level.DEBUG)).isFalse();
    OperationalLog.show(System.Logger.Level.ERROR);
    assertThat(ours.isLoggable(System.Logger.Level.WARNING)).isFalse();
    assertThat(theirs.isLoggable(System.Logger.Level.WARNING)).isFalse();
    assertThat(ours.isLoggable(System.Logger.Level.ERROR)).isTrue();
  }

  @Test
  void debugIsAboutKamilleOnly() {
    OperationalLog.show(System.Logger.Level.DEBUG);
    assertThat(System.getLogger("kamille.server").isLoggable(System.Logger.Level.DEBUG)).isTrue();
    assertThat(System.getLogger("io.netty").isLoggable(System.Logger.Level.DEBUG)).isFalse();
    assertThat(System.getLogger("io.netty").isLoggable(System.Logger.Level.INFO)).isTrue();
  }

  @Test
  void aTextThatIsNoFormatIsShownAsItIs() {
    log(Level.INFO, "{not a format} {0", 1);
    assertThat(text()).endsWith("kamille.server: {not a format} {0\n");
  }

  @Test
  void messagesOfSystemLoggersAndOfLibrariesComeHere() {
    Logger root = Logger.getLogger("");
    root.addHandler(log);
    System.getLogger("kamille.server").log(System.Logger.Level.WARNING, "a {0}", 1_000);
    Logger.getLogger("io.netty.channel").log(Level.SEVERE, "a {0}", "b");
    root.removeHandler(log);
    assertThat(text().lines())
        .satisfiesExactly(
            line -> assertThat(line).endsWith("Z WARN  kamille.server: a 1,000"),
            line -> assertThat(line).endsWith("Z ERROR io.netty.channel: a b"));
  }

  @Test
  void theHandlerStaysWhileTheProcessStops() throws IOException {
    OperationalLog.Manager manager = new OperationalLog.Manager();
    manager.readConfiguration();
    manager.reset();
    assertThat(manager.getProperty("handlers")).isEqualTo(OperationalLog.class.getName());
  }

  @Test
  void aClosedStandardErrorHarmsNobody() {
    OutputStream closed =
        new OutputStream() {
          @Override
          public void write(int octet) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    LogRecord message = new LogRecord(Level.INFO, "nobody reads");
    assertThatCode(() -> new OperationalLog(closed).publish(message)).doesNotThrowAnyException();
  }

  private void log(Level level, String text, Object... parameters) {
    log(level, null, text, parameters);
  }

  private void log(Level level, @Nullable Throwable thrown, String text, Object... parameters) {
    LogRecord message = new LogRecord(level, text);
    message.setLoggerName("kamille.server");
    message.setInstant(NOW);
    message.setThrown(thrown);
    message.setParameters(parameters);
    log.publish(message);
  }

  private String text() {
    return out.toString(StandardCharsets.UTF_8);
  }
}
