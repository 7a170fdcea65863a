package io.kamille.launcher.configuration;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * What a process hands over to the one that takes its place.
 *
 * @param keepsMemory whether what is stored in memory is among it
 */
public record UpgradeSettings(boolean keepsMemory) {

  static final Section<UpgradeSettings> SECTION =
      Section.of(
          UpgradeSettings.class,
          Setting.of(
                  "keep-memory",
                  ValueTypes.onOff(),
                  "Whether an upgrade hands over the stored responses in memory. Both processes"
                      + " must have it on, with the same `cache.memory.capacity`; otherwise the"
                      + " new one starts with empty memory.")
              .defaultsTo(false)
              .into("keepsMemory")
              .appliesOnRestart());
}
