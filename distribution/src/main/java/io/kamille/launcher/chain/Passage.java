package io.kamille.launcher.chain;

import io.kamille.cache.decision.Explanation;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.Reason;
import io.kamille.cache.rules.Storability;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.setting.Setting;
import io.kamille.launcher.configuration.RequestTest;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way along the stations of a route, without a network: what each has said, as
 * values. Confined to its thread.
 */
final class Passage {

  /** For these, the origin is asked before anything is answered. */
  private static final Set<Decision> ONWARD =
      Set.of(Decision.FORWARD, Decision.VALIDATE, Decision.PASS);

  /**
   * What a test can expect.
   *
   * @param because the step that it follows from; null for the choice of the route
   */
  record Found(Object value, @Nullable Reason because) {}

  private final RouteFacts facts;
  private final @Nullable InetAddress client;
  private final @Nullable InetAddress peer;
  private final @Nullable ResponseHead answer;
  private final List<Reason> because = new ArrayList<>();
  private final Map<Setting<?>, Found> found = new LinkedHashMap<>();
  private RequestHead request;
  private @Nullable ResponseHead response;
  private @Nullable Fields sent;
  private @Nullable Decision decision;
  private @Nullable ForwardReason forward;
  private @Nullable String key;
  private @Nullable Reason deciding;
  private @Nullable Storability notStored;
  private int status;
  private boolean isOver;
  private boolean isOther;

  /**
   * A passage that begins.
   *
   * @param client whose the request is; null to leave that open
   * @param peer who sends it
   * @param answer what an origin would answer; null if nobody asks what becomes of that
   */
  Passage(
      RouteFacts facts,
      RequestHead request,
      @Nullable InetAddress client,
      @Nullable InetAddress peer,
      @Nullable ResponseHead answer) {
    this.facts = facts;
    this.request = request;
    this.client = client;
    this.peer = peer;
    this.answer = answer;
  }

  RouteFacts facts() {
    return facts;
  }

  @Nullable InetAddress client() {
    return client;
  }

  @Nullable InetAddress peer() {
    return peer;
  }

  /** As the next station gets it. */
  RequestHead request() {
    return request;
  }

  void request(RequestHead next) {
    request = next;
  }

  /** What comes back to the next station before; null if nothing is known of it. */
  @Nullable ResponseHead response() {
    return response;
  }

  void response(ResponseHead next) {
    response = next;
  }

  /** Whether a test asks, and not an explanation. */
  boolean isTest() {
    return answer != null;
  }

  // What stations say

  /** A step that decides nothing. */
  void say(Reason step) {
    because.add(step);
  }

  void say(String rule, String section, String saw, String so) {
    say(new Reason(rule, section, saw, so));
  }

  /** The answer is an error of our own. */
  void refuse(int code, Reason step) {
    decide(Decision.REFUSE, step);
    find(RequestTest.STATUS, code, step);
    status = code;
    isOver = true;
  }

  /** The answer is our own; null if its head is not known. */
  void answer(String target, @Nullable ResponseHead head, Reason step) {
    decide(Decision.ANSWER, step);
    find(RequestTest.UPSTREAM, target, step);
    find(RequestTest.CACHE, RequestTest.OFF, step);
    if (head != null) {
      find(RequestTest.STATUS, head.status(), step);
    }
    response = head;
    isOver = true;
  }

  /** What is done with the request, unless another station still ends its way. */
  void decide(Decision what, Reason step) {
    decision = what;
    deciding = step;
    because.add(step);
  }

  /** The other upstream of a split gets it. */
  void turnToOther(Reason step) {
    isOther = true;
    decide(Decision.PASS, step);
  }

  /** Why it is forwarded past the cache. */
  void forward(ForwardReason reason) {
    forward = reason;
  }

  boolean isOther() {
    return isOther;
  }

  /** The cache has decided. */
  void decide(Explanation cache) {
    because.addAll(cache.because());
    decision = cache.decision();
    forward = cache.forward();
    key = cache.key();
    deciding = cache.deciding();
    notStored = cache.notStored();
    status = cache.status();
    if (status > 0) {
      find(RequestTest.STATUS, status, deciding);
    }
    isOver = !ONWARD.contains(cache.decision());
  }

  /** Whether nothing has been decided yet. */
  boolean isOpen() {
    return decision == null;
  }

  boolean isDecided(Decision what) {
    return decision == what;
  }

  /** Whether no station behind gets it. */
  boolean isOver() {
    return isOver;
  }

  /** The origin gets the request with these fields, and answers. */
  void arrive(Fields fields) {
    sent = fields;
    response = answer;
  }

  /** A value for tests, which follows from that step; null for the choice of the route. */
  void find(Setting<?> setting, Object value, @Nullable Reason step) {
    found.put(setting, new Found(value, step));
  }

  // What has come of it

  Explanation explanation() {
    return new Explanation(
        Objects.requireNonNull(decision, "decision"),
        forward,
        key,
        because,
        deciding(),
        status,
        notStored);
  }

  /** The step that has decided. */
  Reason deciding() {
    return Objects.requireNonNull(deciding, "deciding");
  }

  /** The choice of the route. */
  Reason first() {
    return because.getFirst();
  }

  Map<Setting<?>, Found> found() {
    return found;
  }

  /** The fields that the origin gets; null if none gets the request. */
  @Nullable Fields sent() {
    return sent;
  }
}
