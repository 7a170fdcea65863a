package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.ScriptedOrigin.Forwarded;
import io.kamille.cache.decision.Explanation;
import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.Decision;
import io.kamille.cache.rules.VaryBy;
import io.kamille.core.http.ContentCoding;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import io.kamille.core.setting.Sections;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is explained is what then happens, over generated requests and stored responses. */
class ExplainSweepTest {

  private static final long SEED = 20261121;
  private static final int ROUNDS = 3_000;

  private final SplittableRandom random = new SplittableRandom(SEED);

  @Test
  void whatIsExplainedIsWhatHappens() {
    try (CacheFixture cache = fixture()) {
      for (int round = 0; round < ROUNDS; round++) {
        String uri = "http://example.org/" + round;
        if (random.nextInt(5) > 0) {
          store(cache, uri);
          cache.advance(random.nextInt(120));
        }
        String asked = random.nextInt(4) == 0 ? uri + "?x=" + round : uri;
        check(cache, random.nextInt(5) == 0 ? "HEAD" : method(), asked, request());
      }
    }
  }

  /** A route that compresses, with bypass-cookies, a field that selects, a parameter to ignore. */
  private static CacheFixture fixture() {
    return new CacheFixture(
        4 << 20,
        Sections.copy(TestSettings.of(1 << 20))
            .with(
                "coding",
                new CompressionRules(
                    List.of(ContentCoding.GZIP), List.of("text/*"), 1, 1 << 20, false))
            .with("bypassCookies", NamePatterns.of(List.of("session")))
            .with("varyBy", new VaryBy(List.of("x-device")))
            .with("query", new QueryRules(NamePatterns.of(List.of("x")), false, false))
            .record());
  }

  private String method() {
    return random.nextInt(20) == 0 ? "POST" : "GET";
  }

  private void store(CacheFixture cache, String uri) {
    String control =
        some(
            "max-age=" + random.nextInt(100),
            "s-maxage=" + random.nextInt(100),
            "stale-while-revalidate=" + random.nextInt(100),
            "must-revalidate",
            "no-cache",
            "immutable",
            "private",
            "public");
    List<String> fields = new ArrayList<>(List.of("Cache-Control", control));
    if (random.nextBoolean()) {
      fields.addAll(List.of("ETag", "\"a\""));
    }
    if (random.nextInt(3) == 0) {
      fields.addAll(List.of("Vary", "Accept-Language"));
    }
    cache.origin.answering(
        forwarded -> forwarded.respond(200, "stored", fields.toArray(String[]::new)));
    cache.send("GET", uri, "Accept-Language", "de");
  }

  private String[] request() {
    List<String> fields = new ArrayList<>();
    String control =
        some(
            "max-age=" + random.nextInt(100),
            "max-stale=" + random.nextInt(100),
            "min-fresh=" + random.nextInt(50),
            "no-cache",
            "no-store",
            "only-if-cached");
    if (!control.isEmpty() && random.nextBoolean()) {
      fields.addAll(List.of("Cache-Control", control));
    }
    maybe(fields, 2, "Accept-Language", "de");
    maybe(fields, 9, "Cookie", "a=1; session=2");
    maybe(fields, 9, "Cookie", "sessions=2");
    maybe(fields, 5, "X-Device", "phone");
    maybe(fields, 9, "Authorization", "Basic YTpi");
    maybe(fields, 9, "If-None-Match", "\"a\"");
    maybe(fields, 12, "If-Match", "\"a\"");
    maybe(fields, 12, "Range", "bytes=0-1");
    maybe(fields, 15, "Pragma", "no-cache");
    maybe(fields, 15, "Accept-Encoding", "gzip, identity;q=0");
    maybe(fields, 20, "Upgrade", "websocket");
    return fields.toArray(String[]::new);
  }

  private void maybe(List<String> fields, int oneIn, String name, String value) {
    if (random.nextInt(oneIn) == 0) {
      fields.addAll(List.of(name, value));
    }
  }

  private static void check(CacheFixture cache, String method, String uri, String[] fields) {
    Explanation explained = cache.handler.explain(RequestHead.of(method, uri, fields));
    cache.origin.answering(
        forwarded -> forwarded.respond(200, "", "Cache-Control", "max-age=60", "ETag", "\"b\""));
    int before = cache.forwarded();
    RecordingReply reply = cache.send(method, uri, fields);
    int asked = cache.forwarded() - before;
    Forwarded forwarded = asked == 0 ? null : cache.origin.last();
    String situation = method + " " + uri + List.of(fields) + " " + explained + ", seed " + SEED;
    assertThat(asked).as(situation).isEqualTo(asks(explained) ? 1 : 0);
    assertThat(decision(explained, reply, forwarded)).as(situation).isTrue();
  }

  private static boolean asks(Explanation explained) {
    return switch (explained.decision()) {
      case SERVE, ANSWER, REFUSE, PURGE -> false;
      case SERVE_STALE, VALIDATE, FORWARD, PASS -> true;
    };
  }

  /** Whether the reply and the forwarded request show that this was decided. */
  private static boolean decision(
      Explanation explained, RecordingReply reply, @Nullable Forwarded forwarded) {
    String status = String.valueOf(reply.field("Cache-Status"));
    return switch (explained.decision()) {
      case SERVE, SERVE_STALE -> status.contains("; hit");
      case REFUSE -> reply.status() == 504;
      case ANSWER, PURGE -> false;
      case VALIDATE ->
          isForwarded(explained, status)
              && forwarded != null
              && "\"a\"".equals(forwarded.field(FieldName.IF_NONE_MATCH));
      case FORWARD, PASS ->
          isForwarded(explained, status) && status.contains("; stored") == isStored(explained);
    };
  }

  private static boolean isForwarded(Explanation explained, String status) {
    return explained.forward() != null && status.contains("; fwd=" + explained.forward().token());
  }

  /** Whether the answer that the test gives is to be stored, as the last steps tell. */
  private static boolean isStored(Explanation explained) {
    return explained.decision() == Decision.FORWARD
        && explained.because().stream()
            .anyMatch(
                step ->
                    step.rule().equals("storing")
                        && step.so().equals("the response is stored if it allows that"));
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
}
