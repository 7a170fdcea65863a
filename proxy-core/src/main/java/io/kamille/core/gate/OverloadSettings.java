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

  /*
   * No loop that keeps up had three turns in a row of half as long (benchmark log, 2026-11-29):
   * from a cold start on, with full collections, handshakes and neighbours on its core.
   */
  private static final Duration DEFAULT_TARGET = Duration.ofMillis(200);

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
                      + " Kamille then reads nothing from their clients for up to 3 s. A loop that"
                      + " keeps up never reaches the default. 5ms keeps responses fast at"
                      + " overload.")
              .defaultsTo(DEFAULT_TARGET));
}
