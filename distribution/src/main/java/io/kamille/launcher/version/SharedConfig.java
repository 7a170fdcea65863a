package io.kamille.launcher.version;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.kamille.admin.api.Answer;
import io.kamille.admin.api.ProblemType;
import io.kamille.cluster.config.ClusterConfig;
import io.kamille.cluster.config.ConfigReceipt;
import io.kamille.cluster.config.ConfigReceipt.AtNode;
import io.kamille.cluster.config.NodeConfig;
import io.kamille.core.http.StatusCode;
import io.kamille.core.setting.SettingChange;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * The configuration as the nodes of a cluster share it: what the API changes here is changed in the
 * file of each node, or in none. Any thread.
 */
public final class SharedConfig implements NodeConfig {

  /*
   * Each node keeps a whole file, so that it starts without the others, and all files are equal. A
   * change is the next text of the file. What is of one node stands in a file that this one
   * includes: no change has it, so a change leaves include as it is.
   */
  private static final String INCLUDE = "include";

  private static final JsonMapper JSON = new JsonMapper();

  private final ConfigControl control;
  private final Supplier<@Nullable ClusterConfig> cluster;

  /** Shares what {@code control} puts in force, while there is a cluster. */
  public SharedConfig(ConfigControl control, Supplier<@Nullable ClusterConfig> cluster) {
    this.control = control;
    this.cluster = cluster;
    control.guard(_ -> Thread.startVirtualThread(() -> end("revert")));
  }

  /**
   * What is to be at each node, as the log has it. It needs none of the changes before it.
   *
   * @param text of the file
   * @param trial what runs on trial in its place; null for nothing
   */
  private record Change(
      String text,
      @Nullable String trial,
      String by,
      String comment,
      @Nullable Duration confirm,
      TrialGuard.@Nullable Limits guard) {

    static Change of(String text, @Nullable String trial, ChangeOrder order) {
      return new Change(text, trial, order.by(), order.comment(), order.confirm(), order.guard());
    }

    ChangeOrder toFile() {
      return new ChangeOrder(by, comment, null, null, null);
    }

    ChangeOrder order() {
      return new ChangeOrder(by, comment, null, confirm, guard);
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
  Answer commit(ChangeOrder order, String next) throws Refused {
    ClusterConfig nodes = cluster.get();
    if (nodes == null) {
      return control.commit(order, next).answer();
    }
    long base = nodes.done();
    control.checkOrder(order);
    List<SettingChange> changes = control.rehearse(next).changes();
    if (changes.stream().anyMatch(each -> each.path().equals(INCLUDE))) {
      throw new Refused(
          ProblemType.CONFIG_INVALID,
          "Nothing was changed: a shared text cannot change include. Change the file of each node,"
              + " and reload it.");
    }
    Change change =
        order.confirm() == null
            ? Change.of(next, null, order)
            : Change.of(control.fileText(), next, order);
    String written = JSON.writeValueAsString(change);
    if (written.getBytes(UTF_8).length > ClusterConfig.LIMIT_BYTES) {
      throw new Refused(
          ProblemType.CONFIG_INVALID,
          "Nothing was changed: nodes share texts of at most 4 MiB, and half of that on trial.");
    }
    return answer(nodes.change(base, written), changes);
  }

  /** Ends the trial at all nodes: {@code keep} or {@code revert}. */
  Answer end(String decision) {
    ClusterConfig nodes = cluster.get();
    if (nodes == null) {
      return Answer.problem(ProblemType.NO_QUORUM, "This node has left its cluster.", List.of());
    }
    long base = nodes.done();
    String kept = control.fileText();
    ConfigControl.Trial open = control.trial();
    if (open == null) {
      return Answer.problem(ProblemType.NO_TRIAL, "No trial is open.", List.of());
    }
    ChangeOrder order = new ChangeOrder(open.by(), open.comment(), null, null, null);
    Change change = Change.of("keep".equals(decision) ? open.text() : kept, null, order);
    return answer(nodes.change(base, JSON.writeValueAsString(change)), List.of());
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
    return made(change, this::tryOut);
  }

  /** The end of a trial needs nothing. */
  private void tryOut(Change change) throws Refused {
    ConfigControl.Trial open = control.trial();
    String text = change.text();
    boolean isEnd =
        open != null
            && change.trial() == null
            && (text.equals(open.text()) || text.equals(control.fileText()));
    if (!isEnd) {
      control.tryOut(change.order(), change.trial() == null ? text : change.trial());
    }
  }

  @Override
  public String apply(String change) {
    return made(change, this::put);
  }

  private void put(Change change) throws Refused {
    ConfigControl.Trial open = control.trial();
    String text = change.text();
    String trial = change.trial();
    if (open != null && trial == null && text.equals(open.text())) {
      control.keepTrial(null);
    } else if (open != null) {
      control.revertTrial(null);
    }
    if (!text.equals(control.fileText())) {
      control.commit(change.toFile(), text);
    }
    if (trial != null) {
      control.commit(change.order(), trial);
    }
  }

  private interface Making {
    void run(Change change) throws Refused;
  }

  /** Does it; says why that is refused, or nothing. */
  private static String made(String change, Making making) {
    try {
      making.run(JSON.readValue(change, Change.class));
      return "";
    } catch (Refused why) {
      return String.join("; ", why.lines());
    }
  }

  @Override
  public String digest() {
    return ConfigControl.digest(control.text());
  }
}
