package io.kamille.core.setting;

import java.util.Locale;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A whole number and the unit behind it, in lower case and empty when none is written. */
record Quantity(long count, String unit) {

  /** Eighteen digits always fit a long. */
  private static final Pattern FORM = Pattern.compile("([0-9]{1,18}) ?([A-Za-z]{0,3})");

  static @Nullable Quantity parse(String text) {
    var form = FORM.matcher(text);
    return form.matches()
        ? new Quantity(Long.parseLong(form.group(1)), form.group(2).toLowerCase(Locale.ROOT))
        : null;
  }

  /** The count in a smaller unit, or empty beyond a long. */
  OptionalLong times(long factor) {
    return count > Long.MAX_VALUE / factor ? OptionalLong.empty() : OptionalLong.of(count * factor);
  }
}
