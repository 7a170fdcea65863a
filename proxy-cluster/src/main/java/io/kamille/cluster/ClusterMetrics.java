package io.kamille.cluster;

import io.kamille.cluster.log.ClusterPurges;
import io.kamille.core.metric.MetricDescriptor;
import java.util.ArrayList;
import java.util.List;

/** The metrics of this node as one of a cluster. */
public final class ClusterMetrics {

  static final MetricDescriptor MEMBERS =
      MetricDescriptor.gauge(
          "kamille_cluster_members",
          "Known nodes of the cluster by their state: member, draining or away.",
          "state");
  static final MetricDescriptor IS_LEADER =
      MetricDescriptor.gauge(
          "kamille_cluster_is_leader", "1 if this node orders the entries of the log.");
  static final MetricDescriptor IS_CURRENT =
      MetricDescriptor.gauge(
          "kamille_cluster_is_current", "1 if this node has missed no purge; 0 if it is cut off.");
  static final MetricDescriptor HAS_QUORUM =
      MetricDescriptor.gauge(
          "kamille_cluster_has_quorum", "1 if this node reaches a majority of the voters.");
  static final MetricDescriptor APPLIED =
      MetricDescriptor.gauge(
          "kamille_cluster_applied_number", "The number of the last purge applied here.");
  static final MetricDescriptor BEHIND =
      MetricDescriptor.gauge(
          "kamille_cluster_behind", "Entries in the log of this node that it has not applied.");
  static final MetricDescriptor LEADER_CHANGES =
      MetricDescriptor.counter(
          "kamille_cluster_leader_changes_total",
          "Times that this node saw another leader than before.");
  static final MetricDescriptor UNREAD =
      MetricDescriptor.counter(
          "kamille_cluster_purges_unread_total",
          "Purges that this release could not carry out, so that everything stored was purged.");
  static final MetricDescriptor LOG_BYTES =
      MetricDescriptor.gauge(
          "kamille_cluster_log_bytes", "Size of the log on the disk of this node.");
  static final MetricDescriptor CERTIFICATE_LEFT =
      MetricDescriptor.gauge(
          "kamille_cluster_certificate_left_seconds",
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
  static final List<String> STATES = List.of("member", "draining", "away");

  private ClusterMetrics() {}

  /** All metrics of a cluster. */
  public static List<MetricDescriptor> descriptors() {
    List<MetricDescriptor> all = new ArrayList<>(OF_NODE);
    all.addAll(ClusterPurges.METRICS);
    return all;
  }
}
