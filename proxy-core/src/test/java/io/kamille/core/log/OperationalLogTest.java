package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class OperationalLogTest {

  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-11-21T09:00:00.123456Z"));

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final OperationalLog log = new OperationalLog(out, CLOCK);
  private final System.Logger ours = log.logger("kamille.server");
  private final System.Logger theirs = log.logger("io.netty");

  @Test
  void aMessageIsOneLine() {
    ours.log(Level.INFO, "listening on {0}", "127.0.0.1:8080");
    assertThat(text())
        .isEqualTo("2026-11-21T09:00:00.123Z INFO  kamille.server: listening on 127.0.0.1:8080\n");
  }

  @Test
  void whatCameFromOutsideStaysOnTheLine() {
    ours.log(Level.WARNING, "host a\r\n\u001b[2J\u202e\u2028\u00e9");
    assertThat(text())
        .endsWith("WARN  kamille.server: host a\\u000d\\n\\u001b[2J\\u202e\\u2028\u00e9\n");
  }

  @Test
  void aStackTraceFollowsIndented() {
    ours.log(Level.ERROR, "broken", new IllegalStateException("why\nnot"));
    assertThat(text().lines().toList())
        .startsWith(
            "2026-11-21T09:00:00.123Z ERROR kamille.server: broken",
            "    java.lang.IllegalStateException: why",
            "    not")
        .anyMatch(line -> line.startsWith("    at io.kamille.core.log.OperationalLogTest."));
  }

  @Test
  void lesserMessagesThanTheLevelAreNotShown() {
    ours.log(Level.DEBUG, "detail");
    log.least(Level.ERROR);
    ours.log(Level.WARNING, "warning");
    theirs.log(Level.WARNING, "warning");
    assertThat(text()).isEmpty();
    assertThat(ours.isLoggable(Level.ERROR)).isTrue();
    assertThat(ours.isLoggable(Level.OFF)).isFalse();
  }

  @Test
  void debugIsAboutKamilleOnly() {
    log.least(Level.DEBUG);
    ours.log(Level.DEBUG, "ours");
    theirs.log(Level.DEBUG, "theirs");
    theirs.log(Level.INFO, "theirs to know");
    assertThat(text()).contains("DEBUG kamille.server: ours\n", "INFO  io.netty: theirs to know\n");
    assertThat(text().lines()).hasSize(2);
  }

  @Test
  void aTextThatIsNoFormatIsShownAsItIs() {
    ours.log(Level.INFO, "{not a format} {0", 1);
    assertThat(text()).endsWith("kamille.server: {not a format} {0\n");
  }

  @Test
  void messagesOfLibrariesComeHereToo() {
    LogRecord message = new LogRecord(java.util.logging.Level.WARNING, "a {0}");
    message.setLoggerName("io.netty.channel");
    message.setParameters(new Object[] {"b"});
    message.setInstant(CLOCK.instant());
    log.publish(message);
    assertThat(text()).isEqualTo("2026-11-21T09:00:00.123Z WARN  io.netty.channel: a b\n");
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
    new OperationalLog(closed, CLOCK).logger("kamille").log(Level.INFO, "nobody reads");
  }

  @Test
  void thePlatformFindsOurLogger() {
    assertThat(System.LoggerFinder.getLoggerFinder()).isInstanceOf(OperationalLog.Finder.class);
  }

  private String text() {
    return out.toString(StandardCharsets.UTF_8);
  }
}
