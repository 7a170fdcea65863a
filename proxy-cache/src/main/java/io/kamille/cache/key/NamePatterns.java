package io.kamille.cache.key;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names that an operator lists, each exact or, with a star at its end, the beginning of names.
 * Immutable; any thread.
 */
public final class NamePatterns {

  public static final NamePatterns NONE = of(List.of());

  private final List<String> patterns;
  private final byte[][] names;
  private final boolean[] areBeginnings;

  private NamePatterns(List<String> patterns) {
    this.patterns = patterns;
    this.names = new byte[patterns.size()][];
    this.areBeginnings = new boolean[patterns.size()];
    for (int i = 0; i < names.length; i++) {
      String pattern = patterns.get(i);
      areBeginnings[i] = pattern.endsWith("*");
      int length = pattern.length() - (areBeginnings[i] ? 1 : 0);
      names[i] = pattern.substring(0, length).getBytes(StandardCharsets.UTF_8);
    }
  }

  /** Patterns such as {@code session} and {@code utm_*}; case matters. */
  public static NamePatterns of(List<String> patterns) {
    return new NamePatterns(List.copyOf(patterns));
  }

  public boolean isEmpty() {
    return patterns.isEmpty();
  }

  /** As they were listed. */
  public List<String> patterns() {
    return patterns;
  }

  /** Whether one of them is the name in {@code [start, end)}. Makes no garbage. */
  boolean match(byte[] octets, int start, int end) {
    for (int i = 0; i < names.length; i++) {
      int nameEnd = start + names[i].length;
      if ((nameEnd == end || (nameEnd < end && areBeginnings[i]))
          && Arrays.equals(octets, start, nameEnd, names[i], 0, names[i].length)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof NamePatterns that && patterns.equals(that.patterns);
  }

  @Override
  public int hashCode() {
    return patterns.hashCode();
  }

  @Override
  public String toString() {
    return patterns.toString();
  }
}
