package io.kamille.cluster.engine;

import io.kamille.cluster.settings.ClusterSettings;
import io.kamille.core.origin.names.NameLookup;
import io.kamille.core.origin.names.NameLookup.Services;
import io.kamille.core.setting.HostPort;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** Where other nodes may be, looked up anew each time. Blocks. */
public final class MemberAddresses implements Supplier<List<InetSocketAddress>> {

  private static final Duration LOOKUP = Duration.ofSeconds(5);

  private final ClusterSettings settings;
  private final Function<EventLoop, NameLookup> lookups;
  private Services services = new Services(List.of(), LOOKUP);
  private long lookUpNanos = System.nanoTime();

  public MemberAddresses(ClusterSettings settings, Function<EventLoop, NameLookup> lookups) {
    this.settings = settings;
    this.lookups = lookups;
  }

  @Override
  public synchronized List<InetSocketAddress> get() {
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
    String service = settings.discovery().srv();
    if (service != null) {
      addServices(service, found);
    }
    return new ArrayList<>(found);
  }

  private void addServices(String name, Set<InetSocketAddress> found) {
    if (System.nanoTime() - lookUpNanos >= 0) {
      EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
      Services none = new Services(List.of(), LOOKUP);
      services =
          lookups
              .apply(loop.next())
              .services(name)
              .completeOnTimeout(none, LOOKUP.toNanos(), TimeUnit.NANOSECONDS)
              .exceptionally(_ -> none)
              .join();
      lookUpNanos = System.nanoTime() + services.validFor().toNanos();
      loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
    }
    services.services().forEach(node -> addAll(node.host(), node.port(), found));
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
