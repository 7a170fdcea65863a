package io.kamille.cache.key;

import io.kamille.core.http.Octets;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Names that an operator lists, each exact or, with a star at its end, the beginning of names.
 * Immutable; any thread.
 */
public final class NamePatterns {

  public static final NamePatterns NONE = of(List.of());

  private final List<String> patterns;
  private final byte[][] exact;
  private final byte[][] beginnings;

  private NamePatterns(List<String> patterns) {
    this.patterns = patterns;
    this.exact = octets(patterns, false);
    this.beginnings = octets(patterns, true);
  }

  /** Patterns such as {@code session} and {@code utm_*}; case matters. */
  public static NamePatterns of(List<String> patterns) {
    return new NamePatterns(List.copyOf(patterns));
  }

  private static byte[][] octets(List<String> patterns, boolean areBeginnings) {
    return patterns.stream()
        .filter(pattern -> pattern.endsWith("*") == areBeginnings)
        .map(pattern -> areBeginnings ? pattern.substring(0, pattern.length() - 1) : pattern)
        .map(name -> name.getBytes(StandardCharsets.UTF_8))
        .toArray(byte[][]::new);
  }

  public boolean isEmpty() {
    return patterns.isEmpty();
  }

  /** Whether one of them is the name in {@code [start, end)}. Makes no garbage. */
  boolean match(byte[] octets, int start, int end) {
    return match(octets, start, end, false);
  }

  /**
   * As {@link #match}, but for {@link #loose} octets.
   */
  public boolean matchLoosely(byte[] octets, int start, int end) {
    return match(octets, start, end, true);
  }

  private boolean match(byte[] octets, int start, int end, boolean isLoose) {
    for (byte[] name : exact) {
      if (end - start == name.length && beginsWith(octets, start, name, isLoose)) {
        return true;
      }
    }
    for (byte[] name : beginnings) {
      if (end - start >= name.length && beginsWith(octets, start, name, isLoose)) {
        return true;
      }
    }
    return false;
  }

  private static boolean beginsWith(byte[] octets, int start, byte[] name, boolean isLoose) {
    for (int i = 0; i < name.length; i++) {
      byte octet = octets[start + i];
      if (octet != name[i] && !(isLoose && loose(octet) == loose(name[i]))) {
        return false;
      }
    }
    return true;
  }

  /** In lower case; what PHP turns into an underscore in names is one. */
  public static byte loose(byte octet) {
    return switch (octet) {
      case '.', ' ', '[', '+' -> '_';
      default -> Octets.lower(octet);
    };
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
