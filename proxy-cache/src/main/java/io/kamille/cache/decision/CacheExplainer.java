package io.kamille.cache.decision;

import io.kamille.cache.decision.CacheDecision.Ask;
import io.kamille.cache.decision.CacheDecision.Ask.Way;
import io.kamille.cache.decision.CacheDecision.Pass;
import io.kamille.cache.decision.CacheDecision.Pass.Cause;
import io.kamille.cache.decision.CacheDecision.Refuse;
import io.kamille.cache.decision.CacheDecision.Serve;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.fill.Refusal;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.Freshness.Source;
import io.kamille.cache.rules.Preconditions;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.ReuseRule;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.serve.StoreServer;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.Store;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.cache.tiers.peak.TierMode;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.StatusCode;
import io.kamille.core.loop.WallClock;
import io.kamille.core.setting.TimeSpan;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One explanation in the making. Nothing is sent or stored. Any thread, one at a time. */
public final class CacheExplainer {

  /*
   * What becomes of the request is decided by what a real one asks (CacheDecisions), and the
   * decision has its rule. Here both are told, with the values that they saw.
   */
  private static final String IS_ON_ITS_WAY = "a request for the key is on its way";

  private static final FieldName[] DEMANDS = {
    FieldName.CACHE_CONTROL,
    FieldName.PRAGMA,
    FieldName.IF_MATCH,
    FieldName.IF_UNMODIFIED_SINCE,
    FieldName.CONTENT_LENGTH,
    FieldName.TRANSFER_ENCODING,
    FieldName.UPGRADE
  };

  private final CacheDecisions decisions;
  private final @Nullable Store store;
  private final InFlightTable flights;
  private final CacheSettings settings;
  private final WallClock clock;
  private final long now;
  private final RequestHead request;
  private final CacheControl demands;
  private final boolean isFiltered;
  private final CacheKey key;
  private final List<Reason> steps = new ArrayList<>();
  private @Nullable Reason deciding;
  private @Nullable Storability notStored;

  /**
   * An explanation of one request, which it borrows.
   *
   * @param decisions those of its route
   * @param store null where nothing is stored
   * @param demands the request's directives
   */
  public CacheExplainer(
      CacheDecisions decisions,
      @Nullable Store store,
      WallClock clock,
      RequestHead request,
      CacheControl demands) {
    this.decisions = decisions;
    this.store = store;
    this.flights = decisions.flights();
    this.settings = decisions.settings();
    this.clock = clock;
    this.now = clock.epochSeconds();
    this.request = QueryFilter.filtered(settings.query(), request);
    this.demands = demands;
    this.isFiltered = !this.request.pathAndQuery().equals(request.pathAndQuery());
    this.key = CacheKey.of(this.request);
  }

  public Explanation explain() {
    Variants variants = store == null ? null : store.peek(key);
    int stored = variants == null ? 0 : variants.size();
    StoredResponse selected = null;
    CacheDecision decision = decisions.beforeLookup(request, demands);
    if (decision == null) {
      selected = variants == null ? null : variants.select(request, now);
      lookUp(variants, stored, selected);
      decision =
          decisions.afterLookup(request, demands, key, variants != null, selected, true, now);
    }
    settled(decision, selected);
    if (decision.rule() == ReuseRule.METHOD && !request.method().isSafe()) {
      String found = "responses stored under the key: " + stored;
      step("invalidation", "RFC 9111 §4.4", found, "a response that is no error removes them");
    }
    switch (decision) {
      case Serve serve -> serving(serve, Objects.requireNonNull(selected));
      case Ask ask -> asking(ask, selected);
      case Pass pass -> passing(pass, selected);
      case Refuse refuse -> {
        String so = "the response is 504 (Gateway Timeout)";
        String control = lines(FieldName.CACHE_CONTROL);
        deciding = step("only-if-cached", "RFC 9111 §5.2.1.7", control, so);
      }
    }
    if (decision.reason() != null) {
      onTheWay();
    }
    return new Explanation(
        decision.decision(),
        decision.reason(),
        NormalUri.of(request),
        steps,
        Objects.requireNonNull(deciding),
        decision instanceof Refuse ? StatusCode.GATEWAY_TIMEOUT : 0,
        notStored);
  }

  private Reason step(String rule, String section, String found, String so) {
    Reason step = new Reason(rule, section, ShownText.cut(found), ShownText.cut(so));
    steps.add(step);
    return step;
  }

  // The key and what is under it

  private void lookUp(@Nullable Variants variants, int stored, @Nullable StoredResponse selected) {
    if (isFiltered) {
      String so = "it is looked up and forwarded as " + request.pathAndQuery();
      step("query", "RFC 9111 §2", "routes[].cache.query", so);
    }
    String route = request.partition() == null ? "" : "; route " + request.partition();
    String uri = NormalUri.of(request) + route;
    step("key", "RFC 9111 §2", uri, "responses stored under it: " + stored);
    for (var form : settings.varyBy().values(request).entrySet()) {
      String found = written(form.getKey()) + " is " + quoted(form.getKey(), form.getValue());
      String so = "its responses are told apart by this value";
      step("normal-form", "routes[].cache.vary-by", found, so);
    }
    for (int i = 0; variants != null && i < stored; i++) {
      SelectingFields selecting = variants.at(i).selecting();
      if (stored > 1 || !selecting.isEmpty()) {
        variant(selecting, variants.at(i) == selected);
      }
    }
    if (selected == null && store != null && store.copies(key) > 0) {
      PeakWatch peak = store.peak();
      step(
          "disk",
          "cache.disk",
          "responses under the key on the disk: " + store.copies(key),
          peak != null && peak.mode() == TierMode.PEAK
              ? "they are not read at a peak; what follows is as if there were none"
              : "they are read first, or sent from the disk by sendfile if they are large"
                  + " (1MiB or more); what follows is for the case that none is usable");
    }
    if (selected != null && selected.facts().tags().areAny()) {
      String found =
          "it has more than " + Tags.LIMIT + " tags, a long one, or those of another node";
      step("tags", "cache.tag-fields", found, "any purge by tag removes it");
    }
  }

  private void variant(SelectingFields selecting, boolean isSelected) {
    String mismatch = selecting.mismatch(request);
    if (mismatch != null) {
      String was = quoted(mismatch, selecting.values().get(mismatch));
      String is = quoted(mismatch, selecting.valueIn(request, mismatch));
      String found = written(mismatch) + " was " + was + ", is " + is;
      step("variant", "RFC 9111 §4.1", found, "it does not match");
      return;
    }
    String names =
        selecting.names().stream().map(CacheExplainer::written).collect(Collectors.joining(", "));
    step(
        "variant",
        "RFC 9111 §4.1",
        names.isEmpty() ? "no Vary" : "Vary: " + names,
        isSelected ? "it matches and is selected" : "it matches, another comes first");
  }

  /** As the settings have it. */
  private static String written(String name) {
    return name.startsWith("language:") ? name.replace('|', ',') : name;
  }

  private static String quoted(String name, @Nullable String value) {
    String shown = ShownText.value(name, value);
    return shown == null ? "absent" : "\"" + shown + "\"";
  }

  // The rule that settles it

  private void settled(CacheDecision decision, @Nullable StoredResponse selected) {
    ReuseRule rule = decision.rule();
    String found = found(rule);
    if (selected != null) {
      StoredFacts facts = selected.facts();
      lifetime(facts);
      found = found(rule, facts);
    }
    deciding = step(rule.token(), rule.section(), found, rule.clause() + ": " + follows(decision));
  }

  private static String follows(CacheDecision decision) {
    return switch (decision) {
      case Serve serve -> serve == Serve.WHILE_REVALIDATED ? "it is used, stale" : "it is used";
      case Ask ask when ask.isValidation() -> "the origin is asked whether it is still good";
      case Pass pass when pass.cause() == Cause.RULE -> "the request bypasses the cache";
      case Refuse refuse -> "it is not forwarded";
      default -> "the origin is asked for the response";
    };
  }

  private void lifetime(StoredFacts stored) {
    Source source = stored.freshness().source();
    String lifetime = stored.freshness().lifetimeSeconds() + " s";
    String given = source.token() + ": " + lifetime;
    String found = source == Source.NONE ? "nothing gives a lifetime" : given;
    step("lifetime", source.section(), found, "its lifetime is " + lifetime);
    int age = stored.ageSeconds(now);
    int initial = stored.correctedInitialAge();
    int ttl = stored.ttlSeconds(now);
    step(
        "age",
        "RFC 9111 §4.2.3",
        age + " s: " + initial + " s when it came, " + (age - initial) + " s here",
        stored.isFresh(now) ? "fresh for " + ttl + " s more" : "stale for " + -ttl + " s");
  }

  /** The values in the request that the rule saw. */
  private String found(ReuseRule rule) {
    return switch (rule) {
      case METHOD -> request.methodText();
      case CONNECTION -> lines(FieldName.CONNECTION);
      case COOKIE -> "routes[].cache.bypass-cookies: " + settings.bypassCookies();
      case UNCLEAR_COOKIE -> "a cookie of vary-by that servers could read differently";
      case IDENTITY_REFUSED -> acceptEncoding();
      case NOTHING_STORED, NO_VARIANT -> "no response to use";
      default -> lines(DEMANDS);
    };
  }

  /** The same with those of what is stored. */
  private String found(ReuseRule rule, StoredFacts stored) {
    String age = "age " + stored.ageSeconds(now) + " s";
    String lifetime = " lifetime " + stored.freshness().lifetimeSeconds() + " s";
    String stale = "stale for " + -stored.ttlSeconds(now) + " s";
    int whileRevalidate = stored.rules().staleWhileRevalidateSeconds();
    String whileStale = "stale-while-revalidate=" + whileRevalidate;
    return switch (rule) {
      case FRESH -> age + " <" + lifetime;
      case STALE -> {
        String over = whileRevalidate > 0 ? whileStale : "no stale-while-revalidate";
        boolean isForbidden = stored.rules().isValidatedOnceStale();
        String why = isForbidden ? "must-revalidate or proxy-revalidate forbids its use" : over;
        yield withDemands(age + " ≥" + lifetime + "; " + why);
      }
      case NO_CACHE -> withDemands("the stored response says no-cache");
      case STALE_WHILE_REVALIDATE -> stale + "; " + whileStale;
      case REQUEST_MAX_AGE -> withDemands(age);
      case REQUEST_MIN_FRESH -> withDemands("ttl " + stored.ttlSeconds(now) + " s");
      case MAX_STALE -> withDemands(stale);
      default -> found(rule);
    };
  }

  private String withDemands(String found) {
    String demanded = lines(DEMANDS);
    return demanded.isEmpty() ? found : found + "; " + demanded;
  }

  /** Those fields of the request, as they came; empty if it has none of them. */
  private String lines(FieldName... names) {
    return Stream.of(names)
        .filter(request.fields()::has)
        .map(name -> name.text() + ": " + request.fields().joined(name))
        .collect(Collectors.joining("; "));
  }

  // What is sent

  private void serving(Serve serve, StoredResponse stored) {
    boolean hasForms = stored.forms().isCodable();
    if (Preconditions.isNotModified(request, stored.facts())) {
      String tags = lines(FieldName.IF_NONE_MATCH);
      step(
          "not-modified",
          tags.isEmpty() ? "RFC 9110 §13.1.3" : "RFC 9110 §13.1.2",
          tags.isEmpty() ? lines(FieldName.IF_MODIFIED_SINCE) : tags,
          "the client has it already: 304 (Not Modified)");
    } else if (Preconditions.allowsRange(request, stored.facts(), hasForms)) {
      String so = "the ranges are cut from what is stored";
      step("range", "RFC 9110 §14.2", lines(FieldName.RANGE), so);
    }
    if (!stored.forms().all().isEmpty()) {
      StoredResponse sent = StoredReply.form(request, stored);
      coding(
          stored.forms().all().stream()
              .filter(form -> form.response() == sent)
              .map(form -> "its content is sent in the coding " + form.coding().token())
              .findFirst()
              .orElse("its content is sent as it came"));
    }
    if (serve.isAskedBehind()) {
      boolean isOnItsWay = flights.find(key, request) != null;
      boolean isPostponed = flights.isPostponed(key);
      String found = isPostponed ? "it failed just now" : request.methodText();
      step(
          "background",
          "RFC 5861 §3",
          isOnItsWay ? IS_ON_ITS_WAY : found,
          isOnItsWay || isPostponed
              ? "the origin is not asked"
              : "the origin is asked in the background");
    }
  }

  /** Which coding a response of the origin gets for this client. */
  private void onTheWay() {
    if (settings.coding().isOn()) {
      ContentCoding coding = settings.coding().onTheWay(request.fields());
      coding(
          coding == null
              ? "the response goes on as it comes"
              : "the response is compressed on its way by "
                  + coding.token()
                  + ", if its type is listed and nothing in it forbids that");
    }
  }

  private void coding(String so) {
    step("coding", "RFC 9110 §12.5.3", acceptEncoding(), so);
  }

  private String acceptEncoding() {
    String accepted = lines(FieldName.ACCEPT_ENCODING);
    return accepted.isEmpty() ? "no Accept-Encoding" : accepted;
  }

  // Toward the origin

  private void passing(Pass pass, @Nullable StoredResponse selected) {
    if (pass.cause() == Cause.RULE) {
      return;
    }
    standIn(selected);
    if (pass.cause() == Cause.UNSTORABLE) {
      Storability why = Storability.of(request, demands);
      String so = "the response is not stored: " + why.clause();
      deciding = step(why.detail(), why.section(), request.methodText(), so);
    } else {
      deciding =
          step(
              "for-the-origin",
              "RFC 9110 §13.1, §14.2",
              lines(FieldName.RANGE, FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE),
              "it bypasses the cache: a shared response would not fit it");
    }
    if (pass.cause() == Cause.PART_OF_THE_WHOLE) {
      boolean isOnItsWay = flights.find(key, request) != null;
      boolean isUseless = flights.isPostponed(key) || flights.isUncachable(key, request);
      String found = isUseless ? "the last one failed just now" : "Range";
      step(
          "fill-around",
          "RFC 9110 §14.2",
          isOnItsWay ? IS_ON_ITS_WAY : found,
          isOnItsWay || isUseless
              ? "the whole is not fetched"
              : "the whole is fetched in the background and stored");
    }
    lastAnswer();
  }

  private void asking(Ask ask, @Nullable StoredResponse selected) {
    if (ask.isValidation() && selected != null) {
      String found = validators(selected.facts());
      step("validators", "RFC 9111 §4.3.1", found, "they go to the origin as conditions");
    }
    standIn(selected);
    String alone = "it is forwarded by itself";
    switch (ask.way()) {
      case FRESHEN -> {
        String so = alone + ", and tells whether the stored response is still good";
        step("head", "RFC 9111 §4.3.5", request.methodText(), so);
      }
      case PERHAPS -> {
        String found = "for " + seconds(flights.uncachableNanos(key, request)) + " more: ";
        String why = found + "the last response could not be shared";
        step("uncachable", "RFC 9111 §4", why, alone + ", and no other request waits for it");
      }
      case COLLAPSE -> {
        boolean isFirst = flights.find(key, request) == null;
        step(
            "collapse",
            "RFC 9111 §4",
            (isFirst ? "no" : "a") + " request for the same response is on its way",
            isFirst
                ? "it is forwarded, and later requests wait for its response"
                : "it waits for that response");
      }
      case ALONE -> {
        String credentials = request.isAuthenticated() ? "; " + credentials() : "";
        step("alone", "RFC 9111 §4", "fwd=" + ask.reason().token() + credentials, alone);
      }
    }
    if (selected != null && StoreServer.mayStandInLate(settings, selected, demands, now)) {
      String after = TimeSpan.print(settings.policy().stale().after());
      String so = "if no response head comes in that time, the stored response is served";
      step("stale-after", "RFC 5861 §4", "routes[].cache.stale-after: " + after, so);
    }
    if (!ask.isValidation()) {
      if (ask.way() != Way.FRESHEN) {
        storing();
      }
      lastAnswer();
    }
  }

  /** What a stored response is good for that is not the answer. */
  private void standIn(@Nullable StoredResponse selected) {
    if (selected == null) {
      return;
    }
    if (!selected.facts().hasValidator()) {
      step("validators", "RFC 9111 §4.3.1", "none", "the whole response is fetched");
    }
    if (selected.facts().mayServeOnError(demands, now)) {
      String so = "if the origin fails now, it is used all the same";
      step("stale-if-error", "RFC 5861 §4", "stale-if-error", so);
    }
  }

  private static String validators(StoredFacts stored) {
    String tag = stored.entityTag() == null ? "" : "ETag: " + stored.entityTag();
    String date =
        stored.lastModifiedText() == null ? "" : "Last-Modified: " + stored.lastModifiedText();
    return tag.isEmpty() || date.isEmpty() ? tag + date : tag + "; " + date;
  }

  private String credentials() {
    if (request.fields().has(FieldName.AUTHORIZATION)) {
      return "Authorization";
    }
    return request.fields().has(FieldName.CLIENT_CERT) ? "a client certificate" : "routes[].auth";
  }

  /** What becomes of the answer, as far as the request tells. */
  private void storing() {
    if (request.isAuthenticated()) {
      String so = "the response is stored only with public, must-revalidate or s-maxage";
      step("storing", "RFC 9111 §3.5", credentials(), so);
    } else {
      String found = "nothing in the request forbids it";
      step("storing", "RFC 9111 §3", found, "the response is stored if it allows that");
    }
  }

  /** What became of the last answer for the key, if it was not stored. */
  private void lastAnswer() {
    Refusal last = flights.refusal(key);
    if (last != null) {
      notStored = last.why();
      String found = last.status() + ", " + seconds(clock.nanos() - last.atNanos()) + " ago";
      String so = "the last response was not stored: " + last.why().clause();
      step(last.why().detail(), last.why().section(), found, so);
    }
  }

  private static String seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos) + " s";
  }
}
