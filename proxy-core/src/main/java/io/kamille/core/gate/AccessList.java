package io.kamille.core.gate;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Which client addresses are let in. Immutable; any thread.
 *
 * <p>The smallest range with the address decides; of two equal ones, the denial. Where no range has
 * it, it is let in unless some are allowed by name.
 *
 * @param allow addresses that are let in
 * @param deny addresses that are not
 */
public record AccessList(AddressRanges allow, AddressRanges deny) {

  /** The settings under {@code access}, of a listener or a route. */
  public static final Section<AccessList> SECTION =
      Section.of(
          AccessList.class,
          Setting.of(
                  "allow",
                  AddressRanges.TYPE,
                  "Addresses and ranges (CIDR) that are let in. If the list has ranges, all other"
                      + " clients are refused. The smallest range with an address decides about it,"
                      + " so that a part of what is denied can be allowed, and the other way round."
                      + " The client's address is that of the connection, or the one in its PROXY"
                      + " header. On a route, it is the one that a trusted proxy names.")
              .defaultsTo("all", access -> AddressRanges.NONE),
          Setting.of(
                  "deny",
                  AddressRanges.TYPE,
                  "Addresses and ranges that are not let in, unless a smaller range of `allow` has"
                      + " them.")
              .defaultsTo("none", access -> AddressRanges.NONE));

  /** Everybody. */
  public static final AccessList ALL = SECTION.defaults();

  /** Whether everybody is let in. */
  public boolean isOpen() {
    return allow.isEmpty() && deny.isEmpty();
  }

  /** Whether this client is let in; one without an address only if everybody is. */
  public boolean admits(@Nullable InetAddress client) {
    if (isOpen()) {
      return true;
    }
    if (client == null) {
      return false;
    }
    int allowed = allow.longestPrefix(client);
    int denied = deny.longestPrefix(client);
    return denied < 0 ? allowed >= 0 || allow.isEmpty() : allowed > denied;
  }
}
