package io.kamille.cache.decision;

import io.kamille.cache.decision.Explanation.Decision;
import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.QueryFilter;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.Cookies;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reasons;
import io.kamille.cache.rules.ReusePlan;
import io.kamille.cache.rules.ReusePlan.Forward;
import io.kamille.cache.rules.ReusePlan.Refuse;
import io.kamille.cache.rules.ReusePlan.Serve;
import io.kamille.cache.rules.ReusePlan.ServeStale;
import io.kamille.cache.rules.ReusePlan.Validate;
import io.kamille.cache.rules.ReusePlanner;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.serve.StoredReply;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.cache.store.CodedForms.Form;
import io.kamille.cache.store.StoredResponse;
import io.kamille.cache.store.Variants;
import io.kamille.cache.tiers.TieredStore;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.cache.tiers.peak.TierMode;
import io.kamille.core.http.AcceptedCodings;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.NormalAuthority;
import io.kamille.core.http.Octets;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One explanation in the making. Nothing is sent or stored. Any thread, one at a time. */
public final class CacheExplainer {

  /*
   * The way is that of a request (CacheHandler), and every decision on it is made by what the
   * handler asks: ReusePlanner, Variants.select, ForwardWay. What differs is that here nothing is
   * done.
   */
  private final TieredStore store;
  private final InFlightTable flights;
  private final CacheSettings settings;
  private final WallClock clock;
  private final RequestHead request;
  private final boolean isFiltered;
  private final CacheKey key;
  private final ExplanationSteps steps = new ExplanationSteps();
  private final OriginExplainer origin;

  public CacheExplainer(
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
    this.origin = new OriginExplainer(flights, settings, clock, this.request, key, steps);
  }

  public Explanation explain() {
    Forward bypass = ReusePlanner.bypass(request);
    Variants variants = store.peek(key);
    if (bypass != null) {
      steps.addAll(Reasons.ofBypass(request));
      invalidation(variants);
      return passedBy(bypass.reason());
    }
    if (Cookies.has(request.fields(), settings.bypassCookies())) {
      steps.add(
          "cookie",
          "routes[].cache.bypass-cookies",
          "routes[].cache.bypass-cookies: " + settings.bypassCookies(),
          "it bypasses the cache");
      return passedBy(ForwardReason.BYPASS);
    }
    if (isFiltered) {
      steps.add(
          "query",
          "RFC 9111 §2",
          "routes[].cache.query",
          "it is looked up and forwarded as " + request.pathAndQuery());
    }
    int stored = variants == null ? 0 : variants.size();
    steps.add("key", "RFC 9111 §2", keyText(), "responses stored under it: " + stored);
    long now = clock.epochSeconds();
    StoredResponse selected = variants == null ? null : variants.select(request, now);
    variants(variants, selected);
    if (selected == null && store.copies(key) > 0) {
      steps.add(
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
    steps.add(
        "only-if-cached",
        "RFC 9111 §5.2.1.7",
        "Cache-Control: " + request.fields().joined(FieldName.CACHE_CONTROL),
        "it is not forwarded: the response is 504 (Gateway Timeout)");
    return decided(Decision.REFUSE, null);
  }

  private boolean isPeak() {
    PeakWatch peak = store.peak();
    return peak != null && peak.mode() == TierMode.PEAK;
  }

  private Explanation identityRefused(@Nullable StoredResponse stored, long now) {
    if (stored != null && ForwardWay.mayServeCoded(request, stored, now)) {
      return hit(stored, now);
    }
    boolean isRefused = CacheControl.ofRequest(request.fields()).isOnlyIfCached();
    steps.add(
        "identity-refused",
        "RFC 9110 §12.5.3",
        acceptEncoding(),
        isRefused
            ? "no stored coding is acceptable, and only-if-cached: 504 (Gateway Timeout)"
            : "no stored coding is acceptable: the origin decides");
    return isRefused
        ? decided(Decision.REFUSE, null)
        : decided(Decision.PASS, ForwardReason.BYPASS);
  }

  private Explanation miss(boolean isVariantMiss) {
    steps.addAll(Reasons.ofMiss(request, isVariantMiss));
    return ReusePlanner.planMiss(request, isVariantMiss) instanceof Forward miss
        ? forward(miss.reason(), false)
        : decided(Decision.REFUSE, null);
  }

  private Explanation hit(StoredResponse stored, long now) {
    steps.addAll(Reasons.of(request, stored.facts(), stored.forms().isCodable(), now));
    ReusePlan plan = ReusePlanner.plan(request, stored.facts(), now);
    return switch (plan) {
      case Serve.SERVE -> {
        coding(stored);
        if (settings.background().isDue(request, stored.facts(), now)) {
          origin.behind();
        }
        yield decided(Decision.SERVE, null);
      }
      case ServeStale.SERVE_STALE -> {
        coding(stored);
        origin.behind();
        yield decided(Decision.SERVE_STALE, null);
      }
      case Refuse.REFUSE -> decided(Decision.REFUSE, null);
      case Forward forward -> forward(forward.reason(), true);
      case Validate validate -> {
        origin.way(
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
    steps.add("coding", "RFC 9110 §12.5.3", acceptEncoding(), so);
  }

  private String acceptEncoding() {
    String accepted = request.fields().joined(FieldName.ACCEPT_ENCODING);
    return accepted == null ? "no Accept-Encoding" : "Accept-Encoding: " + accepted;
  }

  private Explanation forward(ForwardReason reason, boolean hasStale) {
    ForwardWay way = ForwardWay.of(request, key, reason, hasStale, settings.mayCollapse(), flights);
    origin.way(way, reason);
    boolean isPassed = way == ForwardWay.PASS_FOR_ORIGIN || way == ForwardWay.PASS_UNSTORABLE;
    if (!isPassed && way != ForwardWay.FRESHEN) {
      origin.storing();
    }
    origin.lastAnswer();
    return decided(isPassed ? Decision.PASS : Decision.FORWARD, reason);
  }

  private Explanation decided(Decision decision, @Nullable ForwardReason reason) {
    return new Explanation(decision, reason, keyText(), steps.all());
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
      steps.add(
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
      steps.add("variant", "RFC 9111 §4.1", found, "it does not match");
    }
  }

  private static String quoted(String name, @Nullable String value) {
    String shown = ShownText.value(name, value);
    return shown == null ? "absent" : "\"" + shown + "\"";
  }

  private void invalidation(@Nullable Variants variants) {
    if (!request.method().isSafe()) {
      steps.add(
          "invalidation",
          "RFC 9111 §4.4",
          "responses stored under the key: " + (variants == null ? 0 : variants.size()),
          "a response that is no error removes them");
    }
  }
}
