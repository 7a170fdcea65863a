package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * What a forwarded message says about its way.
 *
 * @param via our pseudonym in the Via field (RFC 9110 §7.6.3)
 * @param xForwarded what becomes of X-Forwarded-For, -Proto and -Host
 * @param forwarded what becomes of Forwarded (RFC 7239)
 */
public record ForwardingSettings(String via, Mode xForwarded, Mode forwarded) {

  /** What becomes of fields that tell the origin of the client. */
  public enum Mode {
    /** They say what we saw and nothing else. */
    ON,
    /** They pass as the client sent them. */
    OFF,
    /** What we saw is added to what the client sent. */
    APPEND
  }

  static final Setting<String> VIA =
      Setting.of(
              "forwarding.via",
              ValueTypes.token(),
              "The pseudonym under which we add ourselves to the `Via` field (RFC 9110 §7.6.3).")
          .defaultsTo("kamille");

  static final Setting<Mode> X_FORWARDED =
      Setting.of(
              "forwarding.x-forwarded",
              ValueTypes.oneOf(Mode.values()),
              "What becomes of `X-Forwarded-For`, `-Proto` and `-Host` toward the origin: `on`"
                  + " replaces what the client sent, `append` adds the client's address to the list"
                  + " that came (choose it only behind a proxy you trust), `off` passes what the"
                  + " client sent.")
          .defaultsTo(Mode.ON);

  static final Setting<Mode> FORWARDED =
      Setting.of(
              "forwarding.forwarded",
              ValueTypes.oneOf(Mode.values()),
              "What becomes of the `Forwarded` field (RFC 7239) toward the origin, in the same"
                  + " words.")
          .defaultsTo(Mode.OFF);

  static final Section SECTION =
      Section.one(
          "forwarding",
          "What a forwarded message says about its way.",
          VIA,
          X_FORWARDED,
          FORWARDED);

  static ForwardingSettings of(SectionValues values) {
    return new ForwardingSettings(
        values.value(VIA), values.value(X_FORWARDED), values.value(FORWARDED));
  }
}
