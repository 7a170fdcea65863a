package io.kamille.core.gate;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.time.Duration;

/**
 * What happens when more is asked for than can be done.
 *
 * @param target how late a loop may be; zero to shed nothing
 */
public record OverloadSettings(Duration target) {

  public static final Section<OverloadSettings> SECTION =
      Section.of(
          OverloadSettings.class,
          Setting.of(
                  "target",
                  ValueTypes.orWord(
                      "off",
                      Duration.ZERO,
                      ValueTypes.duration(Duration.ofMillis(1), Duration.ofSeconds(1))),
                  "How long requests may have to wait for others of their loop, turn after turn."
                      + " Requests that would wait longer get 503, those to be forwarded first."
                      + " Kamille then reads nothing from their clients for up to 3 s. 5ms is a"
                      + " good value to begin with.")
              .defaultsTo(Duration.ZERO));
}
