package io.kamille.launcher.chain;

import io.kamille.cache.rules.Reason;
import io.kamille.core.gate.AccessList;
import io.kamille.core.gate.AddressRanges;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.http.StatusCode;
import io.netty.util.NetUtil;
import java.net.Inet4Address;
import java.net.InetAddress;

/** {@code routes[].access}: which clients the route is for. */
record AccessStation(AccessList list) implements Station.Gate {

  private static final int NO_RANGE = -1;

  /** What a prefix of an IPv4 address has in front, as that of a mapped IPv6 address. */
  private static final int MAPPED_BITS = 96;

  @Override
  public String describe() {
    return "access";
  }

  @Override
  public RouteGate gate(Link link) {
    return RouteGate.of(list);
  }

  @Override
  public void judge(Passage passage) {
    InetAddress client = passage.client();
    if (client == null) {
      passage.say(
          reason(
              "no client given",
              "a client that the route is not for gets 403 (Forbidden): give one to know"));
      return;
    }
    String found =
        NetUtil.toAddressString(client)
            + ": allow "
            + found(list.allow(), client)
            + ", deny "
            + found(list.deny(), client);
    if (list.admits(client)) {
      passage.say(reason(found, "the route is for this client"));
    } else {
      passage.refuse(
          StatusCode.FORBIDDEN, reason(found, "the route is not for this client: 403 (Forbidden)"));
    }
  }

  @Override
  public void judgeResponse(Passage passage) {}

  private static Reason reason(String found, String so) {
    return new Reason("access", "routes[].access", found, so);
  }

  /** The smallest range with that client, by its prefix. */
  private static String found(AddressRanges ranges, InetAddress client) {
    if (ranges.isEmpty()) {
      return "is empty";
    }
    int prefix = ranges.longestPrefix(client);
    if (prefix == NO_RANGE) {
      return "has no range with it";
    }
    return "has a range /" + (client instanceof Inet4Address ? prefix - MAPPED_BITS : prefix);
  }
}
