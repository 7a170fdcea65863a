package io.kamille.cache;

import io.kamille.cache.Explanation.Decision;
import io.kamille.cache.collapse.InFlightTable;
import io.kamille.cache.collapse.Refusal;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.peak.PeakWatch;
import io.kamille.cache.peak.TierMode;
import io.kamille.cache.semantics.AcceptedCodings;
import io.kamille.cache.semantics.CacheControl;
import io.kamille.cache.semantics.Cookies;
import io.kamille.cache.semantics.ForwardReason;
import io.kamille.cache.semantics.Reason;
import io.kamille.cache.semantics.Reasons;
import io.kamille.cache.semantics.ReusePlan;
import io.kamille.cache.semantics.ReusePlan.Forward;
import io.kamille.cache.semantics.ReusePlan.Refuse;
import io.kamille.cache.semantics.ReusePlan.Serve;
import io.kamille.cache.semantics.ReusePlan.ServeStale;
import io.kamille.cache.semantics.ReusePlan.Validate;
import io.kamille.cache.semantics.ReusePlanner;
import io.kamille.cache.semantics.SelectingFields;
import io.kamille.cache.semantics.Storability;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.store.CodedForms.Form;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tier.TieredStore;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.NormalAuthority;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.time.WallClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** One explanation in the making. Nothing is sent or stored. Any thread, one at a time. */
final class CacheExplainer {

  /*
   * The way is that of CacheHandler.handle, and every decision on it is made by what the handler
   * asks: ReusePlanner, Variants.select, ForwardWay. What differs is that here nothing is done.
   */
  /** What follows for an answer when nothing in the request is against storing it. */
  static final String IS_STORED = "its answer is stored if it allows that";

  private static final Pattern SECTION = Pattern.compile("(.*) \\((RFC [^)]*)\\)");

  private static final FieldName[] FOR_THE_ORIGIN = {
    FieldName.RANGE, FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE
  };

  private final TieredStore store;
  private final InFlightTable flights;
  private final CacheSettings settings;
  private final WallClock clock;
  private final RequestHead request;
  private final boolean isFiltered;
  private final CacheKey key;
  private final List<Reason> steps = new ArrayList<>();

  CacheExplainer(
      TieredStore store,
      InFlightTable flights,
      CacheSettings settings,
      WallClock clock,
      RequestHead request) {
    this.store = store;
    this.flights = flights;
    this.settings = settings;
    this.clock = clock;
    this.request = QueryFilter.filtered(settings.query(), request);
    this.isFiltered = !this.request.pathAndQuery().equals(request.pathAndQuery());
    this.key = CacheKey.of(this.request);
  }

  Explanation explain() {
    Forward bypass = ReusePlanner.bypass(request);
    Variants variants = store.peek(key);
    if (bypass != null) {
      addAll(Reasons.ofBypass(request));
      invalidation(variants);
      return passedBy(bypass.reason());
    }
    if (Cookies.has(request.fields(), settings.bypassCookies())) {
      add(
          "cookie",
          "routes[].cache.bypass-cookies",
          "routes[].cache.bypass-cookies: " + settings.bypassCookies(),
          "it passes the cache by");
      return passedBy(ForwardReason.BYPASS);
    }
    if (isFiltered) {
      add(
          "query",
          "RFC 9111 §2",
          "routes[].cache.query",
          "it is looked up and forwarded as " + request.pathAndQuery());
    }
    int stored = variants == null ? 0 : variants.size();
    add("key", "RFC 9111 §2", keyText(), "responses stored under it: " + stored);
    long now = clock.epochSeconds();
    StoredResponse selected = variants == null ? null : variants.select(request, now);
    variants(variants, selected);
    if (selected == null && store.copies(key) > 0) {
      add(
          "disk",
          "cache.disk",
          "responses under the key on the disk: " + store.copies(key),
          isPeak()
              ? "they are not read at a peak; what follows is as if there were none"
              : "they are read first, or sent from the disk by sendfile if they are large"
                  + " (cache.disk.send-from); what follows is for the case that none is usable");
    }
    if (settings.coding().isOn() && AcceptedCodings.refuseIdentity(request.fields())) {
      return identityRefused(selected, now);
    }
    return selected == null ? miss(variants != null) : hit(selected, now);
  }

  private Explanation passedBy(ForwardReason reason) {
    if (!ReusePlanner.isOnlyForCache(request)) {
      return decided(Decision.PASS, reason);
    }
    add(
        "only-if-cached",
        "RFC 9111 §5.2.1.7",
        "Cache-Control: " + request.fields().joined(FieldName.CACHE_CONTROL),
        "it is not forwarded: 504 (Gateway Timeout) is the answer");
    return decided(Decision.REFUSE, null);
  }

  private boolean isPeak() {
    PeakWatch peak = store.peak();
    return peak != null && peak.mode() == TierMode.PEAK;
  }

  private Explanation identityRefused(@Nullable StoredResponse stored, long now) {
    if (stored != null && CacheHandler.mayServeCoded(request, stored, now)) {
      return hit(stored, now);
    }
    boolean isRefused = CacheControl.ofRequest(request.fields()).isOnlyIfCached();
    add(
        "identity-refused",
        "RFC 9110 §12.5.3",
        acceptEncoding(),
        isRefused
            ? "no coded form may be the answer, and only-if-cached: 504 (Gateway Timeout)"
            : "no coded form may be the answer: it passes, and the origin decides");
    return isRefused
        ? decided(Decision.REFUSE, null)
        : decided(Decision.PASS, ForwardReason.BYPASS);
  }

  private Explanation miss(boolean isVariantMiss) {
    addAll(Reasons.ofMiss(request, isVariantMiss));
    return ReusePlanner.planMiss(request, isVariantMiss) instanceof Forward miss
        ? forward(miss.reason(), false)
        : decided(Decision.REFUSE, null);
  }

  private Explanation hit(StoredResponse stored, long now) {
    addAll(Reasons.of(request, stored.facts(), stored.forms().isCodable(), now));
    ReusePlan plan = ReusePlanner.plan(request, stored.facts(), now);
    return switch (plan) {
      case Serve.SERVE -> {
        coding(stored);
        if (settings.background().isDue(request, stored.facts(), now)) {
          behind();
        }
        yield decided(Decision.SERVE, null);
      }
      case ServeStale.SERVE_STALE -> {
        coding(stored);
        behind();
        yield decided(Decision.SERVE_STALE, null);
      }
      case Refuse.REFUSE -> decided(Decision.REFUSE, null);
      case Forward forward -> forward(forward.reason(), true);
      case Validate validate -> {
        way(
            ForwardWay.ofValidation(
                request, validate.reason(), stored.facts(), settings.mayCollapse()),
            validate.reason());
        yield decided(Decision.VALIDATE, validate.reason());
      }
    };
  }

  /** Which form of a response with coded forms is the answer. */
  private void coding(StoredResponse stored) {
    if (stored.forms().all().isEmpty()) {
      return;
    }
    StoredResponse sent = StoredReply.form(request, stored);
    String so = "its content is sent as it came";
    for (Form form : stored.forms().all()) {
      if (form.response() == sent) {
        so = "its content is sent in the coding " + form.coding().token();
      }
    }
    add("coding", "RFC 9110 §12.5.3", acceptEncoding(), so);
  }

  private String acceptEncoding() {
    String accepted = request.fields().joined(FieldName.ACCEPT_ENCODING);
    return accepted == null ? "no Accept-Encoding" : "Accept-Encoding: " + accepted;
  }

  private Explanation forward(ForwardReason reason, boolean hasStale) {
    ForwardWay way = ForwardWay.of(request, key, reason, hasStale, settings.mayCollapse(), flights);
    way(way, reason);
    boolean isPassed = way == ForwardWay.PASS_FOR_ORIGIN || way == ForwardWay.PASS_UNSTORABLE;
    if (!isPassed && way != ForwardWay.FRESHEN) {
      storing();
    }
    lastAnswer();
    return decided(isPassed ? Decision.PASS : Decision.FORWARD, reason);
  }

  private Explanation decided(Decision decision, @Nullable ForwardReason reason) {
    return new Explanation(decision, reason, keyText(), steps);
  }

  private void addAll(List<Reason> reasons) {
    reasons.forEach(reason -> add(reason.rule(), reason.section(), reason.found(), reason.so()));
  }

  private void add(String rule, String section, String found, String so) {
    steps.add(new Reason(rule, section, ShownText.cut(found), ShownText.cut(so)));
  }

  // The key and what is under it

  private String keyText() {
    byte[] authority =
        NormalAuthority.of(
            request.octets(), request.authorityStart(), request.authorityEnd(), request.isSecure());
    return (request.isSecure() ? "https://" : "http://")
        + Octets.text(authority, 0, authority.length)
        + request.pathAndQuery();
  }

  private void variants(@Nullable Variants variants, @Nullable StoredResponse selected) {
    for (int i = 0; variants != null && i < variants.size(); i++) {
      StoredResponse response = variants.at(i);
      SelectingFields selecting = response.selecting();
      if (variants.size() > 1 || !selecting.isEmpty()) {
        variant(selecting, response == selected);
      }
    }
  }

  private void variant(SelectingFields selecting, boolean isSelected) {
    String mismatch = selecting.mismatch(request);
    if (mismatch == null) {
      String found =
          selecting.isEmpty() ? "no Vary" : "Vary: " + String.join(", ", selecting.names());
      add(
          "variant",
          "RFC 9111 §4.1",
          found,
          isSelected ? "it matches and is selected" : "it matches, another comes first");
    } else {
      List<String> present = request.fields().all(mismatch);
      String found =
          mismatch
              + " was "
              + quoted(mismatch, selecting.values().get(mismatch))
              + ", is "
              + quoted(mismatch, present.isEmpty() ? null : String.join(", ", present));
      add("variant", "RFC 9111 §4.1", found, "it does not match");
    }
  }

  private static String quoted(String name, @Nullable String value) {
    String shown = ShownText.value(name, value);
    return shown == null ? "absent" : "\"" + shown + "\"";
  }

  private void invalidation(@Nullable Variants variants) {
    if (!request.method().isSafe()) {
      add(
          "invalidation",
          "RFC 9111 §4.4",
          "responses stored under the key: " + (variants == null ? 0 : variants.size()),
          "an answer that is no error removes them");
    }
  }

  // The way to the origin

  private void behind() {
    boolean isOnItsWay = flights.find(key, request) != null;
    boolean isPostponed = flights.isPostponed(key);
    boolean isAsked = !isOnItsWay && !isPostponed;
    String found = isPostponed ? "it failed just now" : request.methodText();
    add(
        "background",
        "RFC 5861 §3",
        isOnItsWay ? "a request for the key is on its way" : found,
        isAsked ? "the origin is asked behind it" : "the origin is not asked behind it");
  }

  private void way(ForwardWay way, ForwardReason reason) {
    switch (way) {
      case PASS_FOR_ORIGIN -> {
        add(
            "for-the-origin",
            "RFC 9110 §13.1, §14.2",
            forTheOrigin(),
            "it passes: a response fetched for everybody would not answer it");
        if (ForwardWay.fillsAround(request, settings.background())) {
          fillAround();
        }
      }
      case PASS_UNSTORABLE -> {
        Storability why = Storability.of(request);
        explained(why.detail(), request.methodText(), why.explanation(), "its answer passes: ");
      }
      case FRESHEN ->
          add(
              "head",
              "RFC 9111 §4.3.5",
              request.methodText(),
              "it goes alone, and its answer tells whether what is stored is still good");
      case PERHAPS ->
          add(
              "uncachable",
              "RFC 9111 §4",
              "for "
                  + seconds(flights.uncachableNanos(key, request))
                  + " more: what came could not be shared",
              "it goes alone, and nobody waits for it");
      case COLLAPSE -> collapse();
      case ALONE -> add("alone", "RFC 9111 §4", alone(reason), "it goes alone");
    }
  }

  private void fillAround() {
    boolean isOnItsWay = flights.find(key, request) != null;
    boolean isUseless = flights.isPostponed(key) || flights.isUncachable(key, request);
    add(
        "fill-around",
        "RFC 9110 §14.2",
        isOnItsWay
            ? "a request for the key is on its way"
            : isUseless ? "it came to nothing just now" : "Range",
        isOnItsWay || isUseless
            ? "the whole is not fetched behind it"
            : "the whole is fetched behind it, to be stored");
  }

  private String forTheOrigin() {
    List<String> lines = new ArrayList<>();
    for (FieldName name : FOR_THE_ORIGIN) {
      if (request.fields().has(name)) {
        lines.add(name.text() + ": " + request.fields().joined(name));
      }
    }
    return String.join("; ", lines);
  }

  private void collapse() {
    if (flights.find(key, request) == null) {
      add(
          "collapse",
          "RFC 9111 §4",
          "no request for the key is on its way",
          "it goes first, and those that come meanwhile wait for its answer");
    } else {
      add(
          "collapse",
          "RFC 9111 §4",
          "a request for the key is on its way",
          "it waits for that one's answer");
    }
  }

  private String alone(ForwardReason reason) {
    List<String> seen = new ArrayList<>();
    seen.add("fwd=" + reason.token());
    Fields fields = request.fields();
    if (fields.has(FieldName.AUTHORIZATION)) {
      seen.add("Authorization");
    }
    if (!settings.mayCollapse()) {
      seen.add("cache.collapse.enabled: off");
    }
    return String.join("; ", seen);
  }

  // What becomes of the answer

  private void storing() {
    boolean isAuthorized = request.fields().has(FieldName.AUTHORIZATION);
    add(
        "storing",
        isAuthorized ? "RFC 9111 §3.5" : "RFC 9111 §3",
        isAuthorized ? "Authorization" : "nothing in the request is against it",
        isAuthorized
            ? "its answer is stored only with public, must-revalidate or s-maxage"
            : IS_STORED);
  }

  private void lastAnswer() {
    Refusal last = flights.refusal(key);
    if (last != null) {
      explained(
          last.detail(),
          last.status() + ", " + seconds(clock.nanos() - last.atNanos()) + " ago",
          last.explanation(),
          "the last answer was not stored: ");
    }
  }

  /** A step whose rule has its section in parentheses at its end. */
  private void explained(String rule, String found, String explanation, String so) {
    Matcher matcher = SECTION.matcher(explanation);
    boolean hasSection = matcher.matches();
    add(
        rule,
        hasSection ? matcher.group(2) : "RFC 9111 §3",
        found,
        so + (hasSection ? matcher.group(1) : explanation));
  }

  private static String seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos) + " s";
  }
}
