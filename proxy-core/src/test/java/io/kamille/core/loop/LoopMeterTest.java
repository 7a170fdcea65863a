package io.kamille.core.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.LoopMeter.Reading;
import io.kamille.core.metric.MetricRegistry;
import org.junit.jupiter.api.Test;

class LoopMeterTest {

  private static final long SECOND = 1_000_000_000;

  private final LoopMeter meter = LoopMetrics.meter(new MetricRegistry(), "loop");

  @Test
  void aLookTellsWhatWasPolledSinceTheLookBefore() {
    meter.add(Reading.POLLS, 7);
    meter.sample(SECOND);
    meter.add(Reading.POLLS, 4000);
    meter.add(Reading.EVENTS, 6000);
    meter.sample(3 * SECOND);
    assertThat(meter.ratio(Reading.POLLS_PER_SECOND)).isEqualTo(2000);
    assertThat(meter.ratio(Reading.EVENTS_PER_POLL)).isEqualTo(1.5);
  }

  @Test
  void aLoopThatSleepsPollsNever() {
    meter.add(Reading.POLLS, 7);
    meter.sample(SECOND);
    meter.sample(2 * SECOND);
    assertThat(meter.ratio(Reading.POLLS_PER_SECOND)).isZero();
    assertThat(meter.ratio(Reading.EVENTS_PER_POLL)).isZero();
  }
}
