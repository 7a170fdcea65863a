package io.kamille.core.setting;

import java.util.Locale;
import java.util.OptionalLong;

/** A number of bytes as people write it: {@code 8GiB}, {@code 64KiB}, {@code 1MB}, {@code 512}. */
public final class ByteSize {

  /** In the order in which {@link #print} tries them: the greatest first, binary before decimal. */
  private enum Unit {
    TIB("TiB", 1L << 40),
    GIB("GiB", 1L << 30),
    MIB("MiB", 1L << 20),
    KIB("KiB", 1L << 10),
    TB("TB", 1_000_000_000_000L),
    GB("GB", 1_000_000_000L),
    MB("MB", 1_000_000L),
    KB("KB", 1_000L),
    B("B", 1L);

    final String word;
    final long bytes;

    Unit(String word, long bytes) {
      this.word = word;
      this.bytes = bytes;
    }
  }

  private ByteSize() {}

  /** The bytes that {@code text} stands for, or empty if it is no size or beyond a long. */
  public static OptionalLong parse(String text) {
    var quantity = Quantity.parse(text);
    if (quantity == null) {
      return OptionalLong.empty();
    }
    if (quantity.unit().isEmpty()) {
      return OptionalLong.of(quantity.count());
    }
    for (Unit unit : Unit.values()) {
      if (unit.word.equalsIgnoreCase(quantity.unit())) {
        return quantity.times(unit.bytes);
      }
    }
    return OptionalLong.empty();
  }

  /** The shortest exact form, which {@link #parse} reads back: {@code 256MiB}, {@code 1MB}. */
  public static String print(long bytes) {
    for (Unit unit : Unit.values()) {
      if (unit != Unit.B && bytes != 0 && bytes % unit.bytes == 0) {
        return String.format(Locale.ROOT, "%d%s", bytes / unit.bytes, unit.word);
      }
    }
    return Long.toString(bytes);
  }
}
