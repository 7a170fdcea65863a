package io.kamille.core.setting;

/**
 * One difference between two configurations.
 *
 * @param path the setting, or the list or named section that came or went
 * @param before the value before, as a file would write it
 * @param after the value after
 * @param needsRestart whether it waits for the next start; otherwise a reload applies it
 */
public record SettingChange(String path, String before, String after, boolean needsRestart) {

  /** One line: {@code cache.memory.capacity: 256MiB → 1GiB (after a restart)}. */
  @Override
  public String toString() {
    return path + ": " + before + " → " + after + (needsRestart ? " (after a restart)" : "");
  }
}
