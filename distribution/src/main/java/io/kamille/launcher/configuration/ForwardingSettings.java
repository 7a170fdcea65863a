package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;
import java.util.List;

/**
 * What a forwarded message says about its way.
 *
 * @param via our pseudonym in the Via field (RFC 9110 §7.6.3)
 * @param xForwarded what becomes of X-Forwarded-For, -Proto and -Host
 * @param forwarded what becomes of Forwarded (RFC 7239)
 * @param removedFields names of request fields that never reach an origin
 */
public record ForwardingSettings(
    String via, Mode xForwarded, Mode forwarded, List<String> removedFields) {

  /** What becomes of fields that tell the origin of the client. */
  public enum Mode {
    /** They say what we saw and nothing else. */
    ON,
    /** We say nothing. */
    OFF,
    /** What we saw is added to what the client sent. */
    APPEND
  }

  private static final List<String> UNKEYED_FIELDS =
      io.kamille.core.upstream.h1.ForwardingSettings.UNKEYED_FIELDS;
  private static final String UNKEYED = "`" + String.join("`, `", UNKEYED_FIELDS) + "`";

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
                  + " client sent, except fields in `forwarding.removed-fields`.")
          .defaultsTo(Mode.ON);

  static final Setting<Mode> FORWARDED =
      Setting.of(
              "forwarding.forwarded",
              ValueTypes.oneOf(Mode.values()),
              "What becomes of the `Forwarded` field (RFC 7239) toward the origin: `on` and `append`"
                  + " mean the same as above, `off` removes what the client sent, or passes it if"
                  + " `forwarding.x-forwarded` is `off` too.")
          .defaultsTo(Mode.OFF);

  static final Setting<List<String>> REMOVED_FIELDS =
      Setting.of(
              "forwarding.removed-fields",
              ValueTypes.fieldNames(),
              "Request fields that never reach an origin, whatever their case, and with underscores"
                  + " in place of dashes too. By default: "
                  + UNKEYED
                  + ". They are other words for host, port, scheme, path or method of a request or for"
                  + " the client's address, and no part of a cache key: if an origin obeys one of"
                  + " them, any client can have its answer stored for all others (web cache"
                  + " poisoning), or pretend to be another. The client's address is in"
                  + " `X-Forwarded-For`. A list given here takes the place of the default; `[]` removes nothing. Take a name off the list only where"
                  + " a proxy you trust sets that field and lets no client set it. Fields that Kamille"
                  + " writes itself, such as `X-Forwarded-Host` unless `forwarding.x-forwarded` is"
                  + " `off`, are written all the same.")
          .defaultsTo("the names listed below", values -> UNKEYED_FIELDS);

  static final Section SECTION =
      Section.one(
          "forwarding",
          "What a forwarded message says about its way.",
          VIA,
          X_FORWARDED,
          FORWARDED,
          REMOVED_FIELDS);

  static ForwardingSettings of(SectionValues values) {
    return new ForwardingSettings(
        values.value(VIA),
        values.value(X_FORWARDED),
        values.value(FORWARDED),
        values.value(REMOVED_FIELDS));
  }
}
