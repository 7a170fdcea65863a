package io.kamille.cache.rules;

import io.kamille.cache.rules.ReusePlan.Answer;
import io.kamille.cache.rules.ReusePlan.Forward;
import io.kamille.cache.rules.ReusePlan.Validate;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Why {@link ReusePlanner} plans what it plans, step by step. Stateless; any thread; makes garbage.
 */
public final class Reasons {

  /*
   * The planner's own rule and plan are told, and the values it looked at; nothing is decided here.
   */
  private static final FieldName[] DEMANDS = {
    FieldName.CACHE_CONTROL,
    FieldName.PRAGMA,
    FieldName.IF_MATCH,
    FieldName.IF_UNMODIFIED_SINCE,
    FieldName.CONTENT_LENGTH,
    FieldName.TRANSFER_ENCODING,
    FieldName.UPGRADE
  };

  private final List<Reason> steps = new ArrayList<>();
  private final RequestHead request;

  private Reasons(RequestHead request) {
    this.request = request;
  }

  /** Why the request bypasses the cache; empty if it does not. */
  public static List<Reason> ofBypass(RequestHead request) {
    ReuseRule rule = ReusePlanner.bypassRule(request);
    if (rule == null) {
      return List.of();
    }
    Reasons reasons = new Reasons(request);
    String found =
        switch (rule) {
          case METHOD -> request.methodText();
          case CONNECTION -> lines(request, FieldName.CONNECTION);
          default -> reasons.demands();
        };
    reasons.settled(rule, found, "the request bypasses the cache");
    return reasons.steps;
  }

  /**
   * Why nothing stored answers the request, which does not pass by.
   *
   * @param isVariantMiss whether something is stored under the key, for other selecting fields
   */
  public static List<Reason> ofMiss(
      RequestHead request, CacheControl demands, boolean isVariantMiss) {
    Reasons reasons = new Reasons(request);
    ReusePlan plan = ReusePlanner.planMiss(demands, isVariantMiss);
    ReuseRule rule = isVariantMiss ? ReuseRule.NO_VARIANT : ReuseRule.NOTHING_STORED;
    reasons.settled(rule, "no response to use", "the origin is asked for the response");
    reasons.refusal(plan);
    return reasons.steps;
  }

  /**
   * Why the request, which does not pass by, is answered so or not with this stored response.
   *
   * @param hasForms whether there may be coded forms beside it
   */
  public static List<Reason> of(
      RequestHead request,
      CacheControl demands,
      StoredFacts stored,
      boolean hasForms,
      long nowEpochSeconds) {
    Reasons reasons = new Reasons(request);
    ReuseRule rule = ReusePlanner.rule(request, demands, stored, nowEpochSeconds);
    ReusePlan plan = ReusePlanner.plan(request, demands, stored, nowEpochSeconds);
    reasons.lifetime(stored.freshness());
    reasons.age(stored, nowEpochSeconds);
    reasons.settled(
        rule,
        reasons.foundBy(rule, stored, nowEpochSeconds),
        follows(ReusePlanner.planOf(rule, stored, nowEpochSeconds)));
    reasons.refusal(plan);
    if (!(plan instanceof Answer)) {
      reasons.asking(plan, demands, stored, nowEpochSeconds);
    } else if (plan != Answer.REFUSE) {
      reasons.serving(stored, hasForms);
    }
    return reasons.steps;
  }

  private void add(String rule, String section, String found, String so) {
    steps.add(new Reason(rule, section, found, so));
  }

  private void settled(ReuseRule rule, String found, String so) {
    add(rule.token(), rule.section(), found, rule.clause() + ": " + so);
  }

  private static String follows(ReusePlan plan) {
    return switch (plan) {
      case Answer.SERVE -> "it is used";
      case Answer.SERVE_STALE -> "it is used, stale";
      case Validate validate -> "the origin is asked whether it is still good";
      case Forward forward -> "the origin is asked for the response";
      case Answer.REFUSE -> "the response is 504 (Gateway Timeout)";
    };
  }

  // What is stored

  private void lifetime(Freshness freshness) {
    int seconds = freshness.lifetimeSeconds();
    String found =
        freshness.source() == Freshness.Source.NONE
            ? "nothing gives a lifetime"
            : freshness.source().token() + ": " + seconds + " s";
    add("lifetime", section(freshness.source()), found, "its lifetime is " + seconds + " s");
  }

  private static String section(Freshness.Source source) {
    return switch (source) {
      case S_MAXAGE -> "RFC 9111 §5.2.2.10";
      case MAX_AGE -> "RFC 9111 §5.2.2.1";
      case EXPIRES -> "RFC 9111 §5.3";
      case OVERRIDE -> "setting routes[].cache.ttl";
      case STATUS -> "setting routes[].cache.status-ttl";
      case DEFAULT -> "setting routes[].cache.default-ttl";
      case HEURISTIC -> "RFC 9111 §4.2.2";
      case NONE -> "RFC 9111 §4.2.1";
    };
  }

  private void age(StoredFacts stored, long now) {
    int age = stored.ageSeconds(now);
    int initial = stored.correctedInitialAge();
    int ttl = stored.ttlSeconds(now);
    add(
        "age",
        "RFC 9111 §4.2.3",
        age + " s: " + initial + " s when it came, " + (age - initial) + " s here",
        stored.isFresh(now) ? "fresh for " + ttl + " s more" : "stale for " + -ttl + " s");
  }

  private String foundBy(ReuseRule rule, StoredFacts stored, long now) {
    String age = "age " + stored.ageSeconds(now) + " s";
    String stale = "stale for " + -stored.ttlSeconds(now) + " s";
    return switch (rule) {
      case FRESH -> age + " < lifetime " + stored.freshness().lifetimeSeconds() + " s";
      case STALE ->
          age
              + " ≥ lifetime "
              + stored.freshness().lifetimeSeconds()
              + " s; "
              + staleUse(stored)
              + behind(demands());
      case NO_CACHE -> "the stored response says no-cache" + behind(demands());
      case STALE_WHILE_REVALIDATE ->
          stale + "; stale-while-revalidate=" + stored.rules().staleWhileRevalidateSeconds();
      case REQUEST_MAX_AGE -> age + behind(demands());
      case REQUEST_MIN_FRESH -> "ttl " + stored.ttlSeconds(now) + " s" + behind(demands());
      case MAX_STALE -> stale + behind(demands());
      default -> demands();
    };
  }

  private static String staleUse(StoredFacts stored) {
    if (stored.rules().isValidatedOnceStale()) {
      return "must-revalidate or proxy-revalidate forbids its use";
    }
    int seconds = stored.rules().staleWhileRevalidateSeconds();
    return seconds > 0 ? "stale-while-revalidate=" + seconds : "no stale-while-revalidate";
  }

  private static String behind(String found) {
    return found.isEmpty() ? "" : "; " + found;
  }

  /** The request fields that demand something, as they came. */
  private String demands() {
    return lines(request, DEMANDS);
  }

  /** Those fields of a request, as they came; empty if it has none of them. */
  public static String lines(RequestHead request, FieldName... names) {
    Fields fields = request.fields();
    return Stream.of(names)
        .filter(fields::has)
        .map(name -> name.text() + ": " + fields.joined(name))
        .collect(Collectors.joining("; "));
  }

  // What is done

  private void refusal(ReusePlan plan) {
    if (plan == Answer.REFUSE) {
      add("only-if-cached", "RFC 9111 §5.2.1.7", demands(), follows(plan));
    }
  }

  private void asking(ReusePlan plan, CacheControl demands, StoredFacts stored, long now) {
    String found = validators(stored);
    if (plan instanceof Validate) {
      add("validators", "RFC 9111 §4.3.1", found, "they go to the origin as conditions");
    } else if (!stored.hasValidator()) {
      add("validators", "RFC 9111 §4.3.1", "none", "the whole response is fetched");
    }
    if (stored.mayServeOnError(demands, now)) {
      add(
          "stale-if-error",
          "RFC 5861 §4",
          "stale-if-error",
          "if the origin fails now, it is used all the same");
    }
  }

  private static String validators(StoredFacts stored) {
    List<String> lines = new ArrayList<>();
    if (stored.entityTag() != null) {
      lines.add("ETag: " + stored.entityTag());
    }
    if (stored.lastModifiedText() != null) {
      lines.add("Last-Modified: " + stored.lastModifiedText());
    }
    return String.join("; ", lines);
  }

  private void serving(StoredFacts stored, boolean hasForms) {
    if (Preconditions.isNotModified(request, stored)) {
      String tags = lines(request, FieldName.IF_NONE_MATCH);
      add(
          "not-modified",
          tags.isEmpty() ? "RFC 9110 §13.1.3" : "RFC 9110 §13.1.2",
          tags.isEmpty() ? lines(request, FieldName.IF_MODIFIED_SINCE) : tags,
          "the client has it already: 304 (Not Modified)");
    } else if (Preconditions.allowsRange(request, stored, hasForms)) {
      add(
          "range",
          "RFC 9110 §14.2",
          lines(request, FieldName.RANGE),
          "the ranges are cut from what is stored");
    }
  }
}
