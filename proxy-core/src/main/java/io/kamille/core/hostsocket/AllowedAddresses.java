package io.kamille.core.hostsocket;

import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.HealthPolicy;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.OriginHealth;
import io.kamille.core.origin.names.DnsLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.setting.HostPort;
import io.kamille.core.setting.OriginUrl;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** The addresses that a sandbox may have sockets for. Names are looked up here. Any thread. */
public final class AllowedAddresses implements AutoCloseable {

  private final Set<HostPort> listeners;
  private final List<Origin> origins;
  private final OriginNames names;

  private AllowedAddresses(Set<HostPort> listeners, List<Origin> origins, OriginNames names) {
    this.listeners = listeners;
    this.origins = origins;
    this.names = names;
  }

  /**
   * These. Looks their names up, now and whenever an answer runs out. Blocks, for 10 s at most.
   *
   * @param listeners to listen on
   * @param origins to connect to
   */
  public static AllowedAddresses of(Collection<HostPort> listeners, Collection<HostPort> origins) {
    List<Origin> all =
        origins.stream()
            .distinct()
            .map(at -> new OriginUrl(false, at.host(), at.port()))
            .map(url -> new Origin(url, 1, new OriginHealth(HealthPolicy.DEFAULTS)))
            .toList();
    OriginNames names = OriginNames.open(DnsLookup::new, new MetricRegistry());
    names.watch(all);
    return new AllowedAddresses(Set.copyOf(listeners), all, names);
  }

  boolean mayListenOn(HostPort address) {
    return listeners.contains(address);
  }

  boolean mayConnectTo(InetSocketAddress address) {
    return origins.stream().anyMatch(origin -> origin.isAt(address));
  }

  /** The addresses of an origin's name; none if it is another name, or unknown. */
  List<InetAddress> find(String name) {
    return origins.stream()
        .filter(origin -> origin.host().equals(OriginUrl.withoutDot(name)))
        .map(origin -> origin.addresses().stream().map(InetSocketAddress::getAddress).toList())
        .filter(found -> !found.isEmpty())
        .findFirst()
        .orElse(List.of());
  }

  boolean knows(String name) {
    return origins.stream().anyMatch(origin -> origin.host().equals(OriginUrl.withoutDot(name)));
  }

  @Override
  public void close() {
    names.close();
  }
}
