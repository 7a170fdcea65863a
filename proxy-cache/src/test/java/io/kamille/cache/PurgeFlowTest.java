package io.kamille.cache;

import static io.kamille.cache.CacheFixture.URI;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.removal.PurgeReport;
import io.kamille.cache.rules.Tags;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Responses that operators and origins take back, many at once. */
class PurgeFlowTest {

  private static final PurgeTarget A = PurgeTarget.tags(List.of("a"));

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private void purge(@Nullable PurgeTarget target) {
    purge(target, false);
  }

  private void purge(@Nullable PurgeTarget target, boolean isSoft) {
    fixture.cache.operations().purges().purge(Objects.requireNonNull(target), isSoft);
  }

  @ParameterizedTest
  @CsvSource({
    "Surrogate-Key, a",
    "Surrogate-Key, b a  c",
    "Cache-Tag, a",
    "Cache-Tag, 'b , a,c'",
  })
  void whatHasThePurgedTagIsGone(String field, String value) {
    fixture.store("x", field, value);
    purge(A);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "Surrogate-Key, b",
    "Surrogate-Key, A",
    "Surrogate-Key, ab",
    "Cache-Tag, b c",
    "Cache-Groups, '\"a\"'",
  })
  void whatHasOtherTagsStays(String field, String value) {
    fixture.store("x", field, value);
    purge(A);
    assertThat(fixture.isReused()).isTrue();
  }

  @Test
  void whatComesAfterThePurgeStays() {
    fixture.store("x", "Surrogate-Key", "a");
    purge(A);
    fixture.store("y", "Surrogate-Key", "a");
    assertThat(fixture.get().text()).isEqualTo("y");
    purge(A);
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.org/page",
        "http://example.org/p",
        "HTTP://Example.ORG:80/p",
        "http://example.org"
      })
  void whatBeginsWithThePurgedPrefixIsGone(String prefix) {
    fixture.store("x");
    purge(PurgeTarget.prefix(prefix));
    assertThat(fixture.isReused()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://example.org/page/",
        "https://example.org/page",
        "http://example.org:81/",
        "http://example.or/",
      })
  void whatBeginsOtherwiseStays(String prefix) {
    fixture.store("x");
    purge(PurgeTarget.prefix(prefix));
    assertThat(fixture.isReused()).isTrue();
  }

  @Test
  void aHostIsPurgedWithItsPort() {
    fixture.store("x");
    purge(PurgeTarget.host("example.com"));
    purge(PurgeTarget.host("example.org:8080"));
    assertThat(fixture.isReused()).isTrue();
    purge(PurgeTarget.host("Example.org"));
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void everythingIsPurged() {
    fixture.store("x");
    purge(PurgeTarget.all());
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void aPurgedVariantLeavesTheOthers() {
    fixture.fill(
        CacheFixture.fields("Accept", "text/a"),
        200,
        "a",
        "Cache-Control",
        "max-age=60",
        "Vary",
        "Accept",
        "Cache-Tag",
        "a");
    fixture.fill(
        CacheFixture.fields("Accept", "text/b"),
        200,
        "b",
        "Cache-Control",
        "max-age=60",
        "Vary",
        "Accept",
        "Cache-Tag",
        "b");
    purge(A);
    assertThat(fixture.isReused("Accept", "text/b")).isTrue();
    assertThat(fixture.isReused("Accept", "text/a")).isFalse();
  }

  @Test
  void aResponseOnItsWayDuringThePurgeIsNotStored() {
    RecordingReply reply = fixture.get();
    purge(A);
    fixture.origin.last().respond(200, "old", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    assertThat(reply.text()).isEqualTo("old");
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void aResponseOnItsWayThatThePurgeIsNotAboutIsStored() {
    fixture.get();
    purge(A);
    fixture.origin.last().respond(200, "x", "Cache-Control", "max-age=60", "Cache-Tag", "b");
    assertThat(fixture.isReused()).isTrue();
  }

  @Test
  void whoComesAfterThePurgeGetsNothingOfARequestSentBefore() {
    RecordingReply before = fixture.get();
    ScriptedOrigin.Forwarded old = fixture.origin.last();
    RecordingReply follower = fixture.get();
    purge(A);
    RecordingReply after = fixture.get();
    RecordingReply another = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(1);
    old.respond(200, "old", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    fixture.run();
    assertThat(before.text()).isEqualTo("old");
    assertThat(follower.text()).isEqualTo("old");
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    fixture.run();
    assertThat(after.text()).isEqualTo("new");
    assertThat(another.text()).isEqualTo("new");
    assertThat(fixture.get().text()).isEqualTo("new");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void whoComesAfterThePurgeOfTheUriFollowsNoRequestSentBefore() {
    fixture.get();
    purge(PurgeTarget.host("example.org"));
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void purgesOfOtherTagsPartNoFlight() {
    List<RecordingReply> all = new ArrayList<>();
    for (int i = 0; i < 27; i++) {
      all.add(fixture.get());
      purge(PurgeTarget.tags(List.of("other" + i)));
    }
    fixture.origin.last().respond(200, "x", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    fixture.run();
    assertThat(all).extracting(RecordingReply::text).containsOnly("x");
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(fixture.isReused()).isTrue();
  }

  @Test
  void whoWaitsForAValidationOfWhatIsPurgedMeanwhileSharesOneNewRequest() {
    fixture.fill(200, "old", "Cache-Control", "max-age=0", "Cache-Tag", "a", "ETag", "\"1\"");
    fixture.get();
    ScriptedOrigin.Forwarded validation = fixture.origin.last();
    RecordingReply follower = fixture.get();
    purge(A);
    RecordingReply after = fixture.get();
    int before = fixture.forwarded();
    validation.respond(304, "", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(before + 1);
    fixture.origin.last().respond(200, "new", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    fixture.run();
    assertThat(follower.text()).isEqualTo("new");
    assertThat(after.text()).isEqualTo("new");
  }

  @Test
  void aFillWhoseTagsAreOthersIsFollowedStill() {
    fixture.get();
    fixture.origin.last().head(200, 3, "Cache-Control", "max-age=60", "Cache-Tag", "b");
    purge(A);
    RecordingReply follower = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().write("new").end();
    fixture.run();
    assertThat(follower.text()).isEqualTo("new");
  }

  @Test
  void whatIsPurgedSoftlyIsServedWhileItIsValidated() {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    purge(A, true);
    RecordingReply stale = fixture.get();
    assertThat(stale.text()).isEqualTo("x");
    assertThat(stale.field("Cache-Status")).contains("; hit; ttl=0");
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "y", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    fixture.run();
    assertThat(fixture.get().text()).isEqualTo("y");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"GET, max-stale", "GET, 'max-stale, max-age=99'", "HEAD, max-stale", "HEAD, x"})
  void whatIsPurgedSoftlyIsValidatedWhoeverAsksForIt(String method, String control) {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    purge(A, true);
    RecordingReply stale = fixture.send(method, URI, "Cache-Control", control);
    assertThat(stale.field("Cache-Status")).contains("; hit; ttl=0");
    assertThat(fixture.forwarded()).isEqualTo(2);
    assertThat(fixture.origin.last().request().methodText()).isEqualTo("GET");
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo("\"1\"");
    assertThat(fixture.origin.last().field(FieldName.CACHE_CONTROL)).isNull();
    fixture.origin.last().respond(200, "y", "Cache-Control", "max-age=60", "Cache-Tag", "a");
    fixture.run();
    assertThat(fixture.get().text()).isEqualTo("y");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-stale", "max-stale=99, max-age=999"})
  void afterItsTimeNobodyGetsWhatIsPurgedSoftlyStale(String control) {
    fixture.fill(200, "x", "Cache-Control", "max-age=6000", "Cache-Tag", "a", "ETag", "\"1\"");
    purge(A, true);
    fixture.advance(60);
    RecordingReply reply = fixture.get("Cache-Control", control);
    assertThat(reply.isBegun()).isFalse();
    fixture.origin.last().respond(200, "y");
    assertThat(reply.text()).isEqualTo("y");
  }

  @Test
  void whatIsPurgedSoftlyIsFreshAgainAfterA304() {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    purge(A, true);
    fixture.get();
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60", "ETag", "\"1\"");
    fixture.run();
    assertThat(fixture.isReused()).isTrue();
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void whatIsPurgedSoftlyAndAskedForTooLateWaitsForTheOrigin() {
    fixture.fill(200, "x", "Cache-Control", "max-age=6000", "Cache-Tag", "a", "ETag", "\"1\"");
    purge(A, true);
    fixture.advance(61);
    RecordingReply reply = fixture.get();
    assertThat(reply.isBegun()).isFalse();
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60", "ETag", "\"1\"");
    assertThat(reply.text()).isEqualTo("x");
  }

  @ParameterizedTest
  @ValueSource(strings = {"max-age=60, must-revalidate", "max-age=60, proxy-revalidate"})
  void aSoftPurgeServesNothingStaleThatMustBeValidated(String control) {
    fixture.fill(200, "x", "Cache-Control", control, "Cache-Tag", "a", "ETag", "\"1\"");
    purge(A, true);
    RecordingReply reply = fixture.get();
    assertThat(reply.isBegun()).isFalse();
    fixture.origin.last().respond(200, "y");
    assertThat(reply.text()).isEqualTo("y");
  }

  @Test
  void aSoftPurgeOfAUrlSaysHowManyItMadeStale() {
    fixture.store("x", "ETag", "\"1\"");
    PurgeTarget target = Objects.requireNonNull(PurgeTarget.url(URI));
    PurgeReport report =
        Objects.requireNonNull(fixture.cache.operations().purges().purge(target, true));
    assertThat(report.responses()).isEqualTo(1);
    assertThat(report.state()).isEqualTo(PurgeReport.Progress.DONE);
    assertThat(fixture.get().field("Cache-Status")).contains("; hit; ttl=0");
    fixture.origin.last().respond(200, "y", "Cache-Control", "max-age=60");
  }

  @Test
  void theNewTagsOfA304TakeThePlaceOfTheOld() {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    fixture.advance(61);
    fixture.get();
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60", "Surrogate-Key", "b");
    purge(A);
    assertThat(fixture.isReused()).isTrue();
    purge(PurgeTarget.tags(List.of("b")));
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void a304WithoutTagsKeepsThem() {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    fixture.advance(61);
    fixture.get();
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60");
    purge(A);
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void whatIsPurgedByItsOldTagsDuringAValidationIsNotStoredUnderNewOnes() {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    fixture.advance(61);
    RecordingReply reply = fixture.get();
    purge(A);
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60", "Surrogate-Key", "b");
    assertThat(reply.text()).isEqualTo("x");
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void whatIsPurgedSoftlyByItsOldTagsDuringAValidationIsNotFreshUnderNewOnes() {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    fixture.get("Cache-Control", "no-cache");
    purge(A, true);
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60", "Surrogate-Key", "b");
    assertThat(fixture.get().field("Cache-Status")).contains("; hit; ttl=0");
    fixture.origin.last().respond(200, "y");
  }

  @ParameterizedTest
  @EnumSource(names = {"URL", "PREFIX", "TAG", "ALL"})
  void whatIsPurgedAfterTheLookupAndBeforeItIsForwardedIsNotFreshened(PurgeTarget.Scope kind) {
    fixture.store("x", "Surrogate-Key", "a", "ETag", "\"1\"");
    fixture.advance(61);
    fixture.beforeTheNextIsForwarded(() -> purge(target(kind)));
    RecordingReply reply = fixture.get();
    fixture.origin.last().respond(304, "", "Cache-Control", "max-age=60", "Surrogate-Key", "b");
    assertThat(reply.text()).isEqualTo("x");
    assertThat(fixture.isReused()).isFalse();
  }

  private static @Nullable PurgeTarget target(PurgeTarget.Scope kind) {
    return switch (kind) {
      case URL -> PurgeTarget.url(URI);
      case PREFIX -> PurgeTarget.prefix(URI);
      case TAG -> A;
      default -> PurgeTarget.all();
    };
  }

  @Test
  void clientsSeeNoTagsOnMissHitAndPass() {
    String[] tags = {"Surrogate-Key", "a", "Cache-Tag", "b", "Cache-Groups", "\"c\""};
    RecordingReply miss = fixture.get();
    fixture
        .origin
        .last()
        .respond(200, "x", "Cache-Control", "max-age=60", tags[0], tags[1], tags[2], tags[3]);
    RecordingReply hit = fixture.get();
    RecordingReply pass = fixture.send("POST", URI);
    fixture.origin.last().respond(200, "x", tags);
    for (RecordingReply reply : List.of(miss, hit, pass)) {
      assertThat(reply.field("Surrogate-Key")).isNull();
      assertThat(reply.field("Cache-Tag")).isNull();
    }
    assertThat(pass.field("Cache-Groups")).isEqualTo("\"c\"");
  }

  @Test
  void clientsSeeNoTagsInTrailersOnMissAndPass() {
    RecordingReply miss = fixture.get();
    respondWithTrailers("Cache-Control", "max-age=60");
    RecordingReply pass = fixture.send("POST", URI);
    respondWithTrailers();
    for (RecordingReply reply : List.of(miss, pass)) {
      assertThat(Objects.requireNonNull(reply.trailers()).toString()).isEqualTo("Other: c\n");
    }
  }

  private void respondWithTrailers(String... fields) {
    fixture
        .origin
        .last()
        .head(200, -1, fields)
        .write("x")
        .endWith("Surrogate-Key", "a", "Other", "c", "Cache-Tag", "b");
    fixture.run();
  }

  @Test
  void whatHasTooManyTagsIsStoredAndAnyPurgeByTagRemovesIt() {
    fixture.fill(200, "x", "Cache-Control", "max-age=60", "Cache-Tag", many(""));
    assertThat(fixture.isReused()).isTrue();
    assertThat(fixture.handler.explain(RequestHead.of("GET", URI)).because())
        .anySatisfy(step -> assertThat(step.so()).isEqualTo("any purge by tag removes it"));
    purge(A);
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void whatHasATagThatIsTooLongIsStoredAlike() {
    fixture.fill(200, "x", "Cache-Control", "max-age=60", "Surrogate-Key", "a".repeat(1025));
    assertThat(fixture.isReused()).isTrue();
    purge(A);
    assertThat(fixture.isReused()).isFalse();
  }

  /** RFC 9875 §3: and no tag is about its groups. */
  @Test
  void whatHasTooManyGroupsFallsToAnyGroupOfItsOrigin() {
    fixture.store("x", "Cache-Groups", many("\""));
    purge(A);
    assertThat(fixture.isReused()).isTrue();
    fixture.send("POST", "http://example.org/form");
    fixture.origin.last().respond(200, "", "Cache-Group-Invalidation", "\"other\"");
    assertThat(fixture.isReused()).isFalse();
  }

  /** Those beyond the limit were left out: what was in them stayed. */
  @Test
  void anAnswerThatNamesTooManyGroupsRemovesAllOfItsOrigin() {
    fixture.store("x", "Cache-Groups", "\"t" + Tags.LIMIT + "\"");
    fixture.send("POST", "http://example.or/form");
    fixture.origin.last().respond(200, "", "Cache-Group-Invalidation", many("\""));
    assertThat(fixture.isReused()).as("of another origin").isTrue();
    fixture.send("POST", "http://example.org/form");
    fixture.origin.last().respond(200, "", "Cache-Group-Invalidation", many("\""));
    assertThat(fixture.isReused()).isFalse();
    fixture.store("x", "Cache-Groups", "\"other\"");
    String one = "\"t\", ".repeat(2 * Tags.LIMIT) + "\"t\"";
    fixture.send("POST", "http://example.org/form");
    fixture.origin.last().respond(200, "", "Cache-Group-Invalidation", one);
    assertThat(fixture.isReused()).as("one group, said often").isTrue();
  }

  private static String many(String quote) {
    return IntStream.rangeClosed(0, Tags.LIMIT)
        .mapToObj(i -> quote + "t" + i + quote)
        .collect(Collectors.joining(","));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"xkey | b a", "XKEY | 'b, a'", "X-Cache-Tags | 'b,a'", "X-Magento-Tags | 'b,a'"})
  void tagsAreReadInTheFieldsOfContentSystemsAndNotShown(String name, String value) {
    RecordingReply miss = fixture.fill(200, "x", "Cache-Control", "max-age=60", name, value);
    RecordingReply hit = fixture.get();
    assertThat(List.of(miss, hit))
        .allSatisfy(
            reply -> {
              assertThat(reply.field(name)).isNull();
              assertThat(reply.field("Cache-Tag")).isNull();
            });
    purge(A);
    assertThat(fixture.isReused()).isFalse();
  }

  @Test
  void aFieldThatIsNotForTagsGoesToTheClient() {
    RecordingReply reply = fixture.fill(200, "x", "Cache-Control", "max-age=60", "X-Tags", "a");
    assertThat(reply.field("X-Tags")).isEqualTo("a");
  }

  /** RFC 9875 §3. */
  @Test
  void theAnswerToAnUnsafeRequestInvalidatesItsGroups() {
    fixture.store("x", "Cache-Groups", "\"a\", \"b\"");
    fixture.send("POST", "http://example.org/form");
    fixture.origin.last().respond(200, "", "Cache-Group-Invalidation", "\"b\"");
    assertThat(fixture.isReused()).isFalse();
  }

  /** RFC 9875 §2.1. */
  @Test
  void theGroupsOfAnotherOriginAreOthers() {
    fixture.store("x", "Cache-Groups", "\"a\"");
    fixture.send("POST", "https://example.org/form");
    fixture.origin.last().respond(200, "", "Cache-Group-Invalidation", "\"a\"");
    assertThat(fixture.isReused()).isTrue();
  }

  /** RFC 9875 §3. */
  @Test
  void theAnswerToASafeRequestInvalidatesNoGroups() {
    fixture.store("x", "Cache-Groups", "\"a\"");
    fixture.send("OPTIONS", "http://example.org/form");
    fixture.origin.last().respond(200, "", "Cache-Group-Invalidation", "\"a\"");
    assertThat(fixture.isReused()).isTrue();
  }
}
