package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.SearchVariance;
import io.kamille.core.http.Fields;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** An origin that changes its mind about queries, over generated requests and purges. */
class NoVarySearchSweepTest {

  private static final long SEED = 20261122;
  private static final int ROUNDS = 6_000;
  private static final String PATH = "http://example.org/a";
  private static final String[] QUERIES = {
    "", "?", "?a=1", "?a=2", "?b=1", "?a=1&b=1", "?b=1&a=1", "?a=1&b=2", "?a=%31&b=1"
  };
  private static final String[] VARIANCES = {
    "params=?0", "key-order", "params", "params=(\"a\")", "params, except=(\"a\")"
  };

  private record Asked(String query, int moment, RecordingReply reply) {}

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final Map<String, Integer> purged = new HashMap<>();
  private final Map<ScriptedOrigin.Forwarded, Integer> forwarded = new HashMap<>();
  private final List<Asked> open = new ArrayList<>();
  private int moment;
  private int reused;

  @Test
  void whatIsReusedWasCalledEquivalentByItself() {
    try (CacheFixture cache = NoVarySearchTest.fixture(true)) {
      for (int round = 1; round <= ROUNDS; round++) {
        ask(cache);
        if (random.nextInt(20) == 0) {
          purge(cache);
        }
        if (random.nextInt(3) > 0) {
          answerAll(cache, round);
        }
      }
      answerAll(cache, ROUNDS);
    }
    assertThat(reused).isGreaterThan(ROUNDS / 4);
  }

  private void ask(CacheFixture cache) {
    moment++;
    String query = QUERIES[random.nextInt(QUERIES.length)];
    open.add(new Asked(query, moment, cache.send("GET", PATH + query)));
    noteForwarded(cache);
  }

  private void noteForwarded(CacheFixture cache) {
    cache.origin.requests().forEach(request -> forwarded.putIfAbsent(request, moment));
  }

  private void purge(CacheFixture cache) {
    moment++;
    String query = QUERIES[random.nextInt(QUERIES.length)];
    cache.cache.operations().purge(PATH + query);
    purged.put(query, moment);
  }

  /** The content of a response tells its query, what it says, and when it was asked for. */
  private void answerAll(CacheFixture cache, int round) {
    String variance = VARIANCES[round / 100 % VARIANCES.length];
    List<ScriptedOrigin.Forwarded> requests = cache.origin.requests();
    for (int i = 0; i < requests.size(); i++) {
      moment++;
      ScriptedOrigin.Forwarded request = requests.get(i);
      String said = random.nextInt(30) == 0 ? VARIANCES[random.nextInt(5)] : variance;
      String target = request.request().pathAndQuery();
      String content = target.substring("/a".length()) + "|" + said + "|" + forwarded.get(request);
      request.respond(200, content, "Cache-Control", "max-age=60", "No-Vary-Search", said);
      cache.run();
      noteForwarded(cache);
    }
    requests.clear();
    forwarded.clear();
    open.forEach(this::check);
    open.clear();
  }

  private void check(Asked asked) {
    String[] made = asked.reply.text().split("\\|", -1);
    SearchVariance variance = SearchVariance.of(Fields.of("No-Vary-Search", made[1]));
    int asMade = Integer.parseInt(made[2]);
    purged.forEach(
        (query, purge) -> {
          if (asMade < purge && purge < asked.moment) {
            assertThat(areEquivalent(variance, query, made[0]))
                .as("%s is met by %s, after %s was purged", made[0], asked.query, query)
                .isFalse();
          }
        });
    if (made[0].equals(asked.query)) {
      return;
    }
    reused++;
    assertThat(variance.isDefault()).as("%s answered by %s", asked.query, made[0]).isFalse();
    assertThat(simplified(variance, asked.query)).isEqualTo(simplified(variance, made[0]));
  }

  private static boolean areEquivalent(SearchVariance variance, String one, String other) {
    return one.equals(other)
        || (!variance.isDefault() && simplified(variance, one).equals(simplified(variance, other)));
  }

  private static String simplified(SearchVariance variance, String query) {
    return variance.simplified(RequestHead.of("GET", PATH + query));
  }
}
