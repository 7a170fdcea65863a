package io.kamille.core.client.open;

import io.kamille.core.gate.AddressRanges;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;

/**
 * Whether load balancers say by the PROXY protocol whose connection they hand on.
 *
 * @param from the load balancers, which are believed; if there are any, each connection begins with
 *     a header
 */
public record ProxyProtocolSettings(AddressRanges from) {

  public static final Section<ProxyProtocolSettings> SECTION =
      Section.of(
          ProxyProtocolSettings.class,
          Setting.of(
                  "from",
                  AddressRanges.TYPE,
                  "Addresses and ranges of the load balancers. Only they may connect to this"
                      + " listener. Each connection begins with a header of version 1 or 2, in"
                      + " front of TLS. The address in it counts for access lists, limits, logs"
                      + " and forwarding fields. A connection without a valid header is closed.")
              .defaultsTo("none", values -> AddressRanges.NONE));

  /** Clients connect themselves. */
  public static final ProxyProtocolSettings OFF = SECTION.defaults();

  boolean isRequired() {
    return !from.isEmpty();
  }
}
