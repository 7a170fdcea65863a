package io.kamille.cache.settings;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * Where stored responses lie.
 *
 * @param capacityBytes off-heap
 * @param isPrefaulted whether all of it is filled at start
 * @param sendfileFromBytes content that long goes to clients by sendfile; {@link Long#MAX_VALUE}
 *     for none
 */
public record MemorySettings(long capacityBytes, boolean isPrefaulted, long sendfileFromBytes) {

  private static final long TIB = 1L << 40;

  public static final Setting<Long> CAPACITY =
      Setting.of(
              "capacity",
              ValueTypes.size(1 << 20, 16 * TIB),
              "Memory for stored responses, never exceeded. It lies outside the Java heap and comes"
                  + " on top of it. The kernel supplies it as it is used; see `prefault`.")
          .defaultsTo(256L << 20)
          .appliesOnRestart();

  public static final Section<MemorySettings> SECTION =
      Section.of(
          MemorySettings.class,
          CAPACITY,
          Setting.of(
                  "prefault",
                  ValueTypes.onOff(),
                  "Whether the kernel supplies all of `capacity` at start, before the first"
                      + " request. If memory is short, the start fails instead of the peak. It"
                      + " needs Linux 5.14.")
              .defaultsTo(false)
              .into("isPrefaulted")
              .appliesOnRestart(),
          Setting.of(
                  "sendfile-from",
                  ValueTypes.orWord("off", Long.MAX_VALUE, ValueTypes.size(32 << 10, 16 * TIB)),
                  "Stored content of at least this size is sent to clients by sendfile(2), without"
                      + " being copied, once it was sent three times. `off` copies everything."
                      + " Either way content is copied where the connection or the kernel does not"
                      + " allow it; the log says at start if the kernel does not.")
              .defaultsTo(64L << 10)
              .appliesOnRestart());
}
