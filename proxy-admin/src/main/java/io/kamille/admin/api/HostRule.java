package io.kamille.admin.api;

import io.netty.util.NetUtil;
import java.util.Locale;

/** Which names a browser may have reached us by. Immutable; any thread. */
final class HostRule {

  /*
   * A page from elsewhere can have its own name resolved to our address and then read our answers
   * as its own (DNS rebinding). Names it can do that with are refused; addresses, and names that
   * always mean this machine, it cannot.
   */
  private final String configuredHost;

  HostRule(String configuredHost) {
    this.configuredHost = configuredHost;
  }

  /** Whether a {@code Host} value names this machine, on any port. */
  boolean allows(String value) {
    String host = withoutPort(value).toLowerCase(Locale.ROOT);
    return host.equals("localhost")
        || host.equalsIgnoreCase(configuredHost)
        || NetUtil.isValidIpV4Address(host)
        || isBracketedIpV6Address(host);
  }

  private static String withoutPort(String value) {
    int colon = value.lastIndexOf(':');
    boolean isPort =
        colon > value.lastIndexOf(']')
            && value.substring(colon + 1).chars().allMatch(c -> c >= '0' && c <= '9');
    return isPort ? value.substring(0, colon) : value;
  }

  private static boolean isBracketedIpV6Address(String host) {
    return host.startsWith("[")
        && host.endsWith("]")
        && NetUtil.isValidIpV6Address(host.substring(1, host.length() - 1));
  }
}
