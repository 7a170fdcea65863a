package io.kamille.cache.settings;

import io.kamille.core.setting.Section;
import io.kamille.core.setting.Setting;
import io.kamille.core.setting.ValueTypes;

/**
 * Where stored responses lie.
 *
 * @param capacityBytes off-heap, taken at start
 * @param sendfileFromBytes content that long goes to clients by sendfile; {@link Long#MAX_VALUE}
 *     for none
 */
public record MemorySettings(long capacityBytes, long sendfileFromBytes) {

  private static final long TIB = 1L << 40;

  public static final Setting<Long> CAPACITY =
      Setting.of(
              "capacity",
              ValueTypes.size(1 << 20, 16 * TIB),
              "Memory for stored responses, taken at start and never exceeded. It lies outside the"
                  + " Java heap and comes on top of it.")
          .defaultsTo(256L << 20)
          .appliesOnRestart();

  public static final Section<MemorySettings> SECTION =
      Section.of(
          MemorySettings.class,
          CAPACITY,
          Setting.of(
                  "sendfile-from",
                  ValueTypes.orWord("off", Long.MAX_VALUE, ValueTypes.size(32 << 10, 16 * TIB)),
                  "Stored content of at least this size is sent to clients by sendfile(2), without"
                      + " being copied, once it was sent seven times. `off` copies everything."
                      + " Either way content is copied where the connection or the kernel does not"
                      + " allow it; the log says at start if the kernel does not.")
              .defaultsTo(128L << 10)
              .appliesOnRestart());
}
