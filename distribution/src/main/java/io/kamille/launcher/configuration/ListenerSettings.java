package io.kamille.launcher.configuration;

import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.SectionValues;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * One address that clients connect to.
 *
 * @param name what logs and metrics call it
 * @param backlog connections the kernel holds until a loop accepts them
 * @param access which clients may connect
 */
public record ListenerSettings(HostPort address, String name, int backlog, AccessSettings access) {

  static final Setting<HostPort> ADDRESS =
      Setting.of(
              "listeners[].address",
              ValueTypes.address(),
              "The address to listen on: `127.0.0.1:8080`, `[::1]:8080`, or `:8080` for all"
                  + " interfaces. Port 0 takes a free port.")
          .appliesOnRestart();

  static final Setting<String> NAME =
      Setting.of(
              "listeners[].name", ValueTypes.token(), "What logs and metrics call this listener.")
          .defaultsTo("the address", values -> values.value(ADDRESS).toString())
          .appliesOnRestart();

  static final Setting<Integer> BACKLOG =
      Setting.of(
              "listeners[].backlog",
              ValueTypes.wholeNumber(1, 65_535),
              "Connections that the kernel holds until a loop accepts them. The kernel lowers it to"
                  + " `net.core.somaxconn`.")
          .defaultsTo(4_096)
          .appliesOnRestart();

  static final Section SECTION =
      Section.list(
              "listeners",
              "The addresses that clients connect to. A bare address stands for a listener with"
                  + " nothing else set.",
              ADDRESS,
              NAME,
              BACKLOG,
              AccessSettings.OF_LISTENER.section())
          .withShorthand(ADDRESS)
          .atLeastOne("at least one listener");

  static ListenerSettings of(SectionValues values) {
    return new ListenerSettings(
        values.value(ADDRESS),
        values.value(NAME),
        values.value(BACKLOG),
        AccessSettings.OF_LISTENER.of(values));
  }
}
