package io.kamille.launcher.appliance;

import io.kamille.cache.disk.Disk;
import io.kamille.core.admission.OverloadLaw;
import io.kamille.core.admission.SheddingLaw;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.core.upstream.OriginNames;
import io.kamille.core.upstream.name.DnsLookup;
import java.util.function.Function;

/**
 * What an appliance stands on.
 *
 * @param disk where the disk tier's directory lies
 * @param names opens what looks up the names of origins
 * @param shedding which requests a late loop sheds
 */
public record Machine(
    Disk disk, Function<MetricRegistry, OriginNames> names, SheddingLaw.Start shedding) {

  /** The machine that the process runs on. */
  public static final Machine HERE =
      new Machine(
          Disk.ofSystem(),
          registry -> OriginNames.open(DnsLookup::new, registry),
          OverloadLaw::new);
}
