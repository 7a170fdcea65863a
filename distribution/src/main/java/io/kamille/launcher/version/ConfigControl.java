package io.kamille.launcher.version;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.kamille.admin.api.Answer;
import io.kamille.admin.api.ProblemType;
import io.kamille.core.setting.Position;
import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SettingChange;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Changes the configuration of the running process, one change at a time. Any thread. */
public final class ConfigControl implements AutoCloseable {

  /*
   * A commit: check, run its tests, prepare what may fail, write the draft of the file, apply,
   * rename, keep the version. A kill before the rename leaves the old file, a kill behind it the new one. If the
   * rename fails, what ran is applied again. A version that cannot be kept is no reason to go back:
   * the file has it, and the next start takes it in.
   *
   * What a text includes is read with it, and may change at any time. So what ran is kept as it was
   * read: going back reads no file.
   *
   * In a trial the file is not written, so a restart returns to it by itself. The trial's text
   * becomes a version only when it is kept.
   */
  private static final int TAG_OCTETS = 8;

  /** After a trial could not be ended. */
  private static final Duration TRY_AGAIN = Duration.ofSeconds(10);

  private static final System.Logger LOG = System.getLogger("kamille.configuration");

  /** Puts configurations in force: the running appliance. */
  public interface Target {

    /** In what that one differs from what runs. */
    List<SettingChange> changes(Configuration next);

    /** What was answered so far. */
    TrialGuard.Counts counts();

    /**
     * What its tests expect of it in vain.
     *
     * @param file what problems call it
     */
    default List<Problem> failedTests(Configuration next, String file) {
      return List.of();
    }

    /** The file was read again, and what ran goes on. */
    default void refused() {}

    /** Makes all that it needs and that may fail. Ended by {@link Step#apply} or abandon. */
    Step prepare(Configuration next);
  }

  /** A configuration that can come into force. */
  public interface Step {
    void apply();

    void abandon();
  }

  /** Calls back after a time, once, unless it was cancelled before. */
  public interface Alarm {
    Runnable set(Duration after, Runnable action);
  }

  /**
   * What runs on trial.
   *
   * @param configuration as it was read
   * @param guard what would end it before the deadline
   * @param start what was answered before it
   */
  record Trial(
      String text,
      Configuration configuration,
      String by,
      String comment,
      Instant deadline,
      @Nullable TrialGuard guard,
      TrialGuard.Counts start) {}

  /** How the last trial ended. */
  record TrialEnd(Instant time, String by, boolean kept, String why) {}

  /**
   * What came of a commit.
   *
   * @param pendingRestart of the changes those that wait for one
   * @param tag of what runs now
   */
  record Outcome(
      int version,
      List<SettingChange> changes,
      List<SettingChange> pendingRestart,
      @Nullable Instant trialDeadline,
      @Nullable String diff,
      @JsonIgnore String tag) {

    /** Told to who has asked. */
    Answer answer() {
      return Answer.json(this).with("ETag", tag);
    }
  }

  private final KeptFile file;
  private final boolean mayWrite;
  private final Target target;
  private final Alarm alarm;
  private final InstantSource clock;
  // The file's, as it was read.
  private Configuration ofFile;
  // Read by those who must not wait for a change; written under the lock.
  private volatile @Nullable Trial trial;
  private @Nullable TrialEnd lastTrial;
  private Runnable cancelAlarm = () -> {};
  // Of the trial, behind the next alarm: a clock that is set back makes it no longer.
  private Duration left = Duration.ZERO;
  private @Nullable Consumer<String> guarded;

  /**
   * Control of a process that runs what the file said when it was read. Read again, it and what it
   * includes could say something else.
   *
   * @param text of the file
   * @param running what that text was read as
   * @param directory where versions are kept
   * @param mayWrite whether the API may change the file
   */
  public ConfigControl(
      Path file,
      String text,
      Configuration running,
      Path directory,
      boolean mayWrite,
      Target target,
      Alarm alarm,
      InstantSource clock)
      throws IOException {
    this.file = new KeptFile(file, text, directory, clock);
    this.ofFile = running;
    this.mayWrite = mayWrite;
    this.target = target;
    this.alarm = alarm;
    this.clock = clock;
  }

  Path file() {
    return file.path().toAbsolutePath();
  }

  /** What runs, trial included. Never waits. */
  String text() {
    Trial open = trial;
    return open == null ? file.text() : open.text;
  }

  /** What the file has, without a trial. Never waits. */
  String fileText() {
    return file.text();
  }

  /** The number of the version that the file has; 0 if it could not be kept. */
  synchronized int version() {
    return file.version();
  }

  /** The strong entity tag of what runs (RFC 9110 §8.8.3). */
  synchronized String tag() {
    return "\"" + version() + "-" + digest(text()) + "\"";
  }

  static String digest(String text) {
    try {
      byte[] all =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(all, 0, TAG_OCTETS);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** How the last trial ended; null if there was none. */
  synchronized @Nullable TrialEnd lastTrial() {
    return lastTrial;
  }

  synchronized @Nullable Trial trial() {
    return trial;
  }

  /** What was answered since the process began. */
  TrialGuard.Counts counts() {
    return target.counts();
  }

  synchronized List<ConfigVersion> versions() {
    return file.versions();
  }

  synchronized String text(int number) throws Refused {
    return file.text(number);
  }

  /** What waits for a restart. */
  synchronized List<SettingChange> pending() {
    Configuration running = trial == null ? ofFile : trial.configuration;
    return target.changes(running).stream().filter(SettingChange::needsRestart).toList();
  }

  /**
   * All that is wrong with a text. Who asks need not be somebody who may read files: of those that
   * the text names, no word is told.
   */
  List<Problem> problems(String candidate) {
    try {
      tested(candidate);
      return List.of();
    } catch (Refused why) {
      return why.problems().stream().map(ConfigControl::withoutWords).toList();
    }
  }

  private static Problem withoutWords(Problem problem) {
    Position at = problem.position();
    String expected = "a right one; see kamille check";
    return at.file().isEmpty()
        ? problem
        : new Problem(problem.kind(), problem.file(), at, "", "a wrong entry", expected, null);
  }

  private ConfigurationReading reading(String candidate) {
    return ConfigurationFile.parse(
        file.path().toString(), candidate.getBytes(StandardCharsets.UTF_8));
  }

  private Configuration checked(String candidate) throws Refused {
    return switch (reading(candidate)) {
      case ConfigurationReading.Accepted(Configuration configuration) -> configuration;
      case ConfigurationReading.Refused refused ->
          throw new Refused(ProblemType.CONFIG_INVALID, "Nothing was changed.", refused.problems());
    };
  }

  /** As {@link #checked}, for what is to come into force: its tests must pass. */
  private Configuration tested(String candidate) throws Refused {
    Configuration next = checked(candidate);
    List<Problem> failed = target.failedTests(next, file.path().toString());
    if (!failed.isEmpty()) {
      throw new Refused(
          ProblemType.CONFIG_INVALID, "Its tests fail, so nothing was changed.", failed);
    }
    return next;
  }

  /** The changes between two versions, as a reload sees them. */
  synchronized List<SettingChange> changes(int from, int to) throws Refused {
    return past(to).changesFrom(past(from));
  }

  /** A version to compare, whose files need not be there any more. */
  private Configuration past(int number) throws Refused {
    byte[] kept = text(number).getBytes(StandardCharsets.UTF_8);
    return switch (ConfigurationFile.parseAlone(file.path().toString(), kept)) {
      case ConfigurationReading.Accepted(Configuration configuration) -> configuration;
      case ConfigurationReading.Refused refused ->
          throw new Refused(
              ProblemType.CONFIG_INVALID,
              "Version " + number + " is not valid in this release.",
              refused.problems());
    };
  }

  /** What a commit would change. */
  synchronized Outcome rehearse(String next) throws Refused {
    return outcome(target.changes(tested(next)), null, TextDiff.between(text(), next));
  }

  /** Refuses what no text could be committed by now. */
  synchronized void checkOrder(ChangeOrder order) throws Refused {
    if (!mayWrite) {
      throw new Refused(
          ProblemType.WRITES_OFF, "The file is the only way: admin.config-writes is off.");
    }
    checkMatch(order.match());
    if (trial != null) {
      throw new Refused(ProblemType.TRIAL_OPEN, "A trial is open: keep or revert it first.");
    }
  }

  /** Makes all that a commit would need, and throws it away. */
  synchronized void tryOut(ChangeOrder order, String next) throws Refused {
    checkOrder(order);
    Configuration configuration = tested(next);
    checkUnchanged();
    prepared(configuration).abandon();
  }

  /** Neither the file nor what it includes may say something else than when it was read. */
  private void checkUnchanged() throws Refused {
    file.checkUnchanged();
    checkIncluded(file.text(), ofFile);
  }

  /** What a text includes may say nothing else than when it was read. A new secret is no change. */
  private void checkIncluded(String text, Configuration read) throws Refused {
    if (!read.include().isEmpty()
        && !(reading(text) instanceof ConfigurationReading.Accepted(Configuration now)
            && now.changesFrom(read).stream().allMatch(one -> one.before().equals(one.after())))) {
      throw new Refused(
          ProblemType.FILE_CHANGED,
          "Somebody changed an included file since it was read. Reload, then change the file.");
    }
  }

  /** Has somebody else end trials that the guard is against; it says why. */
  synchronized void guard(Consumer<String> ending) {
    guarded = ending;
  }

  /** Puts a text in force. */
  synchronized Outcome commit(ChangeOrder order, String next) throws Refused {
    checkOrder(order);
    Configuration configuration = tested(next);
    checkUnchanged();
    List<SettingChange> changes = target.changes(configuration);
    Duration confirm = order.confirm();
    if (confirm == null) {
      write(next, configuration, order.by(), order.comment());
      return outcome(changes);
    }
    List<SettingChange> waiting = pending();
    if (changes.stream().anyMatch(each -> each.needsRestart() && !waiting.contains(each))) {
      throw new Refused(
          ProblemType.NEEDS_RESTART, "A trial cannot have settings that wait for a restart.");
    }
    checkWritable(next);
    TrialGuard.Counts start = target.counts();
    TrialGuard guard = order.guard() == null ? null : new TrialGuard(order.guard(), start);
    apply(configuration);
    Instant deadline = clock.instant().plus(confirm);
    trial = new Trial(next, configuration, order.by(), order.comment(), deadline, guard, start);
    left = confirm;
    setAlarm();
    LOG.log(Level.INFO, "a trial by {0} runs until {1}", order.by(), deadline);
    return outcome(changes, deadline, null);
  }

  private Outcome outcome(List<SettingChange> changes) {
    return outcome(changes, null, null);
  }

  private Outcome outcome(
      List<SettingChange> changes, @Nullable Instant deadline, @Nullable String diff) {
    List<SettingChange> waiting = changes.stream().filter(SettingChange::needsRestart).toList();
    return new Outcome(version(), changes, waiting, deadline, diff, tag());
  }

  private void checkMatch(@Nullable String match) throws Refused {
    if (match != null && !ChangeOrder.matches(match, tag())) {
      throw new Refused(ProblemType.VERSION_STALE, "Another version runs by now.");
    }
  }

  private Step prepared(Configuration configuration) throws Refused {
    try {
      return target.prepare(configuration);
    } catch (UncheckedIOException unusable) {
      throw new Refused(ProblemType.NOT_PREPARED, "Nothing was changed: " + unusable.getMessage());
    } catch (RuntimeException failed) {
      LOG.log(Level.ERROR, "a configuration cannot be prepared", failed);
      throw new Refused(ProblemType.NOT_PREPARED, "Nothing was changed; the log says why.");
    }
  }

  /** Prepares it and puts it in force; what ran goes on if either fails. */
  private void apply(Configuration configuration) throws Refused {
    apply(prepared(configuration));
  }

  private void apply(Step step) throws Refused {
    try {
      step.apply();
    } catch (RuntimeException failed) {
      LOG.log(Level.ERROR, "a configuration cannot be put in force; what ran goes on", failed);
      goBack();
      throw new Refused(ProblemType.NOT_PREPARED, "Nothing was changed; the log says why.");
    }
  }

  /** Applies what ran: a step that failed or was taken back may have changed a part of it. */
  private void goBack() throws Refused {
    Step before = prepared(trial == null ? ofFile : trial.configuration);
    try {
      before.apply();
    } catch (RuntimeException failed) {
      LOG.log(Level.ERROR, "what ran cannot be put in force again: restart", failed);
    }
  }

  /** Applies and writes; what ran goes on if either fails. */
  private void write(String next, Configuration configuration, String by, String comment)
      throws Refused {
    Step step = prepared(configuration);
    boolean isApplied = false;
    try (FileDraft draft = file.draft(next)) {
      isApplied = true;
      apply(step);
      draft.publish();
    } catch (IOException unwritable) {
      if (isApplied) {
        goBack();
      } else {
        step.abandon();
      }
      throw unwritable(unwritable);
    }
    ofFile = configuration;
    file.written(next, by, comment);
  }

  /** Nothing goes on trial that nobody could keep. */
  private void checkWritable(String next) throws Refused {
    try {
      file.draft(next).close();
    } catch (IOException unwritable) {
      throw unwritable(unwritable);
    }
  }

  private static Refused unwritable(IOException why) {
    LOG.log(Level.ERROR, "the configuration cannot be written: {0}", why.getMessage());
    return new Refused(
        ProblemType.FILE_UNWRITABLE, "The file cannot be written: " + why.getMessage());
  }

  /** Writes what is on trial to the file. */
  synchronized Outcome keepTrial(@Nullable String match) throws Refused {
    checkMatch(match);
    Trial open = openTrial();
    checkUnchanged();
    checkIncluded(open.text, open.configuration);
    write(open.text, open.configuration, open.by, open.comment);
    ended(open, true, "kept");
    return outcome(List.of());
  }

  /** Returns to what the file said when the trial began. */
  synchronized Outcome revertTrial(@Nullable String match) throws Refused {
    checkMatch(match);
    return revert("reverted");
  }

  private Outcome revert(String why) throws Refused {
    Trial open = openTrial();
    Configuration before = ofFile;
    List<SettingChange> changes = target.changes(before);
    apply(before);
    ended(open, false, why);
    return outcome(changes);
  }

  private void ended(Trial open, boolean isKept, String why) {
    cancelAlarm.run();
    trial = null;
    lastTrial = new TrialEnd(clock.instant(), open.by, isKept, why);
    LOG.log(
        Level.INFO, "the trial is over ({0}), version {1} runs", why, Integer.toString(version()));
  }

  private Trial openTrial() throws Refused {
    if (trial == null) {
      throw new Refused(ProblemType.NO_TRIAL, "No trial is open.");
    }
    return trial;
  }

  /** A guarded trial is looked at again and again, another one at its end. */
  private void setAlarm() {
    Trial open = Objects.requireNonNull(trial);
    Duration byClock = Duration.between(clock.instant(), open.deadline);
    Duration most = byClock.compareTo(left) < 0 ? byClock : left;
    boolean isGuarded = open.guard != null && most.compareTo(TrialGuard.PERIOD) > 0;
    Duration next = isGuarded ? TrialGuard.PERIOD : most;
    left = most.minus(next);
    cancelAlarm = alarm.set(next, this::checkTrial);
  }

  private synchronized void checkTrial() {
    Trial open = trial;
    if (open == null) {
      return;
    }
    try {
      String failing = open.guard == null ? null : open.guard.verdict(target.counts());
      if (failing != null && guarded != null) {
        guarded.accept(failing);
        cancelAlarm = alarm.set(TRY_AGAIN, this::checkTrial);
      } else if (failing != null) {
        revert("the guard ended it: " + failing);
      } else if (left.isPositive() && clock.instant().isBefore(open.deadline)) {
        setAlarm();
      } else {
        revert("nobody kept it");
      }
    } catch (Refused impossible) {
      LOG.log(
          Level.ERROR, "the trial cannot be ended, next try in 10 s: {0}", impossible.getMessage());
      cancelAlarm = alarm.set(TRY_AGAIN, this::checkTrial);
    }
  }

  /**
   * Reads the file again and puts it in force; ends a trial.
   *
   * @param match as that of {@link ChangeOrder}
   */
  synchronized Outcome reload(String match) throws Refused {
    checkMatch(match);
    return outcome(readAgain());
  }

  /**
   * The same for a signal.
   *
   * @return the reasons, a line each, if what ran goes on
   */
  public synchronized List<String> reload() {
    try {
      readAgain();
      return List.of();
    } catch (Refused why) {
      return why.lines();
    }
  }

  private List<SettingChange> readAgain() throws Refused {
    try {
      return takenAgain();
    } catch (Refused why) {
      target.refused();
      throw why;
    }
  }

  private List<SettingChange> takenAgain() throws Refused {
    String next;
    try {
      next = file.now();
    } catch (IOException unreadable) {
      List<Problem> problems =
          ConfigurationFile.read(file.path()) instanceof ConfigurationReading.Refused refused
              ? refused.problems()
              : List.of();
      throw new Refused(
          ProblemType.CONFIG_INVALID,
          "The file cannot be read: " + unreadable.getMessage(),
          problems);
    }
    Configuration read = tested(next);
    List<SettingChange> changes = target.changes(read);
    apply(read);
    ofFile = read;
    if (trial != null) {
      ended(trial, false, "the file was read again");
    }
    file.read(next);
    return changes;
  }

  @Override
  public synchronized void close() {
    cancelAlarm.run();
  }
}
