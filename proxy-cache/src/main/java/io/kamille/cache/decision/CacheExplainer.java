package io.kamille.cache.decision;

import io.kamille.cache.decision.CacheDecision.Ask;
import io.kamille.cache.decision.CacheDecision.Ask.Way;
import io.kamille.cache.decision.CacheDecision.Pass;
import io.kamille.cache.decision.CacheDecision.Pass.Cause;
import io.kamille.cache.decision.CacheDecision.Refuse;
import io.kamille.cache.decision.CacheDecision.Serve;
import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.fill.Refusal;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.NormalUri;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.Reasons;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.rules.Tags;
import io.kamille.cache.serve.StoreServer;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.CodedForms.Form;
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
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One explanation in the making. Nothing is sent or stored. Any thread, one at a time. */
public final class CacheExplainer {

  /*
   * What becomes of the request is decided by what a real one asks (CacheDecisions). Here the
   * decision is told, with the values that it saw.
   */

  /** What follows for an answer when nothing in the request is against storing it. */
  private static final String IS_STORED = "the response is stored if it allows that";

  private static final Pattern SECTION = Pattern.compile("(.*) \\((RFC [^)]*)\\)");

  private final CacheDecisions decisions;
  private final @Nullable Store store;
  private final InFlightTable flights;
  private final CacheSettings settings;
  private final WallClock clock;
  private final RequestHead request;
  private final CacheControl demands;
  private final boolean isFiltered;
  private final CacheKey key;
  private final List<Reason> steps = new ArrayList<>();

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
    this.request = QueryFilter.filtered(settings.query(), request);
    this.demands = demands;
    this.isFiltered = !this.request.pathAndQuery().equals(request.pathAndQuery());
    this.key = CacheKey.of(this.request);
  }

  public Explanation explain() {
    CacheDecision early = decisions.beforeLookup(request, demands);
    Variants variants = store == null ? null : store.peek(key);
    if (early != null) {
      bypass(early, variants);
      if (early instanceof Pass) {
        onTheWay();
      }
      return decided(early);
    }
    if (isFiltered) {
      step(
          "query",
          "RFC 9111 §2",
          "routes[].cache.query",
          "it is looked up and forwarded as " + request.pathAndQuery());
    }
    int stored = variants == null ? 0 : variants.size();
    String route = request.partition() == null ? "" : "; route " + request.partition();
    step(
        "key",
        "RFC 9111 §2",
        NormalUri.of(request) + route,
        "responses stored under it: " + stored);
    long now = clock.epochSeconds();
    StoredResponse selected = variants == null ? null : variants.select(request, now);
    settings.varyBy().values(request).forEach(this::normal);
    variants(variants, selected);
    if (selected == null && store != null && store.copies(key) > 0) {
      disk(store);
    }
    if (selected != null && selected.facts().tags().areAny()) {
      step(
          "tags",
          "cache.tag-fields",
          "it has more than " + Tags.LIMIT + " tags, a long one, or those of another node",
          "any purge by tag removes it");
    }
    CacheDecision decision =
        decisions.afterLookup(
            request, demands, key, variants != null, selected, settings.mayCollapse(), now);
    if (decisions.refusesStored(request, demands, selected, now)) {
      step(
          "identity-refused",
          "RFC 9110 §12.5.3",
          acceptEncoding(),
          decision == Refuse.ONLY_IF_CACHED
              ? "no stored coding is acceptable, and only-if-cached: 504 (Gateway Timeout)"
              : "no stored coding is acceptable: the origin decides");
    } else if (selected == null) {
      addAll(Reasons.ofMiss(request, demands, variants != null));
    } else {
      boolean hasForms = selected.forms().isCodable();
      addAll(Reasons.of(request, demands, selected.facts(), hasForms, now));
    }
    follow(decision, selected);
    if (decision instanceof Ask || decision instanceof Pass) {
      onTheWay();
    }
    return decided(decision);
  }

  private void bypass(CacheDecision early, @Nullable Variants variants) {
    List<Reason> rule = Reasons.ofBypass(request);
    addAll(rule);
    if (rule.isEmpty()) {
      boolean isUnclear = settings.varyBy().isUnclear(request.fields());
      step(
          "cookie",
          isUnclear ? "routes[].cache.vary-by" : "routes[].cache.bypass-cookies",
          isUnclear
              ? "a cookie of vary-by that servers could read differently"
              : "routes[].cache.bypass-cookies: " + settings.bypassCookies(),
          "it bypasses the cache");
    } else {
      invalidation(variants);
    }
    if (early == Refuse.ONLY_IF_CACHED) {
      step(
          "only-if-cached",
          "RFC 9111 §5.2.1.7",
          Reasons.lines(request, FieldName.CACHE_CONTROL),
          "it is not forwarded: the response is 504 (Gateway Timeout)");
    }
  }

  private void disk(Store store) {
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

  /** What else is done for the decision. */
  private void follow(CacheDecision decision, @Nullable StoredResponse selected) {
    switch (decision) {
      case Serve serve -> {
        coding(selected);
        if (serve != Serve.AS_IT_IS) {
          behind();
        }
      }
      case Ask ask -> {
        way(ask);
        late(selected);
        if (!ask.isValidation()) {
          if (ask.way() != Way.FRESHEN) {
            storing();
          }
          lastAnswer();
        }
      }
      case Pass pass -> pass(pass);
      case Refuse.ONLY_IF_CACHED -> {}
    }
  }

  private Explanation decided(CacheDecision decision) {
    return switch (decision) {
      case Serve.WHILE_REVALIDATED -> decided(Decision.SERVE_STALE, null);
      case Serve serve -> decided(Decision.SERVE, null);
      case Ask ask ->
          decided(ask.isValidation() ? Decision.VALIDATE : Decision.FORWARD, ask.reason());
      case Pass pass -> decided(Decision.PASS, pass.reason());
      case Refuse.ONLY_IF_CACHED -> decided(Decision.REFUSE, null);
    };
  }

  private Explanation decided(Decision decision, @Nullable ForwardReason reason) {
    int status = decision == Decision.REFUSE ? StatusCode.GATEWAY_TIMEOUT : 0;
    return new Explanation(decision, reason, NormalUri.of(request), steps, status);
  }

  private void step(String rule, String section, String found, String so) {
    steps.add(new Reason(rule, section, ShownText.cut(found), ShownText.cut(so)));
  }

  private void addAll(List<Reason> reasons) {
    reasons.forEach(reason -> step(reason.rule(), reason.section(), reason.found(), reason.so()));
  }

  // The key and what is under it

  private void variants(@Nullable Variants variants, @Nullable StoredResponse selected) {
    for (int i = 0; variants != null && i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      SelectingFields selecting = response.selecting();
      if (variants.size() > 1 || !selecting.isEmpty()) {
        variant(selecting, response == selected);
      }
    }
  }

  private void normal(String form, @Nullable String value) {
    step(
        "normal-form",
        "routes[].cache.vary-by",
        written(form) + " is " + quoted(form, value),
        "its responses are told apart by this value");
  }

  private void variant(SelectingFields selecting, boolean isSelected) {
    String mismatch = selecting.mismatch(request);
    String found = "no Vary";
    String so = isSelected ? "it matches and is selected" : "it matches, another comes first";
    if (mismatch != null) {
      String was = quoted(mismatch, selecting.values().get(mismatch));
      found =
          written(mismatch)
              + " was "
              + was
              + ", is "
              + quoted(mismatch, selecting.valueIn(request, mismatch));
      so = "it does not match";
    } else if (!selecting.isEmpty()) {
      found =
          "Vary: "
              + selecting.names().stream()
                  .map(CacheExplainer::written)
                  .collect(Collectors.joining(", "));
    }
    step("variant", "RFC 9111 §4.1", found, so);
  }

  /** As the settings have it. */
  private static String written(String name) {
    return name.startsWith("language:") ? name.replace('|', ',') : name;
  }

  private static String quoted(String name, @Nullable String value) {
    String shown = ShownText.value(name, value);
    return shown == null ? "absent" : "\"" + shown + "\"";
  }

  private void invalidation(@Nullable Variants variants) {
    if (!request.method().isSafe()) {
      step(
          "invalidation",
          "RFC 9111 §4.4",
          "responses stored under the key: " + (variants == null ? 0 : variants.size()),
          "a response that is no error removes them");
    }
  }

  // What is sent

  /** Which form of a response with coded forms is the answer. */
  private void coding(@Nullable StoredResponse stored) {
    if (stored == null || stored.forms().all().isEmpty()) {
      return;
    }
    StoredResponse sent = StoredReply.form(request, stored);
    String so = "its content is sent as it came";
    for (Form form : stored.forms().all()) {
      if (form.response() == sent) {
        so = "its content is sent in the coding " + form.coding().token();
      }
    }
    step("coding", "RFC 9110 §12.5.3", acceptEncoding(), so);
  }

  /** Which coding a response of the origin gets for this client. */
  private void onTheWay() {
    if (settings.coding().isOn()) {
      ContentCoding coding = settings.coding().onTheWay(request.fields());
      step(
          "coding",
          "RFC 9110 §12.5.3",
          acceptEncoding(),
          coding == null
              ? "the response goes on as it comes"
              : "the response is compressed on its way by "
                  + coding.token()
                  + ", if its type is listed and nothing in it forbids that");
    }
  }

  private String acceptEncoding() {
    String accepted = Reasons.lines(request, FieldName.ACCEPT_ENCODING);
    return accepted.isEmpty() ? "no Accept-Encoding" : accepted;
  }

  // Toward the origin

  /** The origin is asked without anybody waiting for it. */
  private void behind() {
    boolean isOnItsWay = flights.find(key, request) != null;
    boolean isPostponed = flights.isPostponed(key);
    boolean isAsked = !isOnItsWay && !isPostponed;
    String found = isPostponed ? "it failed just now" : request.methodText();
    step(
        "background",
        "RFC 5861 §3",
        isOnItsWay ? "a request for the key is on its way" : found,
        isAsked ? "the origin is asked in the background" : "the origin is not asked");
  }

  private void pass(Pass pass) {
    switch (pass.cause()) {
      case FOR_THE_ORIGIN, PART_OF_THE_WHOLE -> {
        step(
            "for-the-origin",
            "RFC 9110 §13.1, §14.2",
            Reasons.lines(
                request, FieldName.RANGE, FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE),
            "it bypasses the cache: a shared response would not fit it");
        if (pass.cause() == Cause.PART_OF_THE_WHOLE) {
          fillAround();
        }
        lastAnswer();
      }
      case UNSTORABLE -> {
        Storability why = Storability.of(request, demands);
        explained(
            why.detail(), request.methodText(), why.explanation(), "the response is not stored: ");
        lastAnswer();
      }
      case RULE, COOKIE, IDENTITY_REFUSED -> {}
    }
  }

  /** How the request goes toward the origin. */
  private void way(Ask ask) {
    switch (ask.way()) {
      case FRESHEN ->
          step(
              "head",
              "RFC 9111 §4.3.5",
              request.methodText(),
              "it is forwarded by itself, and tells whether the stored response is still good");
      case PERHAPS ->
          step(
              "uncachable",
              "RFC 9111 §4",
              "for "
                  + seconds(flights.uncachableNanos(key, request))
                  + " more: the last response could not be shared",
              "it is forwarded by itself, and no other request waits for it");
      case COLLAPSE -> collapse();
      case ALONE -> step("alone", "RFC 9111 §4", alone(ask.reason()), "it is forwarded by itself");
    }
  }

  private void fillAround() {
    boolean isOnItsWay = flights.find(key, request) != null;
    boolean isUseless = flights.isPostponed(key) || flights.isUncachable(key, request);
    step(
        "fill-around",
        "RFC 9110 §14.2",
        isOnItsWay
            ? "a request for the key is on its way"
            : isUseless ? "the last one failed just now" : "Range",
        isOnItsWay || isUseless
            ? "the whole is not fetched"
            : "the whole is fetched in the background and stored");
  }

  private void collapse() {
    boolean isFirst = flights.find(key, request) == null;
    step(
        "collapse",
        "RFC 9111 §4",
        (isFirst ? "no" : "a") + " request for the same response is on its way",
        isFirst
            ? "it is forwarded, and later requests wait for its response"
            : "it waits for that response");
  }

  /** What happens if the origin is slow. */
  private void late(@Nullable StoredResponse selected) {
    if (selected != null
        && StoreServer.mayStandInLate(settings, selected, demands, clock.epochSeconds())) {
      step(
          "stale-after",
          "RFC 5861 §4",
          "routes[].cache.stale-after: " + TimeSpan.print(settings.policy().stale().after()),
          "if no response head comes in that time, the stored response is served");
    }
  }

  private String alone(ForwardReason reason) {
    List<String> seen = new ArrayList<>();
    seen.add("fwd=" + reason.token());
    if (request.isAuthenticated()) {
      seen.add(credentials());
    }
    if (!settings.mayCollapse()) {
      seen.add("cache.collapse.enabled: off");
    }
    return String.join("; ", seen);
  }

  private String credentials() {
    if (request.fields().has(FieldName.AUTHORIZATION)) {
      return "Authorization";
    }
    return request.fields().has(FieldName.CLIENT_CERT) ? "a client certificate" : "routes[].auth";
  }

  /** What becomes of the answer, as far as the request tells. */
  private void storing() {
    boolean isAuthorized = request.isAuthenticated();
    step(
        "storing",
        isAuthorized ? "RFC 9111 §3.5" : "RFC 9111 §3",
        isAuthorized ? credentials() : "nothing in the request forbids it",
        isAuthorized
            ? "the response is stored only with public, must-revalidate or s-maxage"
            : IS_STORED);
  }

  /** What became of the last answer for the key, if it was not stored. */
  private void lastAnswer() {
    Refusal last = flights.refusal(key);
    if (last != null) {
      explained(
          last.detail(),
          last.status() + ", " + seconds(clock.nanos() - last.atNanos()) + " ago",
          last.explanation(),
          Explanation.LAST_NOT_STORED);
    }
  }

  /** A step whose rule has its section in parentheses at its end. */
  private void explained(String rule, String found, String explanation, String so) {
    Matcher matcher = SECTION.matcher(explanation);
    boolean hasSection = matcher.matches();
    step(
        rule,
        hasSection ? matcher.group(2) : "RFC 9111 §3",
        found,
        so + (hasSection ? matcher.group(1) : explanation));
  }

  private static String seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos) + " s";
  }
}
