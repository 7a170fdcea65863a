package io.kamille.core.origin;

import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Optional;

/**
 * After what time without a response head a second origin is asked.
 *
 * @param isOn whether it is at all
 * @param after zero for the time that 19 of 20 requests take at present
 */
public record Hedge(boolean isOn, Duration after) {

  static final Hedge OFF = new Hedge(false, Duration.ZERO);
  static final Hedge TAIL = new Hedge(true, Duration.ZERO);

  static final ValueType<Hedge> TYPE =
      ValueTypes.orWord(
          "off",
          OFF,
          ValueTypes.orWord("p95", ValueTypes.duration(Duration.ofMillis(1), Duration.ofMinutes(1)))
              .map(
                  after -> after.map(time -> new Hedge(true, time)).orElse(TAIL),
                  hedge -> hedge.isTail() ? Optional.empty() : Optional.of(hedge.after())));

  public boolean isTail() {
    return after.isZero();
  }
}
