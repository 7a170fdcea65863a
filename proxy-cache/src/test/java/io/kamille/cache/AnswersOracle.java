package io.kamille.cache;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a shared cache must do with one resource, written from RFC 9110, 9111 and 5861. It uses no
 * class of the cache. Times are in seconds; names of fields are in lower case.
 */
final class AnswersOracle {

  /** What a client wants. */
  record Request(String method, Map<String, String> fields) {

    @Nullable String field(String name) {
      return fields.get(name);
    }

    boolean says(String directive) {
      return has(fields, directive);
    }

    boolean isHead() {
      return method.equals("HEAD");
    }

    /** The one that validates without a client (RFC 5861 §3). */
    Request inBackground() {
      Map<String, String> own = new HashMap<>(fields);
      List.of("cache-control", "if-none-match", "range").forEach(own::remove);
      return new Request("GET", own);
    }
  }

  /** What an origin says, or a client gets. A head without content has the content of GET. */
  record Response(int status, Map<String, String> fields, String content, boolean isWhole) {

    @Nullable String tag() {
      return fields.get("etag");
    }
  }

  /** A response in the store. */
  static final class Stored {
    Response response;
    String selectedBy;
    long received;
    long lifetime;
    long whileRevalidate;
    long ifError;
    long maxStale = Long.MAX_VALUE;
    boolean isAlwaysValidated;

    Stored(Response response, String selectedBy) {
      this.response = response;
      this.selectedBy = selectedBy;
    }

    long ttl(long now) {
      return lifetime - (now - received);
    }

    boolean isFresh(long now) {
      return ttl(now) > 0;
    }

    boolean mayServeWhileRevalidating(long now) {
      return whileRevalidate > 0 && -ttl(now) < whileRevalidate;
    }

    boolean mayServeOnError(long now) {
      return ifError > 0 && -ttl(now) < ifError;
    }

    /** No error, and of use without a validation (9111 §4.2.4). */
    boolean isGood(long now) {
      boolean isUsable =
          (isFresh(now) && !isAlwaysValidated)
              || mayServeWhileRevalidating(now)
              || mayServeOnError(now);
      return isUsable && isOfResource(response.status);
    }
  }

  /** What becomes of a request before anything is forwarded. */
  enum Plan {
    SERVE,
    SERVE_STALE,
    ASK,
    PASS,
    REFUSE
  }

  private final int maxContent;
  private final int ofServerErrors;
  private final int whileRevalidateUnsaid;
  final List<Stored> store = new ArrayList<>();

  /** With limits that an operator sets: 0 for none. */
  AnswersOracle(int maxContent, int ofServerErrors, int whileRevalidateUnsaid) {
    this.maxContent = maxContent;
    this.ofServerErrors = ofServerErrors;
    this.whileRevalidateUnsaid = whileRevalidateUnsaid;
  }

  // Before the origin is asked

  /**
   * §4.1: the most recent of those that match; one that varies and is fresh before one that does
   * not.
   */
  @Nullable Stored select(Request request, long now) {
    Stored selected = null;
    for (int i = store.size() - 1; i >= 0; i--) {
      Stored candidate = store.get(i);
      boolean isChallenge =
          candidate.response.status == 401 && request.field("authorization") != null;
      if (!isChallenge && matches(candidate, request)) {
        if (selected == null) {
          selected = candidate;
        } else if (selected.selectedBy.isEmpty()
            && !candidate.selectedBy.isEmpty()
            && candidate.isFresh(now)) {
          return candidate;
        }
      }
    }
    return selected;
  }

  /** §4, §5.2.1. */
  Plan plan(Request request, @Nullable Stored stored, long now) {
    Plan plan = stored == null ? Plan.ASK : planOf(request, stored, now);
    boolean isValidated = stored != null && stored.response.tag() != null;
    if (plan == Plan.ASK && request.field("range") != null && !isValidated) {
      plan = Plan.PASS;
    }
    boolean isForwarded = plan == Plan.ASK || plan == Plan.PASS;
    return isForwarded && request.says("only-if-cached") ? Plan.REFUSE : plan;
  }

  private static Plan planOf(Request request, Stored stored, long now) {
    if (request.says("no-store")) {
      return Plan.PASS;
    }
    boolean isTooOld = request.says("max-age=0") && now - stored.received > 0;
    if (request.says("no-cache") || isTooOld) {
      return Plan.ASK;
    }
    if (stored.isFresh(now) && !stored.isAlwaysValidated) {
      return Plan.SERVE;
    }
    boolean mayBeStale =
        !has(stored.response.fields, "must-revalidate") && !stored.isAlwaysValidated;
    boolean isTaken =
        mayBeStale
            && !stored.isFresh(now)
            && request.says("max-stale=15")
            && -stored.ttl(now) <= 15
            && -stored.ttl(now) < stored.maxStale;
    boolean wantsFresh = request.says("max-age=0");
    if (mayBeStale && stored.mayServeWhileRevalidating(now) && (isTaken || !wantsFresh)) {
      return Plan.SERVE_STALE;
    }
    return isTaken ? Plan.SERVE : Plan.ASK;
  }

  // What the origin's answer makes of the store and of the client's

  /** No answer at all (5861 §4); null if the client gets an error. */
  @Nullable Response failed(@Nullable Stored asked, long now) {
    return asked != null && asked.mayServeOnError(now) ? asked.response : null;
  }

  /**
   * The answer to a request that was forwarded.
   *
   * @param asked what the request selected
   * @param isValidation whether its validators were sent: a 304 is about it
   * @return what the client gets before its conditions and ranges are looked at, or null if that is
   *     the origin's answer
   */
  @Nullable Response answered(
      Request request, Response answer, @Nullable Stored asked, boolean isValidation, long now) {
    if (asked != null && isConfirmed(request, answer, asked, isValidation)) {
      for (Stored other : List.copyOf(store)) {
        boolean isAlike = hasTagOf(asked.response, other.response) && isAbout(answer, other);
        if (other != asked && isAlike && matches(other, request)) {
          freshen(request, other, answer, now);
        }
      }
      return freshen(request, asked, answer, now);
    }
    if (asked != null && isError(answer.status)) {
      Response standIn = failed(asked, now);
      if (standIn != null) {
        return standIn;
      }
    }
    boolean isShownUnsuitable = asked != null && isUnsuitable(request, answer, asked, now);
    boolean isStored = answer.isWhole && mayStore(request, answer) && !isKeptOut(answer, now);
    if (isStored) {
      store(request, answer, now);
    }
    boolean isSame = isStored && asked != null && hasTagOf(answer, asked.response);
    if (isShownUnsuitable && answer.isWhole && !isSame) {
      store.remove(asked);
    }
    return null;
  }

  /** §4.3.3, §4.3.5. */
  private static boolean isConfirmed(
      Request request, Response answer, Stored asked, boolean isValidation) {
    if (answer.status == 304) {
      return isValidation;
    }
    return request.isHead()
        && answer.status == 200
        && answer.tag() != null
        && isAbout(answer, asked);
  }

  /** §4.3.4, §4.3.5: whether an answer without content does not contradict what is stored. */
  private static boolean isAbout(Response answer, Stored stored) {
    boolean isAlike =
        answer.status == stored.response.status
            && (answer.tag() == null || hasTagOf(answer, stored.response))
            && answer.content.length() == stored.response.content.length();
    return answer.status == 304 || isAlike;
  }

  /**
   * §4.3.3: a full response shows that what was asked about is not suitable. One client must not be
   * able to remove what is fresh for all; errors of one request or of a server in trouble do not
   * count, nor what one who is authorized is told instead (§3.5).
   */
  private static boolean isUnsuitable(Request request, Response answer, Stored asked, long now) {
    boolean isOther = !request.isHead() || !isAbout(answer, asked);
    boolean isOld = !asked.isFresh(now) || asked.isAlwaysValidated;
    boolean isOfAll = answer.status >= 400 || request.field("authorization") == null;
    return isOther
        && (isOld || (request.isHead() && answer.status == 200))
        && isOfAll
        && isOfResource(answer.status)
        && answer.status != 206
        && answer.status != 304;
  }

  /** §3. */
  boolean mayStore(Request request, Response answer) {
    Map<String, String> fields = answer.fields;
    boolean isOfRequest = request.method.equals("GET") && !request.says("no-store");
    boolean isForbidden =
        has(fields, "no-store")
            || has(fields, "private")
            || "*".equals(fields.get("vary"))
            || fields.containsKey("set-cookie")
            || (request.field("authorization") != null && !has(fields, "must-revalidate"));
    boolean isFinal = answer.status != 206 && answer.status != 304 && answer.status != 416;
    boolean isMarked =
        List.of(200, 404, 410, 301).contains(answer.status)
            || lifetimeSaid(fields) >= 0
            || isOfOperator(answer);
    boolean isWorth = answer.tag() != null || lifetimeSaid(fields) > 0 || isOfOperator(answer);
    return isOfRequest
        && isFinal
        && !isForbidden
        && isMarked
        && isWorth
        && answer.content.length() <= maxContent;
  }

  private boolean isOfOperator(Response answer) {
    return ofServerErrors > 0 && answer.status >= 500;
  }

  /** An error that an operator gives a lifetime takes no good response's place (5861 §3, §4). */
  private boolean isKeptOut(Response answer, long now) {
    return !isOfResource(answer.status)
        && lifetimeSaid(answer.fields) < 0
        && store.stream().anyMatch(stored -> stored.isGood(now));
  }

  private void store(Request request, Response answer, long now) {
    String by = answer.fields.containsKey("vary") ? languageOf(request) : "";
    store.removeIf(stored -> stored.selectedBy.equals(by));
    Stored stored = new Stored(answer, by);
    date(stored, now);
    store.add(stored);
  }

  /** §4.2.1, §3.2, 5861. */
  void date(Stored stored, long now) {
    Map<String, String> fields = stored.response.fields;
    long said = lifetimeSaid(fields);
    stored.received = now;
    stored.lifetime = said >= 0 ? said : isOfOperator(stored.response) ? ofServerErrors : 0;
    stored.isAlwaysValidated = has(fields, "no-cache");
    boolean isStrict = stored.isAlwaysValidated || has(fields, "must-revalidate");
    long unsaid = stored.lifetime > 0 ? whileRevalidateUnsaid : 0;
    long window = number(fields, "stale-while-revalidate");
    stored.whileRevalidate = isStrict ? 0 : window >= 0 ? window : unsaid;
    stored.ifError = isStrict ? 0 : Math.max(0, number(fields, "stale-if-error"));
  }

  /** §4.3.4: the fields of the update take the place of those stored; the response is new again. */
  private Response freshen(Request request, Stored stored, Response update, long now) {
    Map<String, String> fields = new HashMap<>(stored.response.fields);
    fields.putAll(update.fields);
    Response fresh = new Response(stored.response.status, fields, stored.response.content, true);
    boolean mayStay = mayStore(new Request("GET", request.inBackground().fields), fresh);
    boolean isOfAll = request.field("authorization") == null;
    if ((mayStay || isOfAll) && store.remove(stored) && mayStay) {
      store(request, fresh, now);
    }
    return fresh;
  }

  // What the client gets of it

  /** 9110 §13.1.2, §14.2: conditions and ranges, judged by a cache that has the whole. */
  static Response judged(Request request, Response whole) {
    String condition = request.field("if-none-match");
    boolean isSuccess = whole.status >= 200 && whole.status < 300;
    if (isSuccess && condition != null && condition.equals(whole.tag())) {
      return new Response(304, whole.fields, "", true);
    }
    String range = request.field("range");
    if (range == null || request.isHead() || whole.status != 200) {
      return whole;
    }
    int first = Integer.parseInt(range.substring("bytes=".length(), range.indexOf('-')));
    return first < whole.content.length()
        ? new Response(206, whole.fields, whole.content.substring(first, first + 3), true)
        : new Response(416, whole.fields, "", true);
  }

  // Words

  static boolean isError(int status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
  }

  private static boolean isOfResource(int status) {
    return status < 400 || status == 404 || status == 410 || status == 451;
  }

  static boolean hasTagOf(Response one, Response other) {
    return one.tag() != null && one.tag().equals(other.tag());
  }

  static boolean matches(Stored stored, Request request) {
    return stored.selectedBy.isEmpty() || stored.selectedBy.equals(languageOf(request));
  }

  static String languageOf(Request request) {
    return "language " + request.fields.getOrDefault("accept-language", "none");
  }

  private static boolean has(Map<String, String> fields, String directive) {
    return List.of(fields.getOrDefault("cache-control", "").split(", ", -1)).contains(directive);
  }

  private static long lifetimeSaid(Map<String, String> fields) {
    return number(fields, "max-age");
  }

  private static long number(Map<String, String> fields, String directive) {
    for (String one : fields.getOrDefault("cache-control", "").split(", ", -1)) {
      if (one.startsWith(directive + "=")) {
        return Long.parseLong(one.substring(directive.length() + 1));
      }
    }
    return -1;
  }
}
