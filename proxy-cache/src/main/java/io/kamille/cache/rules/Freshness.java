package io.kamille.cache.rules;

import static io.kamille.cache.rules.CacheControl.ABSENT;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.HttpDate;
import io.kamille.core.http.ResponseHead;
import java.util.List;

/**
 * How long a response may be used without validation, and how we know (RFC 9111 §4.2).
 *
 * @param lifetimeSeconds {@code freshness_lifetime}; 0 if there is no source
 */
public record Freshness(int lifetimeSeconds, Source source) {

  /*
   * Sources are tried in the order of §4.2.1: s-maxage, max-age, Expires minus Date, then what the
   * operator gives this status code or every response, or a guess. A source that is present but
   * makes no sense means "already stale"; the next one is not tried. Without a Last-Modified date
   * there is nothing to guess from. Directives targeted at us put Expires out of force (RFC 9213
   * §2.2).
   *
   * An operator who knows better than the origin gives a lifetime that stands in place of all that
   * the origin says. It holds for no error: an error kept as long as a page outlasts its cause.
   */

  /** Where a lifetime comes from. */
  public enum Source {
    S_MAXAGE("s-maxage", "RFC 9111 §5.2.2.10"),
    MAX_AGE("max-age", "RFC 9111 §5.2.2.1"),
    EXPIRES("expires", "RFC 9111 §5.3"),
    /** The route's, in place of what the origin says. */
    OVERRIDE("ttl-override", "setting routes[].cache.ttl"),
    /** The route's for this status code. */
    STATUS("status-ttl", "setting routes[].cache.status-ttl"),
    /** The route's default. */
    DEFAULT("default-ttl", "setting routes[].cache.default-ttl"),
    /** Guessed from the last-modified date (§4.2.2). */
    HEURISTIC("heuristic", "RFC 9111 §4.2.2"),
    NONE("none", "RFC 9111 §4.2.1");

    private final String token;
    private final String section;

    Source(String token, String section) {
      this.token = token;
      this.section = section;
    }

    /** A token for people and programs: the directive, the field, or what stands in for them. */
    public String token() {
      return token;
    }

    /** Where it stands. */
    public String section() {
      return section;
    }

    /** Whether the lifetime is hardly ever that of another response, being counted from a date. */
    boolean isOfOne() {
      return this == EXPIRES || this == HEURISTIC;
    }

    /** Whether the origin said so (§4.2.1). */
    public boolean isExplicit() {
      return this == S_MAXAGE || this == MAX_AGE || this == EXPIRES;
    }

    /**
     * A token for the {@code detail} of {@code Cache-Status} (RFC 9211 §2.8) if an operator's
     * setting gave the lifetime, else empty.
     */
    public String detail() {
      return this == OVERRIDE || this == STATUS || this == DEFAULT ? token : "";
    }
  }

  /*
   * A guess is one tenth of the time since the last modification, as §4.2.2 suggests, for at most
   * a day: beyond that, a wrong guess costs more than the request it saves.
   */
  private static final int GUESS_DIVISOR = 10;
  private static final int GUESS_LIMIT_SECONDS = 86_400;

  private static final Freshness UNKNOWN = new Freshness(0, Source.NONE);

  /**
   * The lifetime of this response for a shared cache.
   *
   * @param responseTime when it was received, in epoch seconds
   */
  public static Freshness of(
      ResponseHead head, CacheControl control, CachePolicy policy, long responseTime) {
    Freshness said = explicit(head, control, responseTime);
    int ofStatus = policy.ofStatus().secondsOf(head.status());
    if (!said.source().isExplicit() && ofStatus != ABSENT) {
      return new Freshness(ofStatus, Source.STATUS);
    }
    boolean isCacheable = isHeuristicallyCacheable(head.status()) || control.has(Directive.PUBLIC);
    if (!said.source().isExplicit() && !isCacheable) {
      return UNKNOWN;
    }
    if (policy.ttlSeconds() != ABSENT && head.status() < 400) {
      return new Freshness(policy.ttlSeconds(), Source.OVERRIDE);
    }
    return said.source().isExplicit() ? said : unsaid(head, policy, responseTime);
  }

  private static Freshness explicit(ResponseHead head, CacheControl control, long responseTime) {
    if (control.seconds(Directive.S_MAXAGE) != ABSENT) {
      return new Freshness(control.seconds(Directive.S_MAXAGE), Source.S_MAXAGE);
    }
    if (control.seconds(Directive.MAX_AGE) != ABSENT) {
      return new Freshness(control.seconds(Directive.MAX_AGE), Source.MAX_AGE);
    }
    return head.has(FieldName.EXPIRES) && !control.isTargeted()
        ? new Freshness(untilExpires(head.fields(), responseTime), Source.EXPIRES)
        : UNKNOWN;
  }

  private static Freshness unsaid(ResponseHead head, CachePolicy policy, long responseTime) {
    if (policy.defaultSeconds() != ABSENT) {
      return new Freshness(policy.defaultSeconds(), Source.DEFAULT);
    }
    return head.has(FieldName.LAST_MODIFIED)
        ? new Freshness(guess(head.fields(), responseTime), Source.HEURISTIC)
        : UNKNOWN;
  }

  /** Whether a lifetime may be guessed for a response with this status code (RFC 9110 §15.1). */
  public static boolean isHeuristicallyCacheable(int status) {
    return switch (status) {
      case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501 -> true;
      default -> false;
    };
  }

  /** Several equal lines are one; lines that differ, or no date, mean the past (§4.2.1, §5.3). */
  private static int untilExpires(Fields fields, long responseTime) {
    List<String> values = fields.all(FieldName.EXPIRES);
    String first = values.getFirst();
    long expires = HttpDate.parse(first, responseTime);
    if (expires == HttpDate.INVALID || !values.stream().allMatch(first::equals)) {
      return 0;
    }
    return saturated(expires - CurrentAge.dateValue(fields, responseTime));
  }

  private static int guess(Fields fields, long responseTime) {
    long lastModified = HttpDate.parse(fields.first(FieldName.LAST_MODIFIED), responseTime);
    if (lastModified == HttpDate.INVALID) {
      return 0;
    }
    long since = CurrentAge.dateValue(fields, responseTime) - lastModified;
    return Math.min(saturated(since / GUESS_DIVISOR), GUESS_LIMIT_SECONDS);
  }

  private static int saturated(long seconds) {
    return Math.clamp(seconds, 0, Integer.MAX_VALUE);
  }
}
