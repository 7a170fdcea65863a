package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import org.junit.jupiter.api.Test;

class ExchangeRecorderTest {

  private static final long SECOND = 1_000_000_000L;

  private final SettableClock clock = new SettableClock();
  private final RecordRing ring = new RecordRing(64 << 10);
  private final ExchangeRecorder recorder =
      new ExchangeRecorder(
          ring,
          () -> {},
          new MetricRegistry().counter(AccessLog.LINES),
          clock,
          AccessLogSettings.SECTION.defaults());

  @Test
  void aLineShowsWhenTheRequestCame() {
    clock.epochMillis = 10_000;
    assertThat(startOf(7 * SECOND, 7 * SECOND + 1_500_000)).isEqualTo(9_998_500);
    assertThat(startOf(7 * SECOND + 500_000_000, 7 * SECOND + 500_001_000)).isEqualTo(10_498_500);
  }

  @Test
  void aClockThatIsSetShowsWithinASecond() {
    clock.epochMillis = 10_000;
    startOf(0, 0);
    clock.epochMillis = 500_000;
    assertThat(startOf(SECOND - 1_000, SECOND - 1_000)).isEqualTo(10_999_999);
    assertThat(startOf(SECOND, SECOND)).isEqualTo(500_000_000);
  }

  private long startOf(long startNanos, long endNanos) {
    recorder.ended(Exchanges.of(RequestHead.of("GET", "http://h/")), 200, 0, startNanos, endNanos);
    LogRecord record = new LogRecord().at(ring.octets(), ring.peek());
    ring.release();
    assertThat(record.durationNanos()).isEqualTo(endNanos - startNanos);
    return record.startEpochMicros();
  }

  private static final class SettableClock implements WallClock {

    private long epochMillis;

    @Override
    public long epochMillis() {
      return epochMillis;
    }

    @Override
    public long nanos() {
      return 0;
    }
  }
}
