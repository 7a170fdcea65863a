package io.kamille.perf.load;

import java.util.EnumMap;
import java.util.Map;

/**
 * What the origin is to answer, said by the target of the request, so that whoever asks knows the
 * answer too: {@code /made/17?length=4500&think=300}. Immutable.
 */
public final class OriginTarget {

  /** What can be said about an answer. */
  public enum Trait {
    /** The length of the content in octets. */
    LENGTH("length", 0),
    /** Seconds for which the response is fresh; 0 says that it must not be stored. */
    FRESH("fresh", 3600),
    /** Milliseconds from the request to the first octet of the response. */
    THINK("think", 0),
    /** Octets of content per second; 0 for as many as are taken. */
    DRIP("drip", 0),
    /** How many requests the origin answers on a connection that begins so; 0 for any number. */
    USES("uses", 0);

    private final String text;
    private final int usual;

    Trait(String text, int usual) {
      this.text = text;
      this.usual = usual;
    }

    private static Trait named(String name) {
      for (Trait trait : values()) {
        if (trait.text.equals(name)) {
          return trait;
        }
      }
      throw new IllegalArgumentException("trait: " + name + " (expected: one of Trait)");
    }
  }

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
        text.append(before).append(trait.text).append('=').append(of(trait));
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
    if (!text.startsWith(PREFIX)) {
      throw new IllegalArgumentException("target: " + text + " (expected: " + PREFIX + "…)");
    }
    int query = text.indexOf('?');
    int end = query < 0 ? text.length() : query;
    var traits = new EnumMap<Trait, Integer>(Trait.class);
    for (int at = end + 1; at < text.length(); ) {
      int ampersand = text.indexOf('&', at);
      int next = ampersand < 0 ? text.length() : ampersand;
      int equals = text.indexOf('=', at);
      if (equals < 0 || equals > next) {
        throw new IllegalArgumentException("target: " + text + " (expected: name=value)");
      }
      traits.put(
          Trait.named(text.substring(at, equals)), Integer.parseInt(text, equals + 1, next, 10));
      at = next + 1;
    }
    return new OriginTarget(Long.parseLong(text, PREFIX.length(), end, 10), traits);
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
