package io.kamille.cache;

import static io.kamille.cache.AnswersOracle.judged;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.AnswersOracle.Plan;
import io.kamille.cache.AnswersOracle.Request;
import io.kamille.cache.AnswersOracle.Response;
import io.kamille.cache.AnswersOracle.Stored;
import io.kamille.cache.ScriptedOrigin.Forwarded;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.rules.CacheControl;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.CompressionRules;
import io.kamille.cache.rules.StaleLimits;
import io.kamille.cache.rules.StatusLifetimes;
import io.kamille.cache.settings.DiskSettings;
import io.kamille.cache.station.CacheHandler;
import io.kamille.cache.tiers.Store;
import io.kamille.core.Await;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.h1.FuzzBudget;
import io.kamille.core.http.FieldName;
import io.kamille.core.setting.Sections;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random walks over what is stored, what the origin says and who asks, compared with {@link
 * AnswersOracle}. A step is one request, a pause before it, a purge, or that memory is forgotten.
 * Each walk has a URI and a seed of its own; a failure prints the seed and the steps.
 */
class AnswersFuzzTest {

  private static final int STEPS = 50_000;
  private static final int STEPS_OF_A_WALK = 25;
  private static final int MAX_OBJECT_BYTES = 1_200_000;

  /** Beyond what a fetch goes on for that nobody waits for. */
  private static final String LONG = "x".repeat(1_100_000);

  private static final String TOO_LONG = "x".repeat(MAX_OBJECT_BYTES);

  /** Of a hundred long responses, so many are: they take time. */
  private static final int LONG_PERCENT = 1;

  private static final String[] LIFETIMES = {
    "max-age=10",
    "max-age=10, stale-while-revalidate=20",
    "max-age=10, stale-if-error=40",
    "max-age=5, stale-while-revalidate=30, stale-if-error=40",
    "max-age=10, must-revalidate",
    "max-age=10, no-cache",
    ""
  };

  private static final String[] DEMANDS = {
    "no-cache", "max-age=0", "max-stale=15", "only-if-cached", "no-store"
  };

  /** What the origin does with a request. */
  private enum Answer {
    PAGE,
    SAME_PAGE,
    PRIVATE_UPDATE,
    MISTAKEN,
    OTHER_CODING,
    PRIVATE,
    NO_STORE,
    SET_COOKIE,
    VARY_ALL,
    OTHER_VARY,
    CUT,
    LARGE,
    TOO_LARGE,
    MISSING,
    MISSING_FOR_A_WHILE,
    GONE,
    ELSEWHERE,
    FORBIDDEN,
    UNAUTHORIZED_FOR_A_WHILE,
    FAILING,
    UNAVAILABLE,
    UNAVAILABLE_FOR_A_WHILE,
    NOT_IMPLEMENTED,
    REFUSED
  }

  private static final Answer[] ANSWERS = Answer.values();

  /** Where a walk goes. */
  private enum Place {
    MEMORY,
    MEMORY_BY_OPERATOR,
    DISK,
    OWNER_AND_NODE
  }

  /** Of so many walks with a disk, one has a restart. */
  private static final int WALKS_OF_A_RESTART = 50;

  private final CacheFixture plain = new CacheFixture(16 << 20, TestSettings.of(MAX_OBJECT_BYTES));
  private final CacheFixture ofOperator =
      new CacheFixture(
          16 << 20,
          TestSettings.of(
              new CachePolicy(
                  false,
                  CacheControl.ABSENT,
                  new StatusLifetimes(Map.of("5xx", 5)),
                  CacheControl.ABSENT,
                  new StaleLimits(30, 0, Integer.MAX_VALUE)),
              CompressionRules.OFF,
              MAX_OBJECT_BYTES));

  /** A node that asks the plain one as its owner, and stores what that one has fresh. */
  private final CacheFixture node = new CacheFixture(16 << 20, TestSettings.of(MAX_OBJECT_BYTES));

  private final OwnerStation station = new OwnerStation(plain.handler);
  private final CacheHandler nodeHandler =
      node.cache.handler(station, TestSettings.of(MAX_OBJECT_BYTES), RouteGate.OPEN);
  private int copiesServed;

  private @TempDir Path directory;
  private CacheFixture disk = plain;

  private CacheFixture openDisk() throws IOException {
    var settings =
        Sections.copy(
                Sections.of(
                    DiskSettings.SECTION,
                    "{path: %s, capacity: 1GiB, keep-memory: off, admit: always, peak: off}",
                    directory.resolve("store")))
            .with("sendFromBytes", Long.MAX_VALUE)
            .record();
    return new CacheFixture(16 << 20, TestSettings.of(MAX_OBJECT_BYTES), settings, Runnable::run);
  }

  @Test
  void theCacheAnswersAsTheRulesSay() throws Exception {
    FuzzBudget budget = new FuzzBudget(STEPS / STEPS_OF_A_WALK);
    SplittableRandom seeds = new SplittableRandom(FuzzBudget.SEED);
    disk = openDisk();
    try (plain;
        ofOperator;
        node;
        AutoCloseable _ = () -> disk.close()) {
      while (budget.hasNext()) {
        new Walk(seeds.nextLong(), budget.round()).go();
      }
    }
    assertThat(copiesServed).isPositive();
    budget.report("answers, walks of " + STEPS_OF_A_WALK + " steps");
  }

  /** One resource and what happens to it. */
  private final class Walk {

    private final long seed;
    private final SplittableRandom random;
    private final String uri;
    private final Place place;
    private CacheFixture fixture;
    private final AnswersOracle oracle;

    /** All that was ever stored, and not purged since: a node may have a copy of it. */
    private final Set<Stored> ever = new LinkedHashSet<>();

    private final List<String> steps = new ArrayList<>();

    /**
     * With a disk all answers vary, or none: what memory has for a request is used, whatever else
     * the disk has for it.
     */
    private final boolean hasVariants;

    private String tag = "";
    private int version;
    private boolean isSoftlyPurged;

    Walk(long seed, long number) {
      this.seed = seed;
      this.random = new SplittableRandom(seed);
      this.uri = "http://example.org/" + number;
      this.place =
          switch (random.nextInt(12)) {
            case 0 -> Place.DISK;
            case 1 -> Place.OWNER_AND_NODE;
            case 2, 3, 4, 5, 6 -> Place.MEMORY_BY_OPERATOR;
            default -> Place.MEMORY;
          };
      this.fixture =
          switch (place) {
            case MEMORY, OWNER_AND_NODE -> plain;
            case MEMORY_BY_OPERATOR -> ofOperator;
            case DISK -> disk;
          };
      this.hasVariants = place == Place.DISK && random.nextBoolean();
      this.oracle =
          place == Place.MEMORY_BY_OPERATOR
              ? new AnswersOracle(LONG.length() + 100, 5, 30)
              : new AnswersOracle(LONG.length() + 100, 0, 0);
    }

    /** Walks; gives up if the index refuses a response, as it may while its thread is behind. */
    void go() {
      fixture.cache.store.index().clear();
      fixture.origin.requests().clear();
      node.cache.store.index().clear();
      int restart = place == Place.DISK ? random.nextInt(WALKS_OF_A_RESTART * STEPS_OF_A_WALK) : -1;
      long before = refusals();
      for (int i = 0; i < STEPS_OF_A_WALK; i++) {
        try {
          if (i == restart) {
            restart();
          }
          step();
          ever.addAll(oracle.store);
        } catch (AssertionError | RuntimeException | IOException | InterruptedException failed) {
          if (refusals() > before) {
            return;
          }
          throw new AssertionError("seed " + seed + "\n" + String.join("\n", steps), failed);
        }
      }
    }

    private long refusals() {
      String refused = "kamille_cache_index_refusals_total";
      return fixture.counted(refused) + node.counted(refused);
    }

    private long now() {
      return fixture.clock.epochSeconds();
    }

    private void step() throws InterruptedException {
      int kind = random.nextInt(20);
      if (kind == 0) {
        purge();
        return;
      }
      if (place == Place.DISK) {
        // A lookup beside a change may miss a record.
        awaitDisk();
        if (random.nextInt(5) == 0) {
          forgetMemory();
        }
      }
      int pause = kind < 12 ? 0 : random.nextInt(1, kind < 18 ? 9 : 40);
      if (pause > 0) {
        fixture.advance(pause);
      }
      if (place == Place.OWNER_AND_NODE) {
        node.advance(now() - node.clock.epochSeconds());
      }
      boolean isAtNode = place == Place.OWNER_AND_NODE && random.nextBoolean();
      Request request = request(isAtNode);
      if (isAtNode) {
        askNode(request, pause);
      } else {
        ask(request, pause);
      }
    }

    /** What is stored lies on the disk alone from now on. */
    private void forgetMemory() throws InterruptedException {
      steps.add(now() + " memory is forgotten");
      Store store = fixture.cache.store;
      awaitDisk();
      // A copy is given up if something else changes under its key.
      store.forEach((key, all) -> all.forEach(response -> store.copy(key, response)));
      awaitDisk();
      store.index().clear();
    }

    private void awaitDisk() throws InterruptedException {
      CountDownLatch isKept = new CountDownLatch(1);
      fixture.cache.store.whenKept(isKept::countDown);
      isKept.await();
    }

    private void restart() throws IOException, InterruptedException {
      steps.add(now() + " restart");
      long seconds = now() - CacheFixture.NOW;
      forgetMemory();
      fixture.stop();
      disk = openDisk();
      disk.advance(seconds);
      fixture = disk;
      Await.until(() -> fixture.counted("kamille_cache_disk_recovered") == 1);
    }

    private void purge() {
      boolean isSoft = random.nextInt(4) > 0;
      // What the disk alone has is compared when it is read; of several, the last purge counts.
      if (isSoft && place == Place.DISK) {
        if (isSoftlyPurged) {
          return;
        }
        isSoftlyPurged = true;
      }
      steps.add(now() + (isSoft ? " soft purge" : " hard purge"));
      PurgeTarget target = Objects.requireNonNull(PurgeTarget.host("example.org"));
      fixture.cache.operations().purges().purge(target, isSoft);
      if (place == Place.OWNER_AND_NODE) {
        node.cache.operations().purges().purge(target, isSoft);
      }
      ever.addAll(oracle.store);
      if (isSoft) {
        ever.forEach(stored -> soften(stored, now()));
      } else {
        ever.clear();
        oracle.store.clear();
      }
    }

    /** As docs/operations/invalidate.md has it: 60 s, but no longer than without the purge. */
    private static void soften(Stored stored, long now) {
      long left = stored.ttl(now);
      if (left > 0) {
        boolean isStrict = stored.isAlwaysValidated || isStrict(stored);
        long window = Math.min(Math.max(stored.whileRevalidate, 60), left + stored.whileRevalidate);
        stored.whileRevalidate = isStrict ? 0 : window;
        stored.maxStale = Math.min(stored.maxStale, window);
        stored.lifetime -= left;
      }
    }

    private static boolean isStrict(Stored stored) {
      return stored.response.fields().getOrDefault("cache-control", "").contains("must-revalidate");
    }

    // Who asks

    private Request request(boolean isAtNode) {
      Map<String, String> fields = new HashMap<>();
      if (random.nextInt(3) == 0) {
        fields.put("cache-control", DEMANDS[random.nextInt(DEMANDS.length)]);
      }
      switch (random.nextInt(6)) {
        case 0 -> fields.put("if-none-match", tag.isEmpty() ? "\"none\"" : tag);
        case 1 -> fields.put("range", random.nextBoolean() ? "bytes=2-4" : "bytes=9000000-");
        default -> {}
      }
      if (random.nextInt(3) == 0) {
        fields.put("accept-language", random.nextBoolean() ? "de" : "fr");
      }
      if (random.nextInt(12) == 0) {
        fields.put(isAtNode || random.nextBoolean() ? "cookie" : "authorization", "a=b");
      }
      return new Request(random.nextInt(8) == 0 ? "HEAD" : "GET", fields);
    }

    private void ask(Request request, int pause) {
      long now = now();
      Stored stored = oracle.select(request, now);
      Plan plan = oracle.plan(request, stored, now);
      Answer next = next();
      steps.add(now + " +" + pause + " " + request + " " + plan + ", then " + next);
      int before = fixture.forwarded();
      RecordingReply reply = send(fixture, fixture.handler, request);
      boolean isForwarded = fixture.forwarded() > before;
      Expected expected = answers(next, request, stored, plan, isForwarded, now);
      switch (plan) {
        case SERVE, SERVE_STALE ->
            assertServed(reply, request, Objects.requireNonNull(stored), now);
        case REFUSE -> assertThat(reply.status()).isEqualTo(504);
        case ASK, PASS -> assertAnswered(reply, request, Objects.requireNonNull(expected), now);
      }
    }

    private RecordingReply send(CacheFixture client, CacheHandler handler, Request request) {
      List<String> words = new ArrayList<>();
      request.fields().forEach((name, value) -> words.addAll(List.of(name, value)));
      RecordingReply reply = new RecordingReply();
      handler.handle(client.exchange(request.method(), uri, reply, words.toArray(String[]::new)));
      client.run();
      fixture.run();
      return reply;
    }

    /** What the origin makes of it, if it was asked. */
    private @Nullable Expected answers(
        Answer next,
        Request request,
        @Nullable Stored stored,
        Plan plan,
        boolean isForwarded,
        long now) {
      boolean isAsked = plan == Plan.ASK || plan == Plan.PASS;
      if (plan != Plan.SERVE_STALE) {
        assertThat(isForwarded).as("forwarded").isEqualTo(isAsked);
      }
      if (plan == Plan.SERVE_STALE && isForwarded) {
        return answer(next, request.inBackground(), stored, true, now);
      }
      boolean isAbout = plan == Plan.ASK || (stored != null && stored.mayServeOnError(now));
      return isAsked ? answer(next, request, isAbout ? stored : null, plan == Plan.ASK, now) : null;
    }

    /** A node that is not the owner: it serves what the owner says, or a copy that is of use. */
    private void askNode(Request request, int pause) {
      long now = now();
      Answer next = next();
      int before = fixture.forwarded();
      station.begin();
      RecordingReply reply = send(node, nodeHandler, request);
      Request asked = station.asked();
      Stored stored = asked == null ? null : oracle.select(asked, now);
      Plan plan = asked == null ? Plan.SERVE : oracle.plan(asked, stored, now);
      steps.add(
          now + " +" + pause + " node: " + request + ", " + asked + " " + plan + ", then " + next);
      List<Response> allowed = new ArrayList<>();
      Response came = null;
      List<Stored> copies =
          ever.stream().filter(copy -> AnswersOracle.matches(copy, request)).toList();
      if (asked != null) {
        boolean isForwarded = fixture.forwarded() > before;
        Expected expected = answers(next, asked, stored, plan, isForwarded, now);
        if (expected != null) {
          came = expected.came;
          allowed.add(came);
        }
        if (expected != null && expected.whole != null) {
          allowed.add(expected.whole);
        } else if (stored != null) {
          allowed.add(stored.response);
        }
        node.run();
      }
      boolean isError = allowed.stream().anyMatch(one -> AnswersOracle.isError(one.status()));
      for (Stored copy : copies) {
        boolean isInUse = isServed(oracle.plan(request, copy, now));
        boolean isConfirmed =
            came != null && came.status() == 304 && AnswersOracle.hasTagOf(came, copy.response);
        boolean standsIn = isError && copy.mayServeOnError(now);
        if (isInUse || isConfirmed || standsIn) {
          allowed.add(copy.response);
        }
        if (came != null && isConfirmed && !came.fields().containsValue("private")) {
          Map<String, String> fields = new HashMap<>(copy.response.fields());
          fields.putAll(came.fields());
          Response fresh = new Response(200, fields, copy.response.content(), true);
          keepCopy(fresh, copy.selectedBy, now);
        }
      }
      if (came != null && came.isWhole() && oracle.mayStore(request, came)) {
        boolean varies = came.fields().containsKey("vary");
        keepCopy(came, varies ? AnswersOracle.languageOf(request) : "", now);
      }
      String own = reply.field("X-Own");
      copiesServed += own != null && asked == null ? 1 : 0;
      if (own != null) {
        assertThat(allowed.stream().flatMap(one -> Stream.of(one, judged(request, one))))
            .anySatisfy(one -> assertIs(reply, request, one));
      }
    }

    private void keepCopy(Response response, String selectedBy, long now) {
      Stored copy = new Stored(response, selectedBy);
      oracle.date(copy, now);
      ever.add(copy);
    }

    private static boolean isServed(Plan plan) {
      return plan == Plan.SERVE || plan == Plan.SERVE_STALE;
    }

    private Answer next() {
      boolean isUsual = random.nextInt(3) == 0;
      return ANSWERS[random.nextInt(isUsual ? 2 : ANSWERS.length)];
    }

    // What comes

    /**
     * What the client is to get: a whole response by conditions and ranges, or the origin's answer.
     */
    private record Expected(
        @Nullable Response whole, Response came, boolean isOfOrigin, boolean isConditional) {}

    private Expected answer(
        Answer kind, Request request, @Nullable Stored stored, boolean mayValidate, long now) {
      Forwarded forwarded = fixture.origin.last();
      String condition = forwarded.field(FieldName.IF_NONE_MATCH);
      boolean isValidation =
          mayValidate && stored != null && stored.response.tag() != null && condition != null;
      if (isValidation && stored != null) {
        assertThat(condition).isEqualTo(stored.response.tag());
      }
      boolean isOwn = !isValidation && condition != null;
      if (kind == Answer.REFUSED) {
        forwarded.fail(ErrorType.CONNECTION_REFUSED);
        Response standIn = oracle.failed(stored, now);
        return new Expected(standIn, new Response(502, Map.of(), "", true), standIn == null, false);
      }
      boolean isMistaken = isValidation && (kind == Answer.MISTAKEN || kind == Answer.OTHER_CODING);
      if (isMistaken) {
        String other = kind == Answer.MISTAKEN ? "\"other\"" : condition;
        Response no =
            new Response(304, Map.of("etag", other, "content-encoding", "gzip"), "", true);
        send(forwarded, no, request);
        forwarded = fixture.origin.last();
        assertThat(forwarded.field(FieldName.IF_NONE_MATCH)).as("asked again").isNull();
        kind = ANSWERS[random.nextInt(Answer.PRIVATE.ordinal(), Answer.REFUSED.ordinal())];
        steps.add("  asked again, then " + kind);
      }
      boolean isCut = kind == Answer.CUT && !request.isHead();
      Response came = response(kind, request, isMistaken ? null : condition, isCut);
      steps.add("  " + came.status() + " " + came.fields());
      send(forwarded, came, request);
      boolean isOfCache = mayValidate || stored != null;
      Response whole =
          isOfCache
              ? oracle.answered(request, came, stored, isValidation && !isMistaken, now)
              : null;
      return new Expected(whole, came, whole == null, isOwn);
    }

    private Response response(
        Answer kind, Request request, @Nullable String condition, boolean isCut) {
      Map<String, String> fields = new HashMap<>();
      switch (kind) {
        case SAME_PAGE, PRIVATE_UPDATE, MISTAKEN, OTHER_CODING -> {
          if (condition != null && condition.equals(tag)) {
            String control = LIFETIMES[random.nextInt(LIFETIMES.length - 1)];
            fields.put("cache-control", kind == Answer.PRIVATE_UPDATE ? "private" : control);
            fields.put("etag", tag);
            return new Response(304, fields, "", true);
          }
        }
        case MISSING, GONE, ELSEWHERE, FORBIDDEN -> fields.put("cache-control", "no-store");
        case MISSING_FOR_A_WHILE, UNAUTHORIZED_FOR_A_WHILE, UNAVAILABLE_FOR_A_WHILE ->
            fields.put("cache-control", "max-age=4");
        default -> {}
      }
      if (hasVariants) {
        fields.put("vary", "Accept-Language");
      }
      String content = "v" + ++version + "-0123456789";
      int status = status(kind);
      if (status != 200) {
        return new Response(status, fields, content, true);
      }
      boolean hasTags = random.nextInt(3) > 0;
      boolean isKnown =
          kind == Answer.LARGE
              && place != Place.OWNER_AND_NODE
              && tag.equals(request.field("if-none-match"));
      if (!isKnown) {
        tag = hasTags ? "\"v" + version + "\"" : "";
      }
      fields.put("etag", tag);
      fields.put("x-own", "v" + version);
      fields.put("content-digest", "sha-256=:v" + version + ":");
      fields.put("cache-control", control(kind));
      if (kind == Answer.OTHER_VARY && place != Place.DISK) {
        fields.put("vary", "Accept-Language");
      } else if (kind == Answer.VARY_ALL) {
        fields.put("vary", "*");
      } else if (kind == Answer.SET_COOKIE) {
        fields.put("set-cookie", "c=" + version);
      }
      if ((kind == Answer.LARGE || kind == Answer.TOO_LARGE)
          && random.nextInt(100) < LONG_PERCENT) {
        content += kind == Answer.LARGE ? LONG : TOO_LONG;
      }
      fields.values().removeIf(String::isEmpty);
      return new Response(200, fields, content, !isCut);
    }

    private String control(Answer kind) {
      return switch (kind) {
        case PRIVATE -> "private, max-age=10";
        case NO_STORE -> "no-store";
        default -> LIFETIMES[random.nextInt(LIFETIMES.length)];
      };
    }

    private static int status(Answer kind) {
      return switch (kind) {
        case MISSING, MISSING_FOR_A_WHILE -> 404;
        case GONE -> 410;
        case ELSEWHERE -> 302;
        case FORBIDDEN -> 403;
        case UNAUTHORIZED_FOR_A_WHILE -> 401;
        case FAILING -> 500;
        case UNAVAILABLE, UNAVAILABLE_FOR_A_WHILE -> 503;
        case NOT_IMPLEMENTED -> 501;
        default -> 200;
      };
    }

    private void send(Forwarded to, Response response, Request request) {
      List<String> words = new ArrayList<>();
      response.fields().forEach((name, value) -> words.addAll(List.of(name, value)));
      String content = response.content();
      to.head(response.status(), content.length(), words.toArray(String[]::new));
      if (request.isHead() || response.status() == 304) {
        to.end();
      } else if (response.isWhole()) {
        to.write(content).end();
      } else {
        to.write(content.substring(0, 3));
        if (!to.isCancelled()) {
          to.abort();
        }
      }
      fixture.run();
    }

    // What the client gets

    private void assertServed(RecordingReply reply, Request request, Stored stored, long now) {
      assertIs(reply, request, judged(request, stored.response));
      assertThat(reply.field("Cache-Status")).contains("; hit; ttl=" + stored.ttl(now));
      if (reply.status() != 416) {
        assertThat(reply.field("Age")).isEqualTo(Long.toString(now - stored.received));
      }
    }

    private void assertAnswered(
        RecordingReply reply, Request request, Expected expected, long now) {
      Response whole = expected.whole;
      Response came = expected.came;
      if (whole != null) {
        assertIs(reply, request, judged(request, whole));
        assertThat(reply.field("Cache-Status")).contains("; fwd=");
        return;
      }
      if (came.status() == 502) {
        assertThat(reply.failure()).isNotNull();
        return;
      }
      String condition = request.field("if-none-match");
      boolean isMet = came.status() == 200 && condition != null && condition.equals(came.tag());
      if (isMet && expected.isConditional) {
        // Either may judge it.
        assertThat(reply.status()).isIn(200, 304);
      } else if (came.status() == 304 || isMet) {
        assertThat(reply.status()).isEqualTo(304);
      } else {
        assertIs(reply, request, came);
      }
      boolean isStored =
          oracle.store.stream()
              .anyMatch(stored -> stored.response.equals(came) && stored.received == now);
      String told = reply.field("Cache-Status");
      if (told != null && came.isWhole()) {
        assertThat(told.contains("; stored")).as("%s", told).isEqualTo(isStored);
      }
    }

    private void assertIs(RecordingReply reply, Request request, Response response) {
      assertThat(reply.status()).isEqualTo(response.status());
      boolean isBare = request.isHead() || response.status() == 304 || response.status() == 416;
      if (response.isWhole() || isBare) {
        assertThat(reply.isComplete()).as("complete").isTrue();
        assertThat(reply.text()).isEqualTo(isBare ? "" : response.content());
      } else {
        assertThat(reply.isAborted()).as("aborted").isTrue();
      }
      if (response.fields().containsKey("x-own")) {
        boolean hasWhole = response.status() == 200;
        assertThat(reply.field("X-Own")).isEqualTo(response.fields().get("x-own"));
        assertThat(reply.field("Set-Cookie")).isEqualTo(response.fields().get("set-cookie"));
        assertThat(reply.field("Content-Digest"))
            .isEqualTo(hasWhole ? response.fields().get("content-digest") : null);
      }
    }
  }
}
