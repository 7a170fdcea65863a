package io.kamille.launcher.appliance;

import io.kamille.cache.disk.Disk;
import io.kamille.core.gate.OverloadLaw;
import io.kamille.core.hostsocket.HostSockets;
import io.kamille.core.loop.LoopGroup;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.origin.names.DnsLookup;
import io.kamille.core.origin.names.OriginNames;
import io.kamille.core.socket.Network;
import io.kamille.launcher.configuration.Configuration;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * What an appliance stands on.
 *
 * @param disk where the disk tier's directory lies
 * @param names opens what looks up the names of origins
 * @param shedding which requests a late loop sheds
 * @param network where its sockets come from
 * @param joins whether it becomes a member of the cluster that the configuration names
 */
public record Machine(
    Disk disk,
    Function<MetricRegistry, OriginNames> names,
    OverloadLaw.Start shedding,
    Network network,
    boolean joins) {

  public Machine(
      Disk disk,
      Function<MetricRegistry, OriginNames> names,
      OverloadLaw.Start shedding,
      Network network) {
    this(disk, names, shedding, network, true);
  }

  /** The machine that the process runs on. */
  public static final Machine HERE =
      new Machine(
          Disk.ofSystem(),
          registry -> OriginNames.open(DnsLookup::new, registry),
          OverloadLaw::new,
          LoopGroup.sockets()::connect);

  /** The same, with the network that the configuration names. */
  Machine of(Configuration configuration) {
    Path helper = configuration.hostSockets();
    if (helper == null) {
      return this;
    }
    HostSockets host = HostSockets.open(helper);
    return new Machine(
        disk, registry -> OriginNames.open(_ -> host, registry), shedding, host, joins);
  }
}
