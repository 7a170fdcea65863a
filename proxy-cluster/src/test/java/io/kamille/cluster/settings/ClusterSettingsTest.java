package io.kamille.cluster.settings;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.Member;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.Subsection;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterSettingsTest {

  /** A node joins once, as it starts. */
  @Test
  void aReloadChangesNothing() {
    assertThat(reloaded(ClusterSettings.SECTION)).isEmpty();
  }

  private static List<String> reloaded(Section<?> section) {
    List<String> keys = new ArrayList<>();
    for (Member member : section.members()) {
      switch (member) {
        case Setting<?> setting -> {
          if (!setting.needsRestart()) {
            keys.add(setting.key());
          }
        }
        case Subsection<?> child -> keys.addAll(reloaded(child.section()));
      }
    }
    return keys;
  }
}
