package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class QueuedOutputTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  private final CountDownLatch isWriting = new CountDownLatch(1);
  private final CountDownLatch isRead = new CountDownLatch(1);
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  @Test
  void beforeItBeginsWhoWritesHasWritten() throws IOException {
    QueuedOutput out = queued(written);
    out.write(octets("now\n"));
    assertThat(text()).isEqualTo("now\n");
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void nobodyWaitsForAReaderThatStandsStillAndDropsAreSaidWhenItGoesOn() throws Exception {
    QueuedOutput out = queued(new Stalling());
    out.begin();
    out.write(octets("first\n"));
    assertThat(isWriting.await(60, TimeUnit.SECONDS)).isTrue();
    byte[] large = new byte[(1 << 16) - 64];
    for (int i = 0; i < 6; i++) {
      out.write(large);
    }
    assertThat(out.dropped()).as("the first one waits, too").isEqualTo(3);
    out.finish(Duration.ofMillis(5));
    assertThat(written.size()).as("the end does not wait").isZero();
    isRead.countDown();
    out.finish(LONG);
    out.write(octets("last\n"));
    out.finish(LONG);
    assertThat(text().replace("\0", "")).isEqualTo("first\ndropped: 3\nlast\n");
  }

  @Test
  void messagesComeInOrder() throws IOException {
    QueuedOutput out = queued(written);
    out.write(octets("0\n"));
    out.begin();
    StringBuilder expected = new StringBuilder("0\n");
    for (int i = 1; i < 1000; i++) {
      out.write(octets(i + "\n"));
      expected.append(i).append('\n');
    }
    out.finish(LONG);
    assertThat(text()).isEqualTo(expected.toString());
  }

  @Test
  void aWriteThatFailsEndsNothing() throws IOException {
    QueuedOutput out =
        queued(
            new OutputStream() {
              private int calls;

              @Override
              public void write(int octet) throws IOException {
                throw new IOException("not used");
              }

              @Override
              public void write(byte[] octets) throws IOException {
                switch (calls++) {
                  case 0 -> throw new IOException("Broken pipe");
                  case 1 -> throw new OutOfMemoryError("for a moment");
                  default -> written.write(octets);
                }
              }
            });
    out.begin();
    out.write(octets("a\n"));
    out.finish(LONG);
    out.write(octets("b\n"));
    out.finish(LONG);
    out.write(octets("c\n"));
    out.finish(LONG);
    assertThat(text()).contains("c\n");
    assertThat(out.dropped()).isPositive();
  }

  private static QueuedOutput queued(OutputStream out) {
    return new QueuedOutput(out, count -> "dropped: " + count + "\n", System.getLogger("test"));
  }

  private static byte[] octets(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private String text() {
    return written.toString(StandardCharsets.UTF_8);
  }

  /** A pipe that is full until somebody reads. */
  private final class Stalling extends OutputStream {

    @Override
    public void write(int octet) {
      written.write(octet);
    }

    @Override
    public void write(byte[] octets, int offset, int length) {
      isWriting.countDown();
      try {
        isRead.await();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
      written.write(octets, offset, length);
    }
  }
}
