package io.kamille.launcher.appliance;

import io.kamille.admin.StateDirectory;
import io.kamille.cache.Cache;
import io.kamille.cache.CacheOperations;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.OtherNodes;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.log.LocalPurges;
import io.kamille.cluster.log.PurgeReceipt;
import io.kamille.cluster.log.PurgeReceipt.AtNode;
import io.kamille.cluster.settings.ClusterSettings.WhenCutOff;
import io.kamille.core.http.StatusCode;
import io.kamille.core.metric.MetricRegistry;
import io.kamille.launcher.configuration.Configuration;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** What the cluster does to the cache of this node, and the cache to the cluster. Any thread. */
final class NodeOfCluster implements LocalPurges, OtherNodes {

  private final CacheOperations cache;
  private volatile Cluster cluster;

  private NodeOfCluster(
      Configuration configuration, String version, Cache cache, MetricRegistry registry)
      throws IOException {
    this.cache = cache.operations();
    cluster =
        new Cluster(
            configuration.cluster(),
            version,
            StateDirectory.path().resolve("cluster"),
            this,
            registry);
    this.cache.purges().share(this);
    if (configuration.cluster().whenCutOff() == WhenCutOff.REVALIDATE) {
      cache.currentness().follow(cluster::untilNanos);
    }
  }

  /**
   * Joins, and waits until all purges are known, as long as the settings allow.
   *
   * @param sinceMillis since when the process before us was current that has left us what it had
   *     stored; 0 if none has
   * @throws StartFailure if this node cannot be one of a cluster
   */
  static Cluster join(
      Configuration configuration,
      String version,
      Cache cache,
      MetricRegistry registry,
      long sinceMillis)
      throws StartFailure {
    try {
      Cluster cluster = new NodeOfCluster(configuration, version, cache, registry).cluster;
      if (sinceMillis != 0) {
        cluster.goOn(Math.max(0, System.currentTimeMillis() - sinceMillis));
      }
      cluster.awaitCurrent();
      return cluster;
    } catch (IOException refused) {
      throw new StartFailure(StartFailure.Cause.ADDRESS, String.valueOf(refused.getMessage()));
    }
  }

  @Override
  public long purge(long number, PurgeTarget target, boolean isSoft) {
    return cache.purges().purge(number, target, isSoft).responses();
  }

  @Override
  public void invalidate(String uri) {
    cache.purge(uri);
  }

  @Override
  public void clear() {
    cache.purges().clear();
  }

  @Override
  public boolean stores(String url) {
    return !cache.objects(url).orElse(List.of()).isEmpty();
  }

  @Override
  public boolean isAlone() {
    return !cache.tellsElder();
  }

  @Override
  public void whenKept(Runnable action) {
    cache.purges().whenKept(action);
  }

  @Override
  public CompletionStage<?> purged(List<PurgeTarget> targets) {
    return cluster.purges().begin(targets);
  }

  @Override
  public void purge(PurgeTarget target, boolean isSoft, Done done) {
    Thread.startVirtualThread(
        () -> {
          try {
            PurgeReceipt receipt = cluster.purges().purge(target.kind(), target.names(), isSoft);
            done.purged(receipt.status(), receipt.nodes().stream().mapToLong(AtNode::purged).sum());
          } catch (IllegalArgumentException tooLong) {
            done.purged(StatusCode.BAD_REQUEST, 0);
          } catch (RuntimeException | Error fault) {
            done.purged(StatusCode.INTERNAL_SERVER_ERROR, 0);
            throw fault;
          }
        });
  }
}
