package io.kamille.perf.load;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the origin is to answer, said by the target of the request, so that whoever asks knows the
 * answer too: {@code /made/17?length=4500&think=300}. Immutable.
 */
public final class OriginTarget {

  /** What can be said about an answer. */
  public enum Trait {
    /** The length of the content in octets. */
    LENGTH(0),
    /** Seconds for which the response is fresh; 0 says that it must not be stored. */
    FRESH(3600),
    /** Milliseconds from the request to the first octet of the response. */
    THINK(0),
    /** Octets of content per second; 0 for as many as are taken. */
    DRIP(0),
    /** How many requests the origin answers on a connection that begins so; 0 for any number. */
    USES(0);

    private final int usual;

    Trait(int usual) {
      this.usual = usual;
    }
  }

  private static final Pattern TARGET = Pattern.compile("/made/(\\d+)((?:[?&][a-z]+=\\d+)*)");
  static final String PREFIX = "/made/";

  private final long object;
  private final Map<Trait, Integer> traits;

  private OriginTarget(long object, Map<Trait, Integer> traits) {
    this.object = object;
    this.traits = traits;
  }

  /** An object that may be stored for an hour, never changes and comes at once. */
  public static OriginTarget of(long object, int length) {
    return new OriginTarget(object, new EnumMap<>(Trait.class)).with(Trait.LENGTH, length);
  }

  /** The same, but for one trait. */
  public OriginTarget with(Trait trait, int value) {
    var changed = new EnumMap<Trait, Integer>(Trait.class);
    changed.putAll(traits);
    changed.put(trait, value);
    return new OriginTarget(object, changed);
  }

  /** The target in origin form; what is as usual is left out. */
  public String text() {
    var text = new StringBuilder(PREFIX).append(object);
    char before = '?';
    for (Trait trait : Trait.values()) {
      if (of(trait) != trait.usual) {
        text.append(before)
            .append(trait.name().toLowerCase(Locale.ROOT))
            .append('=')
            .append(of(trait));
        before = '&';
      }
    }
    return text.toString();
  }

  /**
   * Reads a target in origin form.
   *
   * @throws IllegalArgumentException if it is not one of ours
   */
  static OriginTarget parse(String text) {
    Matcher target = TARGET.matcher(text);
    if (!target.matches()) {
      throw new IllegalArgumentException("target: " + text + " (expected: " + PREFIX + "…)");
    }
    var parsed = new OriginTarget(Long.parseLong(target.group(1)), new EnumMap<>(Trait.class));
    for (String pair : target.group(2).split("[?&]", -1)) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        Trait trait = Trait.valueOf(pair.substring(0, equals).toUpperCase(Locale.ROOT));
        parsed.traits.put(trait, Integer.parseInt(pair.substring(equals + 1)));
      }
    }
    return parsed;
  }

  /** Which object it is. */
  public long object() {
    return object;
  }

  /** The length of the content in octets. */
  public int length() {
    return of(Trait.LENGTH);
  }

  /** One trait. */
  public int of(Trait trait) {
    return traits.getOrDefault(trait, trait.usual);
  }
}
