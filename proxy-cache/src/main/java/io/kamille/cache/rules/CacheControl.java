package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Octets;
import java.util.List;
import java.util.Locale;

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

  /** No directives at all. */
  public static final CacheControl NONE = new CacheControlParser().finish();

  private static final CacheControl PRAGMA_NO_CACHE = parse("no-cache");

  static final int NO_STORE = 1;
  static final int NO_CACHE = 1 << 1;
  static final int PRIVATE = 1 << 2;
  static final int PUBLIC = 1 << 3;
  static final int MUST_REVALIDATE = 1 << 4;
  static final int PROXY_REVALIDATE = 1 << 5;
  static final int MUST_UNDERSTAND = 1 << 6;
  static final int NO_TRANSFORM = 1 << 7;
  static final int IMMUTABLE = 1 << 8;
  static final int ONLY_IF_CACHED = 1 << 9;
  static final int TARGETED = 1 << 10;
  private static final int CUT_OFF = 1 << 11;

  private static final long OF_RESPONSE =
      Fields.mask(FieldName.CACHE_CONTROL, FieldName.CDN_CACHE_CONTROL);

  /** What has been read of a message's cache directives so far. For one thread and one use. */
  static final class Directives {

    /** A bit for each directive without a value, as {@link CacheControl} names them. */
    int flags;

    int maxAgeSeconds = ABSENT;
    int sMaxAgeSeconds = ABSENT;
    int staleWhileRevalidateSeconds = ABSENT;
    int staleIfErrorSeconds = ABSENT;
    int maxStaleSeconds = ABSENT;
    int minFreshSeconds = ABSENT;
    List<String> noCacheFields = List.of();
    List<String> privateFields = List.of();

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
      return pragma != null && parse(pragma).isNoCache() ? PRAGMA_NO_CACHE : NONE;
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
    more.flags = said.flags | NO_CACHE | CUT_OFF;
    more.maxAgeSeconds = said.maxAgeSeconds;
    more.maxStaleSeconds = said.maxStaleSeconds;
    more.minFreshSeconds = said.minFreshSeconds;
    more.staleIfErrorSeconds = said.staleIfErrorSeconds;
    return new CacheControl(more);
  }

  /** Whether {@link #whileCutOff} made it. */
  public boolean isCutOff() {
    return has(CUT_OFF);
  }

  // Both directions

  /** {@code no-store} (§5.2.1.5, §5.2.2.5). */
  public boolean isNoStore() {
    return has(NO_STORE);
  }

  /** {@code no-cache} without an argument we can honour (§5.2.1.4, §5.2.2.4). */
  public boolean isNoCache() {
    return has(NO_CACHE);
  }

  /** {@code no-transform} (§5.2.1.6, §5.2.2.6). */
  public boolean isNoTransform() {
    return has(NO_TRANSFORM);
  }

  /** {@code max-age} in seconds or {@link #ABSENT} (§5.2.1.1, §5.2.2.1). */
  public int maxAgeSeconds() {
    return said.maxAgeSeconds;
  }

  /** {@code stale-if-error} in seconds or {@link #ABSENT} (RFC 5861 §4). */
  public int staleIfErrorSeconds() {
    return said.staleIfErrorSeconds;
  }

  // Requests

  /** {@code max-stale} in seconds, the greatest int for any, or {@link #ABSENT} (§5.2.1.2). */
  public int maxStaleSeconds() {
    return said.maxStaleSeconds;
  }

  /** {@code min-fresh} in seconds or {@link #ABSENT} (§5.2.1.3). */
  public int minFreshSeconds() {
    return said.minFreshSeconds;
  }

  /** {@code only-if-cached} (§5.2.1.7). */
  public boolean isOnlyIfCached() {
    return has(ONLY_IF_CACHED);
  }

  // Responses

  /** Whether these are for us in particular, so that {@code Expires} is ignored (RFC 9213 §2.2). */
  public boolean isTargeted() {
    return has(TARGETED);
  }

  /** {@code s-maxage} in seconds or {@link #ABSENT} (§5.2.2.10). */
  public int sMaxAgeSeconds() {
    return said.sMaxAgeSeconds;
  }

  /** {@code stale-while-revalidate} in seconds or {@link #ABSENT} (RFC 5861 §3). */
  public int staleWhileRevalidateSeconds() {
    return said.staleWhileRevalidateSeconds;
  }

  /** {@code private} without an argument we can honour (§5.2.2.7). */
  public boolean isPrivate() {
    return has(PRIVATE);
  }

  /** {@code public} (§5.2.2.9). */
  public boolean isPublic() {
    return has(PUBLIC);
  }

  /** {@code must-revalidate} (§5.2.2.2). */
  public boolean isMustRevalidate() {
    return has(MUST_REVALIDATE);
  }

  /** {@code proxy-revalidate} (§5.2.2.8). */
  public boolean isProxyRevalidate() {
    return has(PROXY_REVALIDATE);
  }

  /** {@code must-understand} (§5.2.2.3). */
  public boolean isMustUnderstand() {
    return has(MUST_UNDERSTAND);
  }

  /** {@code immutable} (RFC 8246). */
  public boolean isImmutable() {
    return has(IMMUTABLE);
  }

  /** The fields, in lower case, that {@code no-cache} keeps from reuse (§5.2.2.4). */
  public List<String> noCacheFields() {
    return said.noCacheFields;
  }

  /** The fields, in lower case, that {@code private} keeps from a shared cache (§5.2.2.7). */
  public List<String> privateFields() {
    return said.privateFields;
  }

  private boolean has(int flag) {
    return (said.flags & flag) != 0;
  }
}
