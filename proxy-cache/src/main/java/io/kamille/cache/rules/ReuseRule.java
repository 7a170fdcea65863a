package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * The rule that settles what becomes of a request: the first that is met (RFC 9111 §4). Decisions
 * and explanations are made of it. Pure; any thread; makes no garbage.
 */
public enum ReuseRule {
  METHOD("method", "RFC 9111 §4", "only GET and HEAD are answered from the store"),
  CONTENT("request-content", "RFC 9110 §9.3.1", "the request has content, which no key covers"),
  UPGRADE("upgrade", "RFC 9110 §7.8", "the request asks for another protocol"),
  CONNECTION(
      "connection-option", "RFC 9110 §7.6.1", "a field is for the connection, not for the origin"),
  COOKIE("cookie", "routes[].cache.bypass-cookies", "requests with it are not looked up"),
  UNCLEAR_COOKIE("cookie", "routes[].cache.vary-by", "what it selects is unclear"),
  IDENTITY_REFUSED("identity-refused", "RFC 9110 §12.5.3", "no stored coding is acceptable"),
  NOTHING_STORED("uri-miss", "RFC 9111 §4", "nothing is stored under the key"),
  NO_VARIANT("vary-miss", "RFC 9111 §4.1", "what is stored was selected by other request fields"),
  ORIGIN_JUDGES("precondition", "RFC 9111 §4.3.2", "the condition is for the origin to judge"),
  REQUEST_NO_STORE("request-no-store", "RFC 9111 §5.2.1.5", "the client wants nothing stored"),
  REQUEST_NO_CACHE("request-no-cache", "RFC 9111 §5.2.1.4", "the client wants it validated"),
  REQUEST_MAX_AGE("request-max-age", "RFC 9111 §5.2.1.1", "it is older than the client wants"),
  REQUEST_MIN_FRESH("request-min-fresh", "RFC 9111 §5.2.1.3", "it is not fresh for long enough"),
  FRESH("fresh", "RFC 9111 §4.2", "it is fresh"),
  MAX_STALE("request-max-stale", "RFC 9111 §5.2.1.2", "the client takes it stale"),
  STALE_WHILE_REVALIDATE(
      "stale-while-revalidate", "RFC 5861 §3", "it may be used while it is validated"),
  NO_CACHE("no-cache", "RFC 9111 §5.2.2.4", "it is validated before every use"),
  STALE("stale", "RFC 9111 §4.2.4", "it is stale, and nothing allows to use it so");

  /*
   * The request's directives are read once, by whoever asks. They are looked at first, then the
   * stored response, then what they make of its age.
   *
   * If-Match and If-Unmodified-Since are for the origin to judge (§4.3.2), so a request with one of
   * them is not answered from the store.
   */
  /** Without these, GET and HEAD never pass the cache by. */
  private static final long BYPASSING =
      Fields.mask(
          FieldName.CONTENT_LENGTH,
          FieldName.TRANSFER_ENCODING,
          FieldName.UPGRADE,
          FieldName.CONNECTION);

  private static final long JUDGED_BY_ORIGIN =
      Fields.mask(FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE);

  private final String token;
  private final String section;
  private final String clause;

  ReuseRule(String token, String section, String clause) {
    this.token = token;
    this.section = section;
    this.clause = clause;
  }

  /** A token for programs. */
  public String token() {
    return token;
  }

  /** Where it stands. */
  public String section() {
    return section;
  }

  /** The rule in one clause, for people. */
  public String clause() {
    return clause;
  }

  /**
   * Why this request bypasses the cache, neither answered nor stored nor collapsed; null if the
   * cache has a say. Decided without a look into the store.
   */
  public static @Nullable ReuseRule ofBypass(RequestHead request) {
    if (request.method() != Method.GET && request.method() != Method.HEAD) {
      return METHOD;
    }
    Fields fields = request.fields();
    if (!fields.hasAny(BYPASSING)) {
      return null;
    }
    if (Storability.hasContent(fields)) {
      return CONTENT;
    }
    if (isUpgrade(fields)) {
      return UPGRADE;
    }
    return ConnectionOptions.hideFields(fields) ? CONNECTION : null;
  }

  private static boolean isUpgrade(Fields request) {
    int index = request.indexOf(FieldName.UPGRADE);
    return index >= 0
        && !Octets.equalsIgnoreCase(
            request.octets(), request.valueStart(index), request.valueEnd(index), "h2c");
  }

  /**
   * The rule for a request that some stored response was selected for and that does not {@linkplain
   * #ofBypass pass by}.
   *
   * @param demands the request's directives
   * @param stored the facts of the response that key and selecting fields choose (§4.1)
   */
  public static ReuseRule of(
      RequestHead request, CacheControl demands, StoredFacts stored, long nowEpochSeconds) {
    if (request.fields().hasAny(JUDGED_BY_ORIGIN)) {
      return ORIGIN_JUDGES;
    }
    if (demands.has(Directive.NO_STORE)) {
      return REQUEST_NO_STORE;
    }
    if (demands.has(Directive.NO_CACHE)) {
      return REQUEST_NO_CACHE;
    }
    if (isTooOld(stored, demands, nowEpochSeconds)) {
      return REQUEST_MAX_AGE;
    }
    boolean isFresh = stored.isFresh(nowEpochSeconds);
    if (isFresh && !stored.isValidatedAlways()) {
      boolean isEnough = stored.ttlSeconds(nowEpochSeconds) >= demands.seconds(Directive.MIN_FRESH);
      return isEnough ? FRESH : REQUEST_MIN_FRESH;
    }
    boolean takesStale = !isFresh && stored.mayServeStaleTo(demands, nowEpochSeconds);
    boolean demandsFresh =
        demands.seconds(Directive.MAX_AGE) >= 0 || demands.seconds(Directive.MIN_FRESH) >= 0;
    if (stored.mayServeWhileRevalidating(nowEpochSeconds) && (takesStale || !demandsFresh)) {
      return STALE_WHILE_REVALIDATE;
    }
    if (takesStale) {
      return MAX_STALE;
    }
    return stored.isValidatedAlways() ? NO_CACHE : STALE;
  }

  /**
   * Older than the client's max-age (§5.2.1.1). What is immutable and fresh is not asked about for
   * that: browsers send max-age=0 with every reload (RFC 8246 §2).
   */
  private static boolean isTooOld(StoredFacts stored, CacheControl control, long now) {
    if (stored.rules().isImmutable() && stored.isFresh(now)) {
      return false;
    }
    return control.seconds(Directive.MAX_AGE) != CacheControl.ABSENT
        && stored.ageSeconds(now) > control.seconds(Directive.MAX_AGE);
  }

  /**
   * What the rule comes to. Where no validator is stored, the whole is asked for; the stored
   * response may still serve {@linkplain StoredFacts#mayServeOnError in place of an error}.
   *
   * @param demands the request's directives
   * @param stored what was selected, if anything was
   */
  public Decision decision(CacheControl demands, @Nullable StoredFacts stored) {
    return switch (this) {
      case METHOD -> Decision.PASS;
      case FRESH, MAX_STALE -> Decision.SERVE;
      case STALE_WHILE_REVALIDATE -> Decision.SERVE_STALE;
      default -> demands.has(Directive.ONLY_IF_CACHED) ? Decision.REFUSE : asked(stored);
    };
  }

  private Decision asked(@Nullable StoredFacts stored) {
    return switch (this) {
      case CONTENT, UPGRADE, CONNECTION, COOKIE, UNCLEAR_COOKIE, IDENTITY_REFUSED -> Decision.PASS;
      case STALE, NO_CACHE, REQUEST_NO_CACHE, REQUEST_MAX_AGE, REQUEST_MIN_FRESH ->
          stored != null && stored.hasValidator() ? Decision.VALIDATE : Decision.FORWARD;
      default -> Decision.FORWARD;
    };
  }

  /** Why a request goes toward the origin that the rule does not answer. */
  public ForwardReason forward(boolean isFresh) {
    return switch (this) {
      case METHOD -> ForwardReason.METHOD;
      case CONTENT, UPGRADE, CONNECTION, COOKIE, UNCLEAR_COOKIE, IDENTITY_REFUSED ->
          ForwardReason.BYPASS;
      case NOTHING_STORED -> ForwardReason.URI_MISS;
      case NO_VARIANT -> ForwardReason.VARY_MISS;
      case ORIGIN_JUDGES, REQUEST_NO_STORE -> ForwardReason.REQUEST;
      case REQUEST_NO_CACHE, REQUEST_MAX_AGE, REQUEST_MIN_FRESH ->
          isFresh ? ForwardReason.REQUEST : ForwardReason.STALE;
      case FRESH, MAX_STALE, STALE_WHILE_REVALIDATE, NO_CACHE, STALE -> ForwardReason.STALE;
    };
  }
}
