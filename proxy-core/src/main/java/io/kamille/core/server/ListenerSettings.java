package io.kamille.core.server;

import io.kamille.core.admission.AccessList;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * One address that clients connect to.
 *
 * @param name what logs and metrics call it
 * @param backlog connections the kernel holds until a loop accepts them
 * @param access which clients may connect
 */
public record ListenerSettings(HostPort address, String name, int backlog, AccessList access) {

  /** What a bare value stands for. */
  public static final Setting<HostPort> ADDRESS =
      Setting.of(
              "address",
              ValueTypes.address(),
              "The address to listen on: `127.0.0.1:8080`, `[::1]:8080`, or `:8080` for all"
                  + " interfaces. Port 0 takes a free port.")
          .appliesOnRestart();

  public static final Section<ListenerSettings> SECTION =
      Section.of(
          ListenerSettings.class,
          ADDRESS,
          Setting.of("name", ValueTypes.token(), "What logs and metrics call this listener.")
              .defaultsTo("the address", values -> values.value(ADDRESS).toString())
              .appliesOnRestart(),
          Setting.of(
                  "backlog",
                  ValueTypes.wholeNumber(1, 65_535),
                  "Connections that the kernel holds until a loop accepts them. The kernel lowers"
                      + " it to `net.core.somaxconn`.")
              .defaultsTo(4_096)
              .appliesOnRestart(),
          AccessList.SECTION.one(
              "access",
              "Which clients may connect. The connection of another is closed as soon as it is"
                  + " accepted. Connections that are open when this changes stay."));
}
