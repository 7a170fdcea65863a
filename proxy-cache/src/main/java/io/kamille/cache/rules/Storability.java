package io.kamille.cache.rules;

import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.Method;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.http.StatusCode;

/** Whether a response may be stored, and if not, by which rule (RFC 9111 §3). */
public enum Storability {
  STORABLE("", "it may be stored"),
  METHOD("method", "only responses to GET are stored"),
  REQUEST_CONTENT("request-content", "the request has content, which no cache key covers"),
  REQUEST_NO_STORE("request-no-store", "the request says no-store", "RFC 9111 §5.2.1.5"),
  STATUS_INTERIM("interim", "the status code is not final"),
  STATUS_PARTIAL("partial", "partial responses are not stored", "RFC 9111 §3.3"),
  STATUS_NOT_UNDERSTOOD("status", "the status code is not understood", "RFC 9111 §3, §5.2.2.3"),
  STATUS_CONDITIONAL(
      "conditional", "the status code answers a field that other requests lack", "RFC 9110 §15.5"),
  NO_STORE("no-store", "the response says no-store", "RFC 9111 §5.2.2.5"),
  PRIVATE("private", "the response is for one user", "RFC 9111 §5.2.2.7"),
  AUTHORIZATION(
      "authorization",
      "the request has Authorization or a client certificate, or its route has auth",
      "RFC 9111 §3.5"),
  NOT_CACHEABLE("not-cacheable", "neither status code nor directive allows it"),
  VARY_ALL("vary-star", "Vary: * never matches a request", "RFC 9111 §4.1"),
  SET_COOKIE("set-cookie", "it sets a cookie, and the route does not store such responses"),
  NO_LIFETIME("no-lifetime", "it is never fresh, or too old as it comes, and has no validator"),
  CLOCK(
      "no-lifetime",
      "its Date is as old as its lifetime, and it has no validator: the origin's clock is behind",
      "RFC 9111 §4.2.3"),

  // Of what the rules allow to store
  KEPT("earlier-kept", "it is an error, and the response that is stored may still be used"),
  TOO_LARGE("too-large", "it is larger than max-object-size allows"),
  NOT_ADMITTED("not-admitted", "it is too large for so few requests"),
  NO_MEMORY("no-memory", "there was no memory for it"),
  TOO_LONG("too-long", "it has more content than its length says");

  /*
   * The rules are those of §3 in its order; the first that refuses is the answer. Ours among them:
   * REQUEST_CONTENT, because content might select the response and the key does not cover it;
   * STATUS_CONDITIONAL, or one client's precondition, range or expectation could put an error in
   * the way of all; and those from VARY_ALL on, because what is never or only dangerously used is not worth its
   * memory.
   */

  private final String detail;
  private final String clause;
  private final String section;

  Storability(String detail, String clause, String section) {
    this.detail = detail;
    this.clause = clause;
    this.section = section;
  }

  Storability(String detail, String clause) {
    this(detail, clause, "RFC 9111 §3");
  }

  public boolean isStorable() {
    return this == STORABLE;
  }

  /**
   * Whether the next response to such a request will probably be refused as well: its own fields
   * refuse it, and its status code tells of the resource rather than of one request.
   */
  public boolean isLasting(int status) {
    return switch (this) {
      case NO_STORE, PRIVATE, NOT_CACHEABLE, VARY_ALL, SET_COOKIE, NO_LIFETIME, CLOCK ->
          isOfResource(status);
      default -> false;
    };
  }

  /**
   * Whether this status code tells of the resource, not of one request or of an origin in trouble.
   */
  public static boolean isOfResource(int status) {
    return status < 400 || status == StatusCode.NOT_FOUND || status == 410 || status == 451;
  }

  /** A token for the {@code detail} of {@code Cache-Status} (RFC 9211 §2.8); empty if storable. */
  public String detail() {
    return detail;
  }

  /** The rule in one clause, for people. */
  public String clause() {
    return clause;
  }

  /** Where it stands. */
  public String section() {
    return section;
  }

  /**
   * Whether this response to this request may be stored by a shared cache. Connection-specific
   * fields need not be gone yet.
   *
   * @param demands the request's directives
   * @param control the response's directives
   * @param responseTime when the response was received, in epoch seconds
   */
  public static Storability of(
      RequestHead request,
      CacheControl demands,
      ResponseHead response,
      CacheControl control,
      CachePolicy policy,
      long responseTime) {
    Storability ofRequest = of(request, demands);
    if (ofRequest != STORABLE) {
      return ofRequest;
    }
    return of(response, control, request.isAuthenticated(), policy, responseTime);
  }

  /** The same for a response whose request was one to store the response of. */
  static Storability of(
      ResponseHead response,
      CacheControl control,
      boolean isAuthorized,
      CachePolicy policy,
      long responseTime) {
    Storability byStatus = of(response.status(), control);
    if (byStatus != STORABLE) {
      return byStatus;
    }
    if (isAuthorized && !allowsAuthorized(control)) {
      return AUTHORIZATION;
    }
    if (!isMarkedCacheable(response, control, policy)) {
      return NOT_CACHEABLE;
    }
    return worth(response, control, policy, responseTime);
  }

  /** Whether any response to this request may be stored, as far as the request alone can tell. */
  public static Storability of(RequestHead request, CacheControl demands) {
    if (request.method() != Method.GET) {
      return METHOD;
    }
    if (hasContent(request.fields())) {
      return REQUEST_CONTENT;
    }
    return demands.has(Directive.NO_STORE) ? REQUEST_NO_STORE : STORABLE;
  }

  private static Storability of(int status, CacheControl control) {
    if (status < 200) {
      return STATUS_INTERIM;
    }
    if (status == StatusCode.PARTIAL_CONTENT) {
      return STATUS_PARTIAL;
    }
    if (status == StatusCode.NOT_MODIFIED
        || (control.has(Directive.MUST_UNDERSTAND) && !isUnderstood(status))) {
      return STATUS_NOT_UNDERSTOOD;
    }
    if (isConditional(status)) {
      return STATUS_CONDITIONAL;
    }
    if (control.has(Directive.NO_STORE) && !control.has(Directive.MUST_UNDERSTAND)) {
      return NO_STORE;
    }
    return control.has(Directive.PRIVATE) ? PRIVATE : STORABLE;
  }

  private static boolean isConditional(int status) {
    return status == StatusCode.PRECONDITION_FAILED
        || status == StatusCode.RANGE_NOT_SATISFIABLE
        || status == StatusCode.EXPECTATION_FAILED;
  }

  private static Storability worth(
      ResponseHead response, CacheControl control, CachePolicy policy, long responseTime) {
    if (SelectingFields.isAll(response.fields())) {
      return VARY_ALL;
    }
    if (response.has(FieldName.SET_COOKIE)
        && !policy.storesSetCookie()
        && !control.fields(Directive.NO_CACHE).contains("set-cookie")
        && !control.fields(Directive.PRIVATE).contains("set-cookie")) {
      return SET_COOKIE;
    }
    if (response.has(FieldName.ETAG) || response.has(FieldName.LAST_MODIFIED)) {
      return STORABLE;
    }
    Freshness freshness = Freshness.of(response, control, policy, responseTime);
    int lifetime = freshness.lifetimeSeconds();
    long staleUse =
        Math.max(
            policy.stale().whileRevalidateSeconds(control, freshness),
            policy.stale().ifErrorSeconds(control, freshness));
    int age = CurrentAge.correctedInitialAge(response.fields(), responseTime, responseTime);
    if (lifetime + staleUse > age) {
      return STORABLE;
    }
    boolean isAsItSays = lifetime + staleUse > CurrentAge.ageValue(response.fields());
    return isAsItSays ? CLOCK : NO_LIFETIME;
  }

  /** §3.5: the directives that let a shared cache reuse the response to an authorized request. */
  private static boolean allowsAuthorized(CacheControl control) {
    return control.has(Directive.PUBLIC)
        || control.has(Directive.MUST_REVALIDATE)
        || control.seconds(Directive.S_MAXAGE) != CacheControl.ABSENT;
  }

  /** The last rule of §3; an operator who names a status code allows it in the origin's place. */
  private static boolean isMarkedCacheable(
      ResponseHead response, CacheControl control, CachePolicy policy) {
    return control.has(Directive.PUBLIC)
        || (response.has(FieldName.EXPIRES) && !control.isTargeted())
        || control.seconds(Directive.MAX_AGE) != CacheControl.ABSENT
        || control.seconds(Directive.S_MAXAGE) != CacheControl.ABSENT
        || Freshness.isHeuristicallyCacheable(response.status())
        || policy.ofStatus().secondsOf(response.status()) != CacheControl.ABSENT;
  }

  /** The final status codes of RFC 9110 whose caching needs nothing more than what we do. */
  private static boolean isUnderstood(int status) {
    return switch (status) {
      case 200, 201, 202, 203, 204, 205 -> true;
      case 300, 301, 302, 303, 307, 308 -> true;
      case 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 413, 414, 415 -> true;
      case 421, 422, 426 -> true;
      case 500, 501, 502, 503, 504, 505 -> true;
      default -> false;
    };
  }

  /** Whether the request carries content, or says that it might (RFC 9112 §6). */
  static boolean hasContent(Fields request) {
    if (request.has(FieldName.TRANSFER_ENCODING)) {
      return true;
    }
    int index = request.indexOf(FieldName.CONTENT_LENGTH);
    return index >= 0
        && !Octets.equals(
            request.octets(), request.valueStart(index), request.valueEnd(index), "0");
  }
}
