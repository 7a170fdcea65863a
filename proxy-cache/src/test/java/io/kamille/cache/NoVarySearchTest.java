package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.Explanation.Decision;
import io.kamille.cache.key.NamePatterns;
import io.kamille.cache.key.QueryRules;
import io.kamille.cache.purge.PurgeTarget;
import io.kamille.cache.semantics.CachePolicy;
import io.kamille.cache.semantics.CodingRules;
import io.kamille.cache.semantics.Reason;
import io.kamille.cache.semantics.VaryBy;
import io.kamille.core.failure.Failure.Kind;
import io.kamille.core.http.FieldName;
import io.kamille.core.http.RequestHead;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sections are those of draft-ietf-httpbis-no-vary-search. */
class NoVarySearchTest {

  private static final String PATH = "http://example.org/a";
  private static final String UTM = "params=(\"utm\")";

  private final CacheFixture fixture = fixture(true);

  static CacheFixture fixture(boolean heedsOrigin) {
    return new CacheFixture(
        4 << 20,
        new CacheSettings(
            CachePolicy.DEFAULT,
            CodingRules.OFF,
            1 << 20,
            true,
            Duration.ofSeconds(5),
            Optional.of("kamille"),
            false,
            BackgroundSettings.NONE,
            NamePatterns.NONE,
            VaryBy.NONE,
            new QueryRules(NamePatterns.NONE, false, false, heedsOrigin)));
  }

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private RecordingReply get(String query) {
    return fixture.send("GET", PATH + query);
  }

  private void respond(String content, @Nullable String variance) {
    respond(200, content, variance);
  }

  private void respond(int status, String content, @Nullable String variance) {
    String[] fields =
        variance == null
            ? CacheFixture.fields("Cache-Control", "max-age=60", "ETag", "\"1\"")
            : CacheFixture.fields(
                "Cache-Control", "max-age=60", "ETag", "\"1\"", "No-Vary-Search", variance);
    fixture.origin.last().respond(status, content, fields);
    fixture.run();
  }

  private RecordingReply miss(String query, String content, @Nullable String variance) {
    int before = fixture.forwarded();
    RecordingReply reply = get(query);
    assertThat(fixture.forwarded()).as("forwarded for %s", query).isEqualTo(before + 1);
    respond(content, variance);
    return reply;
  }

  private void assertHit(String query, String content) {
    int before = fixture.forwarded();
    assertThat(get(query).text()).isEqualTo(content);
    assertThat(fixture.forwarded()).as("forwarded for %s", query).isEqualTo(before);
  }

  /** The first response teaches what the second is stored by. */
  private void learn() {
    miss("?id=0", "first", UTM);
    miss("?id=1&utm=1", "one", UTM);
  }

  @Test
  void cachingAResponseAnswersEquivalentQueries() {
    learn();
    assertHit("?id=1&utm=1", "one");
    assertHit("?utm=2&id=1&utm=3", "one");
    assertHit("?id=1", "one");
    miss("?id=2&utm=1", "two", UTM);
    assertHit("?id=2", "two");
  }

  @Test
  void cachingTheOriginIsAskedWithTheQueryAsItCame() {
    learn();
    RecordingReply reply = miss("?id=3&utm=7", "three", UTM);
    assertThat(fixture.origin.last().request().pathAndQuery()).isEqualTo("/a?id=3&utm=7");
    assertThat(reply.field("No-Vary-Search")).isEqualTo(UTM);
  }

  @Test
  void cacheStatusTellsWhatIsStoredForEquivalentQueries() {
    assertThat(miss("?id=0", "first", UTM).field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; detail=no-vary-search-changed");
    assertThat(miss("?id=1", "one", UTM).field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; stored; ttl=60; detail=no-vary-search");
    assertThat(miss("?id=2", "two", "params").field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; detail=no-vary-search-changed");
  }

  @Test
  void offTheFieldMeansNothing() {
    try (CacheFixture off = fixture(false)) {
      off.send("GET", PATH + "?id=0");
      off.origin
          .last()
          .respond(200, "x", "Cache-Control", "max-age=60", "No-Vary-Search", "params");
      off.run();
      off.send("GET", PATH + "?id=1");
      assertThat(off.forwarded()).isEqualTo(2);
      off.origin.last().fail(Kind.CONNECTION_REFUSED);
    }
  }

  @Test
  void cachingTheMostRecentResponseOfAPathDecides() {
    learn();
    miss("?id=2", "two", "params");
    miss("?id=1&utm=1", "new", "params");
    assertHit("?id=5", "new");
    miss("/b?id=5", "other path", "params");
  }

  @Test
  void aResponseWithoutTheFieldEndsWhatOthersSaid() {
    learn();
    miss("?id=2", "two", null);
    miss("?id=2", "two", null);
    assertHit("?id=2", "two");
    miss("?id=2&utm=1", "two", null);
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 302, 404, 410})
  void aRedirectionOrAnErrorWithoutTheFieldLeavesWhatOthersSaid(int status) {
    learn();
    get("?id=2");
    respond(status, "nothing", null);
    assertHit("?id=1&utm=9", "one");
    get("?id=2");
    assertThat(fixture.forwarded()).isEqualTo(4);
    respond("two", UTM);
  }

  @Test
  void parsingAnInvalidFieldCountsAsNone() {
    learn();
    miss("?id=2", "two", "params=\"utm\"");
    miss("?id=2", "two", "params=\"utm\"");
    assertHit("?id=2", "two");
    miss("?id=2&utm=1", "two", null);
  }

  /** RFC 9111 §4: requests may be collapsed only where the response is right for all. */
  @Test
  void whoWaitsForAnEquivalentRequestGetsItsResponse() {
    learn();
    RecordingReply leader = get("?id=2&utm=1");
    RecordingReply follower = get("?id=2&utm=2");
    assertThat(fixture.forwarded()).isEqualTo(3);
    respond("two", UTM);
    assertThat(leader.text()).isEqualTo("two");
    assertThat(follower.text()).isEqualTo("two");
  }

  @Test
  void whoWaitsForAResponseThatSaysOtherwiseAsksTheOriginItself() {
    learn();
    get("?id=2&utm=1");
    RecordingReply follower = get("?id=2&utm=2");
    assertThat(fixture.forwarded()).isEqualTo(3);
    respond("for utm=1", null);
    assertThat(fixture.forwarded()).isEqualTo(4);
    assertThat(fixture.origin.last().request().pathAndQuery()).isEqualTo("/a?id=2&utm=2");
    respond("for utm=2", null);
    assertThat(follower.text()).isEqualTo("for utm=2");
  }

  @Test
  void aConfirmationThatSaysOtherwiseEndsWhatWasSaid() {
    learn();
    fixture.advance(61);
    RecordingReply reply = get("?id=1&utm=5");
    assertThat(fixture.origin.last().field(FieldName.IF_NONE_MATCH)).isEqualTo("\"1\"");
    fixture
        .origin
        .last()
        .respond(
            304, "", "ETag", "\"1\"", "Cache-Control", "max-age=60", "No-Vary-Search", "key-order");
    fixture.run();
    assertThat(reply.text()).isEqualTo("one");
    miss("?id=1&utm=6", "six", "key-order");
    assertHit("?utm=6&id=1", "six");
  }

  @Test
  void aConfirmationThatSaysNothingLeavesWhatWasSaid() {
    learn();
    fixture.advance(61);
    get("?id=1&utm=5");
    fixture.origin.last().respond(304, "", "ETag", "\"1\"", "Cache-Control", "max-age=60");
    fixture.run();
    assertHit("?id=1&utm=6", "one");
  }

  @Test
  void aPurgeOfAUriTakesWhatItsEquivalentsBrought() {
    learn();
    assertThat(fixture.cache.operations().purge(PATH + "?utm=8&id=1")).hasValue(1);
    miss("?id=1&utm=1", "new", UTM);
  }

  @Test
  void aPurgeOfAUriTakesWhatLiesUnderTheUriItselfToo() {
    miss("?id=9", "nine", null);
    learn();
    assertThat(fixture.cache.operations().purge(PATH + "?id=9")).hasValue(1);
    miss("?id=5", "five", null);
    miss("?id=9", "new", null);
  }

  @Test
  void whatTaughtIsNotMetAfterAPurgeOfItsEquivalent() {
    assertThat(miss("?id=1&utm=1", "old", UTM).field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; detail=no-vary-search-changed");
    fixture.cache.operations().purge(PATH + "?id=1");
    miss("?id=2", "ends it", null);
    miss("?id=1&utm=1", "new", null);
  }

  @Test
  void whatAnUpdateTaughtIsNotMetAfterAPurgeOfItsEquivalent() {
    miss("?id=1&utm=1", "old", null);
    fixture.send("GET", PATH + "?id=1&utm=1", "Cache-Control", "no-cache");
    fixture
        .origin
        .last()
        .respond(304, "", "Cache-Control", "max-age=60", "ETag", "\"1\"", "No-Vary-Search", UTM);
    fixture.run();
    fixture.cache.operations().purge(PATH + "?id=1");
    miss("?id=2", "ends it", null);
    miss("?id=1&utm=1", "new", null);
  }

  @Test
  void octetsThatAreNotUtf8AreNotTakenForEachOther() {
    learn();
    miss("?id=M%FCller", "ue", UTM);
    miss("?id=M%F6ller", "oe", UTM);
    assertHit("?id=M%FCller", "ue");
  }

  @Test
  void whoWaitsForWhatTeachesWaitsForTheNext() {
    RecordingReply leader = get("?id=1&utm=1");
    RecordingReply one = get("?id=1&utm=1");
    RecordingReply other = get("?id=1&utm=1");
    respond("taught", UTM);
    assertThat(leader.text()).isEqualTo("taught");
    assertThat(fixture.forwarded()).isEqualTo(2);
    respond("stored", UTM);
    assertThat(one.text()).isEqualTo("stored");
    assertThat(other.text()).isEqualTo("stored");
  }

  @Test
  void aPurgeOfAllForgetsWhatWasSaid() {
    learn();
    assertThat(fixture.cache.operations().purge(PurgeTarget.all(), false)).isNotNull();
    assertThat(miss("?id=1", "new", null).field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; stored; ttl=60");
  }

  /** RFC 9111 §4.4. */
  @Test
  void anUnsafeRequestInvalidatesWhatItsEquivalentsBrought() {
    learn();
    fixture.send("POST", PATH + "?id=1&utm=4");
    fixture.origin.last().respond(200, "done");
    miss("?id=1", "new", UTM);
  }

  /** RFC 9111 §4.4. */
  @Test
  void whatIsOnItsWayWhileItsEquivalentIsPurgedIsNotStored() {
    learn();
    get("?id=2&utm=1");
    fixture.cache.operations().purge(PATH + "?id=2&utm=2");
    respond("old", UTM);
    miss("?id=2&utm=3", "new", UTM);
  }

  @Test
  void anExplanationTellsWhatTheQueryIsLookedUpAs() {
    learn();
    Explanation explained = fixture.handler.explain(RequestHead.of("GET", PATH + "?utm=3&id=1"));
    assertThat(explained.decision()).isEqualTo(Decision.SERVE);
    assertThat(explained.key()).isEqualTo(PATH + "?utm=3&id=1");
    assertThat(step(explained))
        .isEqualTo(
            new Reason(
                "no-vary-search",
                "draft-ietf-httpbis-no-vary-search",
                "No-Vary-Search: params=(\"utm\")",
                "it is looked up by /a?id=1, and would be forwarded as it is"));
  }

  @Test
  void contentsAreThoseThatARequestWouldMeet() {
    learn();
    fixture.cache.routes(any -> new QueryRules(NamePatterns.NONE, false, false, true));
    assertThat(fixture.cache.contents().find(PATH + "?id=1&utm=9").orElseThrow()).hasSize(1);
    fixture.cache.routes(any -> QueryRules.NONE);
    assertThat(fixture.cache.contents().find(PATH + "?id=1&utm=9").orElseThrow()).isEmpty();
  }

  private static Reason step(Explanation explained) {
    return explained.because().stream()
        .filter(reason -> reason.rule().equals("no-vary-search"))
        .findFirst()
        .orElseThrow();
  }
}
