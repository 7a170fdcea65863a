package io.kamille.core.client.open;

import io.kamille.core.gate.AddressRanges;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * Whether load balancers say by the PROXY protocol whose connection they hand on.
 *
 * @param from the load balancers, which are believed
 */
public record ProxyProtocolSettings(Mode mode, AddressRanges from) {

  /** Whether each connection begins with a header. */
  public enum Mode {
    OFF,
    REQUIRED
  }

  /** Who is believed. */
  public static final Setting<AddressRanges> FROM =
      Setting.of(
              "from",
              AddressRanges.TYPE,
              "Addresses and ranges of the load balancers. Only they may connect to this"
                  + " listener.")
          .defaultsTo("none", values -> AddressRanges.NONE);

  /** What a bare value stands for. */
  public static final Setting<Mode> MODE =
      Setting.of(
              "mode",
              ValueTypes.oneOf(Mode.values()),
              "`required`: each connection begins with a header of version 1 or 2, in front of TLS."
                  + " The address in it counts for access lists, limits, logs and forwarding"
                  + " fields. A connection without a valid header is closed.")
          .defaultsTo("`required` if `from` has any, else `off`", ProxyProtocolSettings::mode)
          .appliesOnRestart();

  private static Mode mode(SectionValues values) {
    return values.value(FROM).isEmpty() ? Mode.OFF : Mode.REQUIRED;
  }

  public static final Section<ProxyProtocolSettings> SECTION =
      Section.of(ProxyProtocolSettings.class, MODE, FROM);

  /** Clients connect themselves. */
  public static final ProxyProtocolSettings OFF = SECTION.defaults();

  boolean isRequired() {
    return mode == Mode.REQUIRED;
  }
}
