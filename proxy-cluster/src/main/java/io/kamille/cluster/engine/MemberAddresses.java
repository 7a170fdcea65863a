package io.kamille.cluster.engine;

import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.setting.HostPort;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Where other nodes may be, looked up anew each time. Blocks. */
public record MemberAddresses(ClusterSettings settings)
    implements Supplier<List<InetSocketAddress>> {

  @Override
  public List<InetSocketAddress> get() {
    Set<InetSocketAddress> found = new LinkedHashSet<>();
    for (String host : settings.discovery().hosts()) {
      HostPort address = HostPort.parse(host);
      if (address != null) {
        addAll(address.host(), address.port(), found);
      }
    }
    String name = settings.discovery().dns();
    if (name != null) {
      addAll(name, settings.bound().port(), found);
    }
    return new ArrayList<>(found);
  }

  private static void addAll(String host, int port, Set<InetSocketAddress> found) {
    try {
      for (InetAddress address : InetAddress.getAllByName(host)) {
        found.add(new InetSocketAddress(address, port));
      }
    } catch (UnknownHostException none) {
      // Its time may come.
    }
  }
}
