package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;
import java.util.Optional;

/**
 * What happens when more is asked for than can be done.
 *
 * @param target how late a loop may be; empty to shed nothing
 */
public record OverloadSettings(Optional<Duration> target) {

  static final Setting<Optional<Duration>> TARGET =
      Setting.of(
              "overload.target",
              ValueTypes.orWord(
                  "off", ValueTypes.duration(Duration.ofMillis(1), Duration.ofSeconds(1))),
              "How long requests may have to wait for others of their loop, turn after turn. Those"
                  + " that would have to wait longer are answered with 503 then, those that would be"
                  + " forwarded first, and no request is taken from their clients for up to 3 s. 5ms"
                  + " is a good value to begin with.")
          .defaultsTo(Optional.empty());

  static final Section SECTION =
      Section.one("overload", "What happens when more is asked for than can be done.", TARGET);

  static OverloadSettings of(SectionValues values) {
    return new OverloadSettings(values.value(TARGET));
  }

  /** How late a loop may be; 0 to shed nothing. */
  public long targetNanos() {
    return target.map(Duration::toNanos).orElse(0L);
  }
}
