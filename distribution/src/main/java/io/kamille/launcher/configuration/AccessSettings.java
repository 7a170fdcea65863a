package io.kamille.launcher.configuration;

import io.kamille.core.admission.AccessList;
import io.kamille.core.setting.AddressRange;
import io.kamille.core.setting.AddressRanges;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueType;
import io.kamille.core.setting.ValueTypes;
import java.util.List;

/**
 * Which client addresses are let in, at a listener or on a route.
 *
 * @param allow addresses and ranges that are; if there are any, others are not
 * @param deny addresses and ranges that are not
 */
public record AccessSettings(List<String> allow, List<String> deny) {

  static final Declaration OF_LISTENER =
      Declaration.of(
          "listeners[].access",
          "Which clients may connect. The connection of another is closed as soon as it is accepted."
              + " Connections that are open when this changes stay.");

  static final Declaration OF_ROUTE =
      Declaration.of(
          "routes[].access",
          "Which clients may use the route. The request of another is answered with 403; the method"
              + " `PURGE` goes by `cache.purge-from` alone.");

  /** The section of a listener or a route. */
  record Declaration(Setting<List<String>> allow, Setting<List<String>> deny, Section section) {

    private static Declaration of(String name, String description) {
      Setting<List<String>> allow =
          Setting.of(
                  name + ".allow",
                  addresses(),
                  "Addresses and ranges (CIDR) that are let in. Where any are given, others are"
                      + " not. The smallest range with an address decides about it, so that a part"
                      + " of what is denied can be allowed, and the other way round. What counts is"
                      + " the address that the connection comes from.")
              .defaultsTo("all", access -> List.of());
      Setting<List<String>> deny =
          Setting.of(
                  name + ".deny",
                  addresses(),
                  "Addresses and ranges that are not let in, unless a smaller range of `allow` has"
                      + " them.")
              .defaultsTo("none", access -> List.of());
      return new Declaration(allow, deny, Section.one(name, description, allow, deny));
    }

    AccessSettings of(SectionValues parent) {
      SectionValues values = parent.one(section);
      return new AccessSettings(values.value(allow), values.value(deny));
    }
  }

  /** A list of addresses and ranges. */
  static ValueType<List<String>> addresses() {
    return ValueTypes.list(
        "list of addresses",
        text -> AddressRange.parse(text) != null,
        "an IP address, or a range such as 10.0.0.0/8 or 2001:db8::/32 with no bit set behind its"
            + " prefix");
  }

  /** Both, understood. */
  public AccessList list() {
    return new AccessList(AddressRanges.parse(allow), AddressRanges.parse(deny));
  }
}
