package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.cluster.Cluster;
import io.kamille.cluster.LogView;
import io.kamille.cluster.NodeView;
import io.kamille.cluster.engine.ClusterEngine.Position;
import io.kamille.cluster.peer.Peers.Ownership;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** {@code /v1/cluster}: the nodes of the cluster, and how far each has come. */
public final class ClusterResources {

  private static final String PATH = "/v1/cluster";
  private static final String NONE = "This node is in no cluster: the configuration has none.";

  private ClusterResources() {}

  /**
   * All of them.
   *
   * @param cluster the nodes that this one is a cluster with; null if there are none
   * @param owners which node owns what a request asks for; null if nobody does
   */
  public static List<Operation> of(
      Supplier<@Nullable Cluster> cluster, Function<RequestHead, @Nullable Ownership> owners) {
    return List.of(
        Operation.get(PATH, Scope.READ, "The nodes of the cluster, and how far each has come.")
            .answers(ClusterView.class)
            .by(() -> of(cluster.get(), ClusterResources::view)),
        Operation.get(PATH + "/log", Scope.READ, "How far the log of the cluster has come.")
            .answers(LogView.class)
            .by(() -> of(cluster.get(), nodes -> Answer.json(nodes.log()))),
        Operation.get(PATH + "/key", Scope.READ, "Which node owns a URL, and which have it stored.")
            .must("url", "The URL.")
            .answers(KeyView.class)
            .by((_, query) -> key(cluster.get(), owners, query.url())),
        Operation.delete(
                PATH + "/nodes/{node}", Scope.ADMIN, "Forgets a node that is away for good.")
            .by(
                (request, _) ->
                    of(cluster.get(), nodes -> forget(nodes, request.parameter("node")))));
  }

  private static Answer of(@Nullable Cluster cluster, Function<Cluster, Answer> answer) {
    return cluster == null ? Answer.problem(StatusCode.NOT_FOUND, NONE) : answer.apply(cluster);
  }

  private static Answer key(
      @Nullable Cluster cluster, Function<RequestHead, @Nullable Ownership> owners, String url)
      throws InvalidRequest {
    PurgeResources.oneHost("url", url);
    Ownership known = owners.apply(RequestHead.of("GET", url));
    return of(
        cluster,
        nodes ->
            Answer.later(
                () -> Answer.json(new KeyView(url, known, why(known), nodes.stored(url)))));
  }

  private static String why(@Nullable Ownership known) {
    return known == null
        ? "Nobody owns it: its route has no cache, or this node asks no others."
        : known.former() == null
            ? "By the hash of its key, over the nodes that are current."
            : "By the hash of its key. Nodes join or leave, so the former owner is asked, too.";
  }

  private static Answer view(Cluster cluster) {
    Position position = cluster.position();
    List<NodeView> nodes = cluster.nodes();
    return Answer.json(
        new ClusterView(
            String.valueOf(cluster.settings().name()),
            cluster.settings().node(),
            position.leader(),
            position.term(),
            cluster.hasQuorum(),
            cluster.isCurrent(),
            cluster.applied(),
            position.behind(),
            cluster.purges().waiting(),
            NodeView.lowestLevel(nodes),
            cluster.problem(),
            nodes));
  }

  private static Answer forget(Cluster cluster, String node) {
    NodeView known =
        cluster.nodes().stream().filter(each -> each.node().equals(node)).findFirst().orElse(null);
    if (known == null) {
      return Answer.problem(StatusCode.NOT_FOUND, "No node has this name.");
    }
    if (known.voter() || !known.state().equals("away")) {
      return Answer.problem(
          StatusCode.CONFLICT, "Only a node that is away, and no voter, can be forgotten.");
    }
    Duration left = cluster.currentnessLeft(node);
    if (!left.isNegative()) {
      return Answer.problem(
          StatusCode.CONFLICT,
          "The node may still serve what it has stored: wait " + (left.toSeconds() + 1) + " s.");
    }
    return Answer.later(
        () ->
            cluster.purges().known(node, false)
                ? Answer.nothing()
                : Answer.problem(ProblemType.NO_QUORUM, "The node is not forgotten.", List.of()));
  }

  /**
   * A URL as the nodes have it.
   *
   * @param ownership null if nobody owns it
   * @param stored whether each node has something stored for it, of those that have answered
   */
  private record KeyView(
      String url, @Nullable Ownership ownership, String why, Map<String, Boolean> stored) {}

  /**
   * What a node knows of its cluster.
   *
   * @param leader the node that orders entries of the log; null if nobody does
   * @param quorum whether a majority of the voters can be reached
   * @param current whether this node has missed no purge
   * @param applied the number of the last purge that is applied here
   * @param behind how many entries of the log are not applied here
   * @param waiting how many purges wait for a quorum
   * @param level what all nodes can read
   * @param problem why this node takes no part, or has purged more than it was told; else empty
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
      int level,
      String problem,
      List<NodeView> members) {}
}
