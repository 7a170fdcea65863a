package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The cache directives of one message (RFC 9111 §5.2): all its {@code Cache-Control} lines, read
 * the way a shared cache must. Immutable; any thread.
 *
 * <p>Whatever is malformed, contradictory or said twice is read so that less is stored and less is
 * reused; nothing a peer sends makes parsing fail. {@link CacheControlParser} holds the reading
 * rules.
 */
public final class CacheControl {

  /** The value of a delta that the message does not give. */
  public static final int ABSENT = -1;

  private static final int[] NOTHING_SAID = new int[Directive.DELTAS];

  static {
    Arrays.fill(NOTHING_SAID, ABSENT);
  }

  /** No directives at all. */
  public static final CacheControl NONE = new CacheControlParser().finish();

  private static final CacheControl PRAGMA_NO_CACHE = parse("no-cache");

  static final int TARGETED = 1 << 30;
  private static final int CUT_OFF = 1 << 29;

  private static final long OF_RESPONSE =
      Fields.mask(FieldName.CACHE_CONTROL, FieldName.CDN_CACHE_CONTROL);

  /** What has been read of a message's cache directives so far. For one thread and one use. */
  static final class Directives {

    /** A bit for each directive without a value ({@link Directive#bit}). */
    int flags;

    /** By the numbers of their directives. */
    int[] seconds = NOTHING_SAID.clone();

    Map<Directive, List<String>> fields = Map.of();

    void add(Directive directive) {
      flags |= directive.bit();
    }

    /** The fields that a directive names. */
    void name(Directive directive, List<String> names) {
      Map<Directive, List<String>> more = new EnumMap<>(Directive.class);
      more.putAll(fields);
      more.put(directive, List.copyOf(names));
      fields = more;
    }

    List<String> fields(Directive directive) {
      return fields.getOrDefault(directive, List.of());
    }

    /**
     * Adds the field names of a list, as the argument of no-cache and private has it (RFC 9111
     * §5.2.2.4), in lower case.
     *
     * @return whether there was one at least, and nothing else
     */
    static boolean readNames(String list, List<String> names) {
      int sizeBefore = names.size();
      for (String element : list.split(",", -1)) {
        String name = element.strip();
        if (Octets.isToken(name)) {
          names.add(name.toLowerCase(Locale.ROOT));
        } else if (!name.isEmpty()) {
          return false;
        }
      }
      return names.size() > sizeBefore;
    }
  }

  /** For tests that compare all of it; nobody changes it. */
  final Directives said;

  /** What was read, which nobody changes any more. */
  CacheControl(Directives said) {
    this.said = said;
  }

  /**
   * The directives of a response, of {@code CDN-Cache-Control} if it is there and valid, else of
   * {@code Cache-Control} (RFC 9213 §2.2); {@link #NONE}, without garbage, if it has none.
   */
  public static CacheControl ofResponse(Fields fields) {
    if (!fields.hasAny(OF_RESPONSE)) {
      return NONE;
    }
    CacheControl targeted = TargetedCacheControl.parse(fields);
    return targeted == null ? parse(fields) : targeted;
  }

  /**
   * The directives of a request; {@link #NONE}, without garbage, if it has none. {@code Pragma:
   * no-cache} counts when there is no {@code Cache-Control} (§5.4).
   */
  public static CacheControl ofRequest(Fields fields) {
    if (fields.has(FieldName.CACHE_CONTROL)) {
      return parse(fields);
    }
    if (fields.has(FieldName.PRAGMA)) {
      String pragma = fields.joined(FieldName.PRAGMA);
      return pragma != null && parse(pragma).has(Directive.NO_CACHE) ? PRAGMA_NO_CACHE : NONE;
    }
    return NONE;
  }

  /** The directives of one field value. */
  public static CacheControl parse(String value) {
    byte[] octets = Fields.octetsOf(value);
    CacheControlParser parser = new CacheControlParser();
    parser.line(octets, 0, octets.length);
    return parser.finish();
  }

  private static CacheControl parse(Fields fields) {
    CacheControlParser parser = new CacheControlParser();
    for (int i = fields.indexOf(FieldName.CACHE_CONTROL);
        i >= 0;
        i = fields.indexOf(FieldName.CACHE_CONTROL, i + 1)) {
      parser.line(fields.octets(), fields.valueStart(i), fields.valueEnd(i));
    }
    return parser.finish();
  }

  /**
   * The same demands, and that nothing stored is used unvalidated: this node may have missed a
   * purge.
   */
  public CacheControl whileCutOff() {
    Directives more = new Directives();
    more.flags = said.flags | Directive.NO_CACHE.bit() | CUT_OFF;
    more.seconds = said.seconds;
    return new CacheControl(more);
  }

  /** Whether {@link #whileCutOff} made it. */
  public boolean isCutOff() {
    return (said.flags & CUT_OFF) != 0;
  }

  /** Whether these are for us in particular, so that {@code Expires} is ignored (RFC 9213 §2.2). */
  public boolean isTargeted() {
    return (said.flags & TARGETED) != 0;
  }

  /** Whether it says so, for all of the message. */
  public boolean has(Directive directive) {
    return (said.flags & directive.bit()) != 0;
  }

  /** What it gives for a directive with seconds, or {@link #ABSENT}. */
  public int seconds(Directive directive) {
    return said.seconds[directive.ordinal()];
  }

  /**
   * The fields, in lower case, that {@code no-cache} keeps from reuse (§5.2.2.4), or {@code
   * private} from a shared cache (§5.2.2.7).
   */
  public List<String> fields(Directive directive) {
    return said.fields(directive);
  }
}
