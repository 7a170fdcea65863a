package io.kamille.launcher.version;

import io.kamille.core.setting.SettingChange;
import io.kamille.launcher.configuration.Configuration;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/** A process that commits a text and ends at one step of it, as if it had been killed there. */
public final class CommitUntil {

  /** The steps of a commit, in their order. */
  enum Step {
    PREPARED,
    /** The next text is on the disk, beside the file. */
    APPLIED,
    /** The file has it; it is no version yet. */
    RENAMED,
    DONE
  }

  private CommitUntil() {}

  /** Commits the text of the second file to the first one. */
  public static void main(String[] arguments) throws Exception {
    Path file = Path.of(arguments[0]);
    String next = Files.readString(Path.of(arguments[1]));
    Step last = Step.valueOf(arguments[2]);
    Killer killer = new Killer(last);
    ConfigControl control =
        ConfigControlTest.opened(file, true, killer, (_, _) -> () -> {}, killer::afterRename);
    killer.isArmed = true;
    control.commit(new ChangeOrder("a", "", null, null, null), next);
    Runtime.getRuntime().halt(1);
  }

  /** Stands in for the appliance, and ends the process. */
  static final class Killer implements ConfigControl.Target {

    private final Step last;
    private boolean isArmed;

    Killer(Step last) {
      this.last = last;
    }

    private void endAt(Step step) {
      if (isArmed && step == last) {
        Runtime.getRuntime().halt(0);
      }
    }

    /** The time of a version is asked for when the file has the text. */
    Instant afterRename() {
      endAt(Step.RENAMED);
      return InstantSource.system().instant();
    }

    @Override
    public List<SettingChange> changes(Configuration next) {
      return List.of();
    }

    @Override
    public TrialGuard.Counts counts() {
      return TrialGuard.Counts.NONE;
    }

    @Override
    public ConfigControl.Step prepare(Configuration next) {
      endAt(Step.PREPARED);
      return new ConfigControl.Step() {
        @Override
        public void apply() {
          endAt(Step.APPLIED);
        }

        @Override
        public void abandon() {}
      };
    }
  }
}
