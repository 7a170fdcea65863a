package io.kamille.cache.decision;

import io.kamille.cache.fill.InFlightTable;
import io.kamille.cache.fill.Refusal;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Storability;
import io.kamille.cache.settings.CacheSettings;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.loop.WallClock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The part of an explanation that tells how a request goes toward the origin, and what becomes of
 * the answer. Any thread, one at a time.
 */
final class OriginExplainer {

  /** What follows for an answer when nothing in the request is against storing it. */
  private static final String IS_STORED = "the response is stored if it allows that";

  private static final Pattern SECTION = Pattern.compile("(.*) \\((RFC [^)]*)\\)");

  private static final FieldName[] FOR_THE_ORIGIN = {
    FieldName.RANGE, FieldName.IF_MATCH, FieldName.IF_UNMODIFIED_SINCE
  };

  private final InFlightTable flights;
  private final CacheSettings settings;
  private final WallClock clock;
  private final RequestHead request;
  private final CacheKey key;
  private final ExplanationSteps steps;

  OriginExplainer(
      InFlightTable flights,
      CacheSettings settings,
      WallClock clock,
      RequestHead request,
      CacheKey key,
      ExplanationSteps steps) {
    this.flights = flights;
    this.settings = settings;
    this.clock = clock;
    this.request = request;
    this.key = key;
    this.steps = steps;
  }

  /** The origin is asked without anybody waiting for it. */
  void behind() {
    boolean isOnItsWay = flights.find(key, request) != null;
    boolean isPostponed = flights.isPostponed(key);
    boolean isAsked = !isOnItsWay && !isPostponed;
    String found = isPostponed ? "it failed just now" : request.methodText();
    steps.add(
        "background",
        "RFC 5861 §3",
        isOnItsWay ? "a request for the key is on its way" : found,
        isAsked ? "the origin is asked in the background" : "the origin is not asked");
  }

  /** How the request goes toward the origin. */
  void way(ForwardWay way, ForwardReason reason) {
    switch (way) {
      case PASS_FOR_ORIGIN -> {
        steps.add(
            "for-the-origin",
            "RFC 9110 §13.1, §14.2",
            forTheOrigin(),
            "it bypasses the cache: a shared response would not fit it");
        if (ForwardWay.fillsAround(request, settings.background())) {
          fillAround();
        }
      }
      case PASS_UNSTORABLE -> {
        Storability why = Storability.of(request);
        explained(
            why.detail(), request.methodText(), why.explanation(), "the response is not stored: ");
      }
      case FRESHEN ->
          steps.add(
              "head",
              "RFC 9111 §4.3.5",
              request.methodText(),
              "it is forwarded by itself, and tells whether the stored response is still good");
      case PERHAPS ->
          steps.add(
              "uncachable",
              "RFC 9111 §4",
              "for "
                  + seconds(flights.uncachableNanos(key, request))
                  + " more: the last response could not be shared",
              "it is forwarded by itself, and no other request waits for it");
      case COLLAPSE -> collapse();
      case ALONE -> steps.add("alone", "RFC 9111 §4", alone(reason), "it is forwarded by itself");
    }
  }

  private void fillAround() {
    boolean isOnItsWay = flights.find(key, request) != null;
    boolean isUseless = flights.isPostponed(key) || flights.isUncachable(key, request);
    steps.add(
        "fill-around",
        "RFC 9110 §14.2",
        isOnItsWay
            ? "a request for the key is on its way"
            : isUseless ? "the last one failed just now" : "Range",
        isOnItsWay || isUseless
            ? "the whole is not fetched"
            : "the whole is fetched in the background and stored");
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
      steps.add(
          "collapse",
          "RFC 9111 §4",
          "no request for the key is on its way",
          "it is forwarded, and later requests wait for its response");
    } else {
      steps.add(
          "collapse",
          "RFC 9111 §4",
          "a request for the key is on its way",
          "it waits for that response");
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

  /** What becomes of the answer, as far as the request tells. */
  void storing() {
    boolean isAuthorized = request.fields().has(FieldName.AUTHORIZATION);
    steps.add(
        "storing",
        isAuthorized ? "RFC 9111 §3.5" : "RFC 9111 §3",
        isAuthorized ? "Authorization" : "nothing in the request forbids it",
        isAuthorized
            ? "the response is stored only with public, must-revalidate or s-maxage"
            : IS_STORED);
  }

  /** What became of the last answer for the key, if it was not stored. */
  void lastAnswer() {
    Refusal last = flights.refusal(key);
    if (last != null) {
      explained(
          last.detail(),
          last.status() + ", " + seconds(clock.nanos() - last.atNanos()) + " ago",
          last.explanation(),
          "the last response was not stored: ");
    }
  }

  /** A step whose rule has its section in parentheses at its end. */
  private void explained(String rule, String found, String explanation, String so) {
    Matcher matcher = SECTION.matcher(explanation);
    boolean hasSection = matcher.matches();
    steps.add(
        rule,
        hasSection ? matcher.group(2) : "RFC 9111 §3",
        found,
        so + (hasSection ? matcher.group(1) : explanation));
  }

  private static String seconds(long nanos) {
    return TimeUnit.NANOSECONDS.toSeconds(nanos) + " s";
  }
}
