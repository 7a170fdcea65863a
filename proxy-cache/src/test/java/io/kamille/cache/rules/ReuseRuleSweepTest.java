package io.kamille.cache.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What RFC 9111 §4 and §5.2 forbid or demand, over generated pairs of request and response. */
class ReuseRuleSweepTest {

  private static final long SEED = 20261121;
  private static final long T = 1_800_000_000;

  private final SplittableRandom random = new SplittableRandom(SEED);

  @Test
  void everyPlanKeepsToTheRules() {
    for (int round = 0; round < 200_000; round++) {
      String response =
          some(
              "max-age=" + random.nextInt(100),
              "s-maxage=" + random.nextInt(100),
              "stale-while-revalidate=" + random.nextInt(50),
              "stale-if-error=" + random.nextInt(50),
              "must-revalidate",
              "proxy-revalidate",
              "no-cache",
              "public");
      String request =
          some(
              "max-age=" + random.nextInt(100),
              "max-stale" + (random.nextBoolean() ? "" : "=" + random.nextInt(50)),
              "min-fresh=" + random.nextInt(50),
              "no-cache",
              "no-store",
              "only-if-cached");
      boolean hasTag = random.nextBoolean();
      long now = T + random.nextInt(200);
      check(response, request, hasTag, now);
    }
  }

  private static void check(String response, String request, boolean hasTag, long now) {
    var head = ResponseHead.of(200, "Cache-Control", response, hasTag ? "ETag" : "X", "\"a\"");
    var stored = StoredFacts.of(head, CachePolicy.DEFAULT, T, T);
    var get = RequestHead.of("GET", "http://example.org/", "Cache-Control", request);
    CacheControl asked = CacheControl.parse(request);
    CacheControl said = CacheControl.parse(response);
    CacheControl demands = CacheControl.ofRequest(get.fields());
    ReuseRule rule = ReuseRule.of(get, demands, stored, now);
    Decision plan = rule.decision(demands, stored);

    int staleness = -stored.ttlSeconds(now);
    boolean isStale = staleness >= 0;
    boolean isServed = plan == Decision.SERVE;
    boolean isServedStale = plan == Decision.SERVE_STALE;
    boolean isReused = isServed || isServedStale;
    boolean isStrict = said.has(Directive.MUST_REVALIDATE) || said.has(Directive.PROXY_REVALIDATE);

    var rules =
        new Rules(
            response + " / " + request + " / age " + (now - T) + ": " + plan + ", seed " + SEED);
    rules.check("§4 no-cache is validated", !(isReused && said.has(Directive.NO_CACHE)));
    rules.check("§5.2.2.2 must-revalidate is never stale", !(isReused && isStale && isStrict));
    rules.check(
        "§5.2.2.10 s-maxage is not stale for a client",
        !(isServed && isStale && said.seconds(Directive.S_MAXAGE) >= 0));
    rules.check(
        "§4.2.4 stale needs a permission",
        !(isServed && isStale) || staleness <= asked.seconds(Directive.MAX_STALE));
    rules.check(
        "RFC 5861 §3 lasts as long as it says",
        !isServedStale || (isStale && staleness < said.seconds(Directive.STALE_WHILE_REVALIDATE)));
    rules.check("§5.2.1.4 no-cache is validated", !(isReused && asked.has(Directive.NO_CACHE)));
    rules.check(
        "§5.2.1.1 max-age is kept",
        !isReused
            || asked.seconds(Directive.MAX_AGE) < 0
            || stored.ageSeconds(now) <= asked.seconds(Directive.MAX_AGE));
    rules.check(
        "§5.2.1.3 min-fresh is kept",
        !isServed || isStale || -staleness >= asked.seconds(Directive.MIN_FRESH));
    rules.check(
        "§5.2.1.7 only-if-cached never asks",
        !asked.has(Directive.ONLY_IF_CACHED) || isReused || plan == Decision.REFUSE);
    rules.check(
        "§5.2.1.7 only only-if-cached is refused",
        asked.has(Directive.ONLY_IF_CACHED) || plan != Decision.REFUSE);
    rules.check("§4.3.1 validation needs a validator", !(plan == Decision.VALIDATE) || hasTag);
    rules.check(
        "§2 reuse is the default",
        !request.isEmpty() || isStale || said.has(Directive.NO_CACHE) || isServed);
    rules.check(
        "RFC 9211 §2.2 fwd=stale means stale or no-cache",
        isReused
            || plan == Decision.REFUSE
            || rule.forward(!isStale) != ForwardReason.STALE
            || isStale
            || said.has(Directive.NO_CACHE));
  }

  private String some(String... directives) {
    List<String> chosen = new ArrayList<>();
    for (String directive : directives) {
      if (random.nextInt(3) == 0) {
        chosen.add(directive);
      }
    }
    return String.join(", ", chosen);
  }

  private record Rules(String situation) {

    void check(String rule, boolean holds) {
      assertThat(holds).as("%s (%s)", rule, situation).isTrue();
    }
  }
}
