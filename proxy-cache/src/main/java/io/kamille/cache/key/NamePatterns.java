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

  /** Whether one of them is the name in {@code [start, end)}. Makes no garbage. */
  boolean match(byte[] octets, int start, int end) {
    return match(octets, start, end, false);
  }

  /** As {@link #match}, but for {@link #loose} octets. */
  public boolean matchLoosely(byte[] octets, int start, int end) {
    return match(octets, start, end, true);
  }

  private boolean match(byte[] octets, int start, int end, boolean isLoose) {
    for (int i = 0; i < names.length; i++) {
      int more = end - start - names[i].length;
      if ((more == 0 || (more > 0 && areBeginnings[i]))
          && beginsWith(octets, start, names[i], isLoose)) {
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
