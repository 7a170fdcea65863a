package io.kamille.core.setting;

import static io.kamille.core.setting.Units.unit;

import java.util.List;
import java.util.OptionalLong;

/** A number of bytes as people write it: {@code 8GiB}, {@code 64KiB}, {@code 1MB}, {@code 512}. */
public final class ByteSize {

  /** The greatest first, binary before decimal. */
  private static final Units UNITS =
      new Units(
          List.of(
              unit("TiB", 1L << 40),
              unit("GiB", 1L << 30),
              unit("MiB", 1L << 20),
              unit("KiB", 1L << 10),
              unit("TB", 1_000_000_000_000L),
              unit("GB", 1_000_000_000),
              unit("MB", 1_000_000),
              unit("KB", 1_000),
              unit("", 1),
              unit("B", 1)));

  private ByteSize() {}

  /** The bytes that {@code text} stands for, or empty if it is no size or beyond a long. */
  public static OptionalLong parse(String text) {
    return UNITS.parse(text);
  }

  /** The shortest exact form, which {@link #parse} reads back: {@code 256MiB}, {@code 1MB}. */
  public static String print(long bytes) {
    return bytes == 0 ? "0" : UNITS.print(bytes);
  }
}
