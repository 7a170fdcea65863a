package io.kamille.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.exchange.Exchange;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import org.junit.jupiter.api.Test;

class ExchangeRecorderTest {

  private static final long SECOND = 1_000_000_000L;

  private final SettableClock clock = new SettableClock();
  private final AccessLogSettings settings = AccessLogSettings.SECTION.defaults();
  private final Noting noting = new Noting(settings);
  private final ExchangeRecorder recorder =
      new ExchangeRecorder(
          new LineRing(1 << 10, new MetricRegistry().counter(LogWriter.DROPPED, "buffer-full")),
          () -> {},
          clock,
          noting);

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
    assertThat(noting.nanos).isEqualTo(endNanos - startNanos);
    return noting.startEpochMicros;
  }

  private static final class Noting extends LineFormat {

    private long startEpochMicros;
    private long nanos;

    Noting(AccessLogSettings settings) {
      super(settings, new FieldDigest(FieldDigest.newKey()), "ss");
    }

    @Override
    void append(
        Exchange exchange, int status, long contentBytes, long startEpochMicros, long nanos) {
      this.startEpochMicros = startEpochMicros;
      this.nanos = nanos;
    }

    @Override
    int appendOther(byte[] octets, int start, int end) {
      return end;
    }
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
