package io.kamille.core.admission;

import io.kamille.core.setting.AddressRanges;
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

  /** Everybody. */
  public static final AccessList ALL = new AccessList(AddressRanges.NONE, AddressRanges.NONE);

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
