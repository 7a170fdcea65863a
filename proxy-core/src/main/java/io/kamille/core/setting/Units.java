package io.kamille.core.setting;

import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Whole numbers with a unit behind them, as people write them.
 *
 * @param units in the order in which {@link #print} tries them; the last that it needs divides all
 */
record Units(List<Unit> units) {

  /**
   * A word for so many of the least unit.
   *
   * @param word case does not matter; empty where the number stands alone
   */
  record Unit(String word, long size) {}

  /** Eighteen digits always fit a long. */
  private static final Pattern FORM = Pattern.compile("([0-9]{1,18}) ?([A-Za-z]{0,3})");

  static Unit unit(String word, long size) {
    return new Unit(word, size);
  }

  /** How many of the least unit {@code text} stands for; empty if it is none or beyond a long. */
  OptionalLong parse(String text) {
    Matcher form = FORM.matcher(text);
    if (form.matches()) {
      long count = Long.parseLong(form.group(1));
      for (Unit unit : units) {
        if (unit.word.equalsIgnoreCase(form.group(2)) && count <= Long.MAX_VALUE / unit.size) {
          return OptionalLong.of(count * unit.size);
        }
      }
    }
    return OptionalLong.empty();
  }

  /** The shortest exact form of an amount above zero. */
  String print(long amount) {
    for (Unit unit : units) {
      if (amount % unit.size == 0) {
        return String.format(Locale.ROOT, "%d%s", amount / unit.size, unit.word);
      }
    }
    throw new IllegalStateException(units + ": none divides " + amount);
  }
}
