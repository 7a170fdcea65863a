package io.kamille.launcher.appliance;

import io.kamille.core.setting.SettingChange;
import java.util.List;

/** What a reload has come to, in words. Stateless; any thread. */
final class ReloadSentence {

  private ReloadSentence() {}

  /**
   * One sentence: how many settings are in force now, how many wait for a restart, and how many
   * loops go by the old limits still.
   */
  static String sentence(List<SettingChange> changes, int lateLoops) {
    long waiting = changes.stream().filter(SettingChange::needsRestart).count();
    long inForce = changes.size() - waiting;
    String sentence =
        "configuration reloaded, "
            + inForce
            + (inForce == 1 ? " setting" : " settings")
            + " changed";
    if (waiting > 0) {
      sentence += "; " + waiting + (waiting == 1 ? " waits" : " wait") + " for a restart";
    }
    if (lateLoops > 0) {
      sentence +=
          "; "
              + lateLoops
              + (lateLoops == 1 ? " loop has" : " loops have")
              + " the old limits still";
    }
    return sentence;
  }
}
