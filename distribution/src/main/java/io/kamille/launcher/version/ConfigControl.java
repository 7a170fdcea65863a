package io.kamille.launcher.version;

import io.kamille.core.setting.Problem;
import io.kamille.core.setting.SettingChange;
import io.kamille.launcher.configuration.Configuration;
import io.kamille.launcher.configuration.ConfigurationFile;
import io.kamille.launcher.configuration.ConfigurationReading;
import io.kamille.launcher.version.Refused.Kind;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Changes the configuration of the running process, one change at a time. Any thread. */
public final class ConfigControl implements AutoCloseable {

  /*
   * A commit: check, prepare what may fail, write the draft of the file, apply, rename, keep the
   * version. A kill before the rename leaves the old file, a kill behind it the new one. If the
   * rename fails, what ran is applied again. A version that cannot be kept is no reason to go back:
   * the file has it, and the next start takes it in.
   *
   * In a trial the file is not written, so a restart returns to it by itself. The trial's text
   * becomes a version only when it is kept.
   */
  private static final System.Logger LOG = System.getLogger("kamille.configuration");

  /** Puts configurations in force: the running appliance. */
  public interface Target {

    /** In what that one differs from what runs. */
    List<SettingChange> changes(Configuration next);

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

  /** What runs on trial, and until when. */
  record Trial(String text, String by, String comment, Instant deadline, Runnable cancel) {}

  /** What came of a commit. */
  record Outcome(
      int version, List<SettingChange> changes, @Nullable Instant trialDeadline, String tag) {}

  private final Path file;
  private final boolean mayWrite;
  private final ConfigStore store;
  private final Target target;
  private final Alarm alarm;
  private final InstantSource clock;
  private String text;
  private @Nullable Trial trial;

  private ConfigControl(
      Path file,
      boolean mayWrite,
      ConfigStore store,
      Target target,
      Alarm alarm,
      InstantSource clock,
      String text) {
    this.file = file;
    this.mayWrite = mayWrite;
    this.store = store;
    this.target = target;
    this.alarm = alarm;
    this.clock = clock;
    this.text = text;
  }

  /**
   * Control of a process that runs what the file says.
   *
   * @param directory where versions are kept
   * @param mayWrite whether the API may change the file
   */
  public static ConfigControl open(
      Path file, Path directory, boolean mayWrite, Target target, Alarm alarm, InstantSource clock)
      throws IOException {
    var control =
        new ConfigControl(
            file,
            mayWrite,
            ConfigStore.open(directory),
            target,
            alarm,
            clock,
            Files.readString(file));
    control.takeIn();
    return control;
  }

  /** The text of the file becomes a version, if it is not the newest one. */
  private void takeIn() {
    try {
      ConfigVersion newest = store.newest();
      if (newest == null || !text.equals(store.text(newest.number()))) {
        store.add(text, clock.instant(), "file", "");
      }
    } catch (IOException full) {
      LOG.log(Level.ERROR, "the configuration's version cannot be kept", full);
    }
  }

  /** What runs, trial included. */
  synchronized String text() {
    return trial == null ? text : trial.text;
  }

  /** The number of the version that the file has; 0 if none could be kept. */
  synchronized int version() {
    ConfigVersion newest = store.newest();
    return newest == null ? 0 : newest.number();
  }

  /** Changes with what runs. */
  synchronized String tag() {
    return "\"" + version() + "-" + Integer.toHexString(text().hashCode()) + "\"";
  }

  synchronized @Nullable Trial trial() {
    return trial;
  }

  synchronized List<ConfigVersion> versions() {
    return store.all();
  }

  synchronized String text(int number) throws Refused {
    try {
      String kept = store.text(number);
      if (kept != null) {
        return kept;
      }
    } catch (IOException unreadable) {
      LOG.log(Level.ERROR, "version " + number + " cannot be read", unreadable);
    }
    throw new Refused(Kind.VERSION_GONE, "Version " + number + " is not kept.");
  }

  /** What waits for a restart. */
  synchronized List<SettingChange> pending() {
    return switch (reading(text())) {
      case ConfigurationReading.Accepted(Configuration running) ->
          target.changes(running).stream().filter(SettingChange::needsRestart).toList();
      case ConfigurationReading.Refused refused -> List.of();
    };
  }

  /** All that is wrong with a text. */
  List<Problem> problems(String candidate) {
    return switch (reading(candidate)) {
      case ConfigurationReading.Accepted accepted -> List.of();
      case ConfigurationReading.Refused refused -> refused.problems();
    };
  }

  private ConfigurationReading reading(String candidate) {
    return ConfigurationFile.parse(file.toString(), candidate.getBytes(StandardCharsets.UTF_8));
  }

  private Configuration checked(String candidate) throws Refused {
    return switch (reading(candidate)) {
      case ConfigurationReading.Accepted(Configuration configuration) -> configuration;
      case ConfigurationReading.Refused refused ->
          throw new Refused(Kind.CONFIG_INVALID, "Nothing was changed.", refused.problems());
    };
  }

  /** The changes between two versions, as a reload sees them. */
  synchronized List<SettingChange> changes(int from, int to) throws Refused {
    return checked(text(to)).changesFrom(checked(text(from)));
  }

  /** What a commit of this text would change. */
  synchronized Outcome rehearse(String next) throws Refused {
    return new Outcome(version(), target.changes(checked(next)), null, tag());
  }

  /**
   * Puts a text in force.
   *
   * @param confirm how long it is on trial; null to keep it at once
   */
  synchronized Outcome commit(String next, String by, String comment, @Nullable Duration confirm)
      throws Refused {
    if (!mayWrite) {
      throw new Refused(Kind.WRITES_OFF, "The file is the only way: admin.config-writes is off.");
    }
    if (trial != null) {
      throw new Refused(Kind.TRIAL_OPEN, "A trial is open: keep or revert it first.");
    }
    Configuration configuration = checked(next);
    checkFile();
    List<SettingChange> changes = target.changes(configuration);
    if (confirm == null) {
      write(next, configuration, by, comment);
      return new Outcome(version(), changes, null, tag());
    }
    if (changes.stream().anyMatch(SettingChange::needsRestart)) {
      throw new Refused(
          Kind.NEEDS_RESTART, "A trial cannot have settings that wait for a restart.");
    }
    prepared(configuration).apply();
    Instant deadline = clock.instant().plus(confirm);
    trial = new Trial(next, by, comment, deadline, alarm.set(confirm, this::expire));
    LOG.log(Level.INFO, "a trial by {0} runs until {1}", by, deadline);
    return new Outcome(version(), changes, deadline, tag());
  }

  private void checkFile() throws Refused {
    try {
      if (!Files.readString(file).equals(text)) {
        throw new Refused(
            Kind.FILE_CHANGED,
            "Somebody changed the file since it was read. Reload it, then change it.");
      }
    } catch (IOException unreadable) {
      throw new Refused(Kind.FILE_CHANGED, "The file cannot be read: " + unreadable.getMessage());
    }
  }

  private Step prepared(Configuration configuration) throws Refused {
    try {
      return target.prepare(configuration);
    } catch (RuntimeException failed) {
      LOG.log(Level.ERROR, "a configuration cannot be prepared", failed);
      throw new Refused(Kind.NOT_PREPARED, "Nothing was changed; the log says why.");
    }
  }

  /** Applies and writes; what ran goes on if either fails. */
  private void write(String next, Configuration configuration, String by, String comment)
      throws Refused {
    Step step = prepared(configuration);
    boolean isApplied = false;
    try (FileDraft draft = FileDraft.write(file, next.getBytes(StandardCharsets.UTF_8))) {
      step.apply();
      isApplied = true;
      draft.publish();
    } catch (IOException unwritable) {
      if (isApplied) {
        prepared(checked(text)).apply();
      } else {
        step.abandon();
      }
      LOG.log(Level.ERROR, "the configuration cannot be written", unwritable);
      throw new Refused(
          Kind.FILE_UNWRITABLE, "The file cannot be written: " + unwritable.getMessage());
    }
    text = next;
    keep(by, comment);
  }

  private void keep(String by, String comment) {
    try {
      store.add(text, clock.instant(), by, comment);
    } catch (IOException full) {
      LOG.log(Level.ERROR, "the configuration's version cannot be kept", full);
    }
  }

  /** Writes what is on trial to the file. */
  synchronized Outcome keepTrial() throws Refused {
    Trial open = openTrial();
    checkFile();
    write(open.text, checked(open.text), open.by, open.comment);
    open.cancel.run();
    trial = null;
    return new Outcome(version(), List.of(), null, tag());
  }

  /** Returns to what the file said when the trial began. */
  synchronized Outcome revertTrial() throws Refused {
    Trial open = openTrial();
    Configuration before = checked(text);
    List<SettingChange> changes = target.changes(before);
    prepared(before).apply();
    open.cancel.run();
    trial = null;
    LOG.log(Level.INFO, "the trial is over, version {0} runs", Integer.toString(version()));
    return new Outcome(version(), changes, null, tag());
  }

  private Trial openTrial() throws Refused {
    if (trial == null) {
      throw new Refused(Kind.NO_TRIAL, "No trial is open.");
    }
    return trial;
  }

  private synchronized void expire() {
    try {
      if (trial != null) {
        revertTrial();
      }
    } catch (Refused impossible) {
      LOG.log(Level.ERROR, "the trial cannot be ended: {0}", impossible.getMessage());
    }
  }

  /** Reads the file again and puts it in force; ends a trial. */
  public synchronized List<Problem> reload() {
    String next;
    try {
      next = Files.readString(file);
    } catch (IOException unreadable) {
      return ConfigurationFile.read(file) instanceof ConfigurationReading.Refused refused
          ? refused.problems()
          : List.of();
    }
    try {
      prepared(checked(next)).apply();
    } catch (Refused refused) {
      return refused.problems();
    }
    if (trial != null) {
      trial.cancel.run();
      trial = null;
    }
    text = next;
    takeIn();
    return List.of();
  }

  @Override
  public synchronized void close() {
    if (trial != null) {
      Objects.requireNonNull(trial).cancel.run();
    }
  }
}
