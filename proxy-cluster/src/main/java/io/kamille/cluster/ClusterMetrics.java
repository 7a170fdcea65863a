package io.kamille.cluster;

import io.kamille.cluster.engine.ClusterEngine;
import io.kamille.cluster.log.ClusterPurges;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricDescriptor.Unit;
import io.kamille.core.metric.MetricSink;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What is measured of this node as one of a cluster. Any thread. */
public final class ClusterMetrics {

  private static final MetricDescriptor MEMBERS =
      MetricDescriptor.gauge(
          "kamille_cluster_members",
          Unit.COUNT,
          "Known nodes of the cluster by their state: member, draining or away.",
          "state");
  private static final MetricDescriptor IS_LEADER =
      gauge("kamille_cluster_is_leader", "1 if this node orders the entries of the log.");
  private static final MetricDescriptor IS_CURRENT =
      gauge(
          "kamille_cluster_is_current", "1 if this node has missed no purge; 0 if it is cut off.");
  private static final MetricDescriptor HAS_QUORUM =
      gauge("kamille_cluster_has_quorum", "1 if this node reaches a majority of the voters.");
  private static final MetricDescriptor APPLIED =
      gauge("kamille_cluster_applied_number", "The number of the last purge applied here.");
  private static final MetricDescriptor BEHIND =
      gauge("kamille_cluster_behind", "Entries in the log of this node that it has not applied.");
  private static final MetricDescriptor LEADER_CHANGES =
      MetricDescriptor.counter(
          "kamille_cluster_leader_changes_total",
          Unit.COUNT,
          "Times that this node saw another leader than before.");
  private static final MetricDescriptor UNREAD =
      MetricDescriptor.counter(
          "kamille_cluster_purges_unread_total",
          Unit.COUNT,
          "Purges that this release could not carry out, so that everything stored was purged.");
  private static final MetricDescriptor LOG_BYTES =
      MetricDescriptor.gauge(
          "kamille_cluster_log_bytes", Unit.BYTES, "Size of the log on the disk of this node.");
  private static final MetricDescriptor CERTIFICATE_LEFT =
      MetricDescriptor.gauge(
          "kamille_cluster_certificate_left_seconds",
          Unit.SECONDS,
          "Time until the certificate of this node ends, as it was read at the start.");

  private static final List<MetricDescriptor> OF_NODE =
      List.of(
          MEMBERS,
          IS_LEADER,
          IS_CURRENT,
          HAS_QUORUM,
          APPLIED,
          BEHIND,
          LEADER_CHANGES,
          UNREAD,
          LOG_BYTES,
          CERTIFICATE_LEFT);
  private static final List<String> STATES = List.of("member", "draining", "away");

  /** What a node knows of its cluster. Any thread. */
  interface Measured {

    List<NodeView> nodes();

    boolean isCurrent();

    boolean hasQuorum();

    long applied();

    long unread();
  }

  private final LongAdder leaderChanges = new LongAdder();
  private @Nullable String leader;

  private static MetricDescriptor gauge(String name, String help) {
    return MetricDescriptor.gauge(name, Unit.COUNT, help);
  }

  /** All metrics of a cluster. */
  public static List<MetricDescriptor> descriptors() {
    List<MetricDescriptor> all = new ArrayList<>(OF_NODE);
    all.addAll(ClusterPurges.METRICS);
    return all;
  }

  /** Exports what the node of that name knows of its cluster, and when its certificate ends. */
  void register(
      MetricSink sink,
      String own,
      Measured node,
      ClusterEngine engine,
      Instant ends,
      InstantSource clock) {
    for (String state : STATES) {
      sink.gauge(
          MEMBERS,
          () -> node.nodes().stream().filter(each -> each.state().equals(state)).count(),
          state);
    }
    sink.gauge(IS_LEADER, () -> own.equals(engine.position().leader()) ? 1 : 0);
    sink.gauge(IS_CURRENT, () -> node.isCurrent() ? 1 : 0);
    sink.gauge(HAS_QUORUM, () -> node.hasQuorum() ? 1 : 0);
    sink.gauge(APPLIED, node::applied);
    sink.counting(UNREAD, node::unread);
    sink.gauge(BEHIND, () -> engine.position().behind());
    sink.gauge(LOG_BYTES, engine::logBytes);
    sink.gauge(CERTIFICATE_LEFT, () -> ends.getEpochSecond() - clock.instant().getEpochSecond());
    sink.counting(LEADER_CHANGES, leaderChanges::sum);
  }

  /** This is the leader now; null if there is none. One thread at a time. */
  void led(@Nullable String now) {
    if (now != null && !now.equals(leader)) {
      if (leader != null) {
        leaderChanges.increment();
      }
      leader = now;
    }
  }
}
