package io.kamille.launcher.version;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.ProblemType;
import io.kamille.cluster.config.ClusterConfig;
import io.kamille.cluster.config.ConfigReceipt;
import io.kamille.cluster.config.ConfigReceipt.AtNode;
import io.kamille.cluster.config.NodeConfig;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SettingChange;
import io.kamille.launcher.patch.MergePatch;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The configuration as the nodes of a cluster share it: what the API changes here is changed in the
 * file of each node, or in none. Any thread.
 */
public final class SharedConfig implements NodeConfig {

  /*
   * Each node keeps a whole file of its own, so that it starts without the others. A change is a
   * merge patch (RFC 7396) of that file. Some settings are about one node, and differ: they are no
   * part of a change, nor of the digest by which nodes see whether they have the same.
   */
  private static final List<String> OWN =
      List.of(
          "listeners",
          "loops",
          "cluster",
          "admin",
          "upgrade",
          "host-sockets",
          "cache.memory",
          "cache.disk",
          "log.access.output",
          "acme.store");

  private static final JsonMapper JSON = new JsonMapper();

  private final ConfigControl control;
  private final Supplier<@Nullable ClusterConfig> cluster;
  private final AtomicBoolean isReading = new AtomicBoolean();
  private volatile String digest = "";

  /** Shares what {@code control} puts in force, while there is a cluster. */
  public SharedConfig(ConfigControl control, Supplier<@Nullable ClusterConfig> cluster) {
    this.control = control;
    this.cluster = cluster;
    control.guard(why -> Thread.startVirtualThread(() -> end("revert", "the guard: " + why)));
  }

  /** One change, as the log has it. Either a patch or a decision about the trial. */
  private record Change(
      @Nullable Map<String, @Nullable Object> patch,
      @Nullable String decision,
      String by,
      String comment,
      @Nullable String confirm,
      @Nullable Double rise,
      @Nullable String p99) {

    ChangeOrder order() {
      TrialGuard.Limits limits =
          rise == null && p99 == null
              ? null
              : new TrialGuard.Limits(rise, p99 == null ? null : Duration.parse(p99));
      return new ChangeOrder(
          by, comment, null, confirm == null ? null : Duration.parse(confirm), limits);
    }

    JsonNode tree() {
      return JSON.valueToTree(patch);
    }
  }

  /** What came of a change at all nodes. */
  private record Shared(
      long number,
      int version,
      List<SettingChange> changes,
      List<SettingChange> pendingRestart,
      @Nullable Instant trialDeadline,
      List<AtNode> nodes) {}

  // From this node

  /** Makes a change at all nodes; waits for them. */
  Answer commit(ChangeOrder order, ChangeOrder.Edit edit) throws Refused {
    ClusterConfig nodes = cluster.get();
    long base = nodes == null ? 0 : nodes.done();
    String next = control.next(order, edit);
    List<SettingChange> changes = control.rehearse(edit).changes();
    if (nodes != null
        && changes.stream()
            .anyMatch(each -> each.path().equals("cluster.node") && nodes.isTaken(each.after()))) {
      throw new Refused(
          ProblemType.CONFIG_INVALID,
          "Nothing was changed: cluster.node is the name of another node.");
    }
    Map<String, @Nullable Object> patch = MergePatch.between(control.text(), next);
    List<String> own = OWN.stream().filter(path -> has(patch, path)).toList();
    own.forEach(path -> remove(patch, path));
    if (nodes == null || patch.isEmpty()) {
      return control.commit(order, edit).answer();
    }
    if (!own.isEmpty()) {
      throw new Refused(
          ProblemType.CONFIG_INVALID,
          "Nothing was changed. This is of one node, so change it by itself: "
              + String.join(", ", own));
    }
    TrialGuard.Limits guard = order.guard();
    Duration confirm = order.confirm();
    return answer(
        nodes.change(
            base,
            JSON.writeValueAsString(
                new Change(
                    patch,
                    null,
                    order.by(),
                    order.comment(),
                    confirm == null ? null : confirm.toString(),
                    guard == null ? null : guard.rise(),
                    guard == null || guard.p99() == null ? null : String.valueOf(guard.p99())))),
        changes);
  }

  /** Ends the trial at all nodes: {@code keep} or {@code revert}. */
  Answer end(String decision, String by) {
    ClusterConfig nodes = cluster.get();
    if (nodes == null) {
      return Answer.problem(ProblemType.NO_QUORUM, "This node has left its cluster.", List.of());
    }
    return answer(
        nodes.change(
            nodes.done(),
            JSON.writeValueAsString(new Change(null, decision, by, "", null, null, null))),
        List.of());
  }

  private Answer answer(ConfigReceipt receipt, List<SettingChange> changes) {
    ConfigControl.Trial trial = control.trial();
    List<AtNode> failed = receipt.nodes().stream().filter(at -> !at.problem().isEmpty()).toList();
    boolean isNowhere = !failed.isEmpty() && failed.size() == receipt.nodes().size();
    return switch (receipt.state()) {
      case IN_FORCE ->
          isNowhere
              ? Answer.problem(
                  ProblemType.NOT_IN_FORCE,
                  "Change " + receipt.number() + " is in force nowhere.",
                  failed)
              : Answer.json(
                      failed.isEmpty() ? StatusCode.OK : StatusCode.ACCEPTED,
                      new Shared(
                          receipt.number(),
                          control.version(),
                          changes,
                          changes.stream().filter(SettingChange::needsRestart).toList(),
                          trial == null ? null : trial.deadline(),
                          receipt.nodes()))
                  .with("ETag", control.tag());
      case NOT_PREPARED ->
          Answer.problem(
              failed.stream().allMatch(at -> at.problem().equals(ClusterConfig.SILENT))
                  ? ProblemType.NOT_IN_FORCE
                  : ProblemType.CONFIG_INVALID,
              "Nothing was changed: a node cannot put it in force.",
              failed);
      case STALE ->
          Answer.problem(
              ProblemType.VERSION_STALE, "Another change came first at another node.", List.of());
      case NO_QUORUM ->
          Answer.problem(
              ProblemType.NO_QUORUM, "What ran goes on; to repeat it is safe.", List.of());
    };
  }

  // At this node

  @Override
  public String prepare(String change) {
    return made(
        change,
        (read, order) -> control.tryOut(order, text -> MergePatch.apply(text, read.tree())),
        read -> {
          if (control.trial() == null) {
            throw new Refused(ProblemType.NO_TRIAL, "No trial is open.");
          }
        });
  }

  @Override
  public String apply(String change) {
    return made(
        change,
        (read, order) -> control.commit(order, text -> MergePatch.apply(text, read.tree())),
        read -> {
          if ("keep".equals(read.decision())) {
            control.keepTrial(null);
          } else {
            control.revertTrial(null);
          }
        });
  }

  private interface Committing {
    void run(Change change, ChangeOrder order) throws Refused;
  }

  private interface Ending {
    void run(Change change) throws Refused;
  }

  /** Does one or the other; says why that is refused, or nothing. */
  private static String made(String change, Committing committing, Ending ending) {
    try {
      Change read = JSON.readValue(change, Change.class);
      if (read.decision() == null) {
        committing.run(read, read.order());
      } else {
        ending.run(read);
      }
      return "";
    } catch (Refused why) {
      return why.problems().isEmpty()
          ? String.valueOf(why.getMessage())
          : why.problems().stream().map(Problem::toString).collect(Collectors.joining("; "));
    }
  }

  @Override
  public String digest() {
    if (isReading.compareAndSet(false, true)) {
      Thread.startVirtualThread(
          () -> {
            try {
              digest = digestOf(control.text());
            } finally {
              isReading.set(false);
            }
          });
    }
    return digest;
  }

  static String digestOf(String text) {
    Map<String, @Nullable Object> members = MergePatch.members(text);
    OWN.forEach(path -> remove(members, path));
    return ConfigControl.digest(sorted(members).toString());
  }

  private static Map<String, @Nullable Object> sorted(Map<?, ?> members) {
    Map<String, @Nullable Object> sorted = new TreeMap<>();
    members.forEach(
        (name, value) ->
            sorted.put(String.valueOf(name), value instanceof Map<?, ?> map ? sorted(map) : value));
    return sorted;
  }

  private static boolean has(Map<String, @Nullable Object> members, String path) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      return members.containsKey(path);
    }
    Object inner = members.get(path.substring(0, dot));
    return inner instanceof Map<?, ?> map && has(copy(map), path.substring(dot + 1));
  }

  private static void remove(Map<String, @Nullable Object> members, String path) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      members.remove(path);
      return;
    }
    String name = path.substring(0, dot);
    if (members.get(name) instanceof Map<?, ?> map) {
      Map<String, @Nullable Object> inner = copy(map);
      remove(inner, path.substring(dot + 1));
      if (inner.isEmpty()) {
        members.remove(name);
      } else {
        members.put(name, inner);
      }
    }
  }

  private static Map<String, @Nullable Object> copy(Map<?, ?> map) {
    Map<String, @Nullable Object> copy = new LinkedHashMap<>();
    map.forEach((name, value) -> copy.put(String.valueOf(name), value));
    return copy;
  }
}
