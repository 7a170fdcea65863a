package io.kamille.core.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DateStampTest {

  private final ManualClock clock = ManualClock.at(784_111_777_999L);
  private final DateStamp stamp = DateStamp.of(clock);

  @Test
  void showsTheMomentItWasMade() {
    assertThat(date()).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    assertThat(stamp.epochSeconds()).isEqualTo(784_111_777L);
    assertThat(stamp.epochMillis()).isEqualTo(784_111_777_999L);
  }

  @Test
  void standsStillBetweenRefreshes() {
    clock.advance(Duration.ofSeconds(5));
    assertThat(date()).isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
    assertThat(stamp.epochSeconds()).isEqualTo(784_111_777L);
  }

  @Test
  void followsTheClockWhenRefreshed() {
    clock.advance(Duration.ofMillis(1));
    stamp.refresh();
    assertThat(date()).isEqualTo("Sun, 06 Nov 1994 08:49:38 GMT");
    assertThat(stamp.epochSeconds()).isEqualTo(784_111_778L);
    assertThat(stamp.epochMillis()).isEqualTo(784_111_778_000L);
  }

  @Test
  void followsAClockThatWasSetBack() {
    long[] millis = {10_000};
    DateStamp setBack =
        DateStamp.of(
            new WallClock() {
              @Override
              public long epochMillis() {
                return millis[0];
              }

              @Override
              public long nanos() {
                return 0;
              }
            });
    millis[0] = 9_999;
    setBack.refresh();
    assertThat(new String(setBack.octets(), StandardCharsets.US_ASCII))
        .isEqualTo("Thu, 01 Jan 1970 00:00:09 GMT");
  }

  private String date() {
    return new String(stamp.octets(), StandardCharsets.US_ASCII);
  }
}
