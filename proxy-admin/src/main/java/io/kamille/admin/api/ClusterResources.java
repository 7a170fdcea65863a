package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.NodeView;
import io.kamille.cluster.engine.ClusterEngine.Position;
import io.kamille.core.http.StatusCode;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code /v1/cluster}: the nodes of the cluster, and how far each has come. */
final class ClusterResources {

  private static final String PATH = "/v1/cluster";
  private static final String NONE = "This node is in no cluster: the configuration has none.";

  private ClusterResources() {}

  static List<Operation> of(ApplianceView appliance) {
    return List.of(
        Operation.get(PATH, Scope.READ, "The nodes of the cluster, and how far each has come.")
            .answers(ClusterView.class)
            .by(() -> view(appliance.cluster())),
        Operation.delete(
                PATH + "/nodes/{node}", Scope.ADMIN, "Forgets a node that is away for good.")
            .by((request, _) -> forget(appliance.cluster(), request.parameter("node"))));
  }

  private static Answer view(@Nullable Cluster cluster) {
    if (cluster == null) {
      return Answer.problem(StatusCode.NOT_FOUND, NONE);
    }
    Position position = cluster.position();
    return Answer.json(
        new ClusterView(
            String.valueOf(cluster.settings().name()),
            cluster.settings().node(),
            position.leader(),
            position.term(),
            cluster.hasQuorum(),
            cluster.isCurrent(),
            cluster.applied(),
            position.appended() - position.applied(),
            cluster.purges().waiting(),
            cluster.problem(),
            cluster.nodes()));
  }

  private static Answer forget(@Nullable Cluster cluster, String node) {
    if (cluster == null) {
      return Answer.problem(StatusCode.NOT_FOUND, NONE);
    }
    NodeView known =
        cluster.nodes().stream().filter(each -> each.node().equals(node)).findFirst().orElse(null);
    if (known == null) {
      return Answer.problem(StatusCode.NOT_FOUND, "No node has this name.");
    }
    if (known.voter() || !known.state().equals("away")) {
      return Answer.problem(
          StatusCode.CONFLICT, "Only a node that is away, and no voter, can be forgotten.");
    }
    Duration left = cluster.leaseLeft(node);
    if (!left.isNegative()) {
      return Answer.problem(
          StatusCode.CONFLICT,
          "The node may serve what it has stored until its lease ends: wait "
              + (left.toSeconds() + 1)
              + " s.");
    }
    return Answer.later(
        () ->
            cluster.purges().known(node, false)
                ? Answer.nothing()
                : Answer.problem(ProblemType.NO_QUORUM, "The node is not forgotten.", List.of()));
  }

  /**
   * What a node knows of its cluster.
   *
   * @param leader the node that orders entries of the log; null if nobody does
   * @param quorum whether a majority of the voters can be reached
   * @param current whether this node has missed no purge
   * @param applied the number of the last purge that is applied here
   * @param behind how many entries of the log are not applied here
   * @param waiting how many purges wait for a quorum
   * @param problem why this node takes no part; empty if it does
   */
  private record ClusterView(
      String name,
      String node,
      @Nullable String leader,
      long term,
      boolean quorum,
      boolean current,
      long applied,
      long behind,
      int waiting,
      String problem,
      List<NodeView> members) {}
}
