package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.ScriptedOrigin.Forwarded;
import io.kamille.core.http.FieldName;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests wait for one that selects the same variant (RFC 9111 §4, §4.1). */
class CollapseByVariantTest {

  private static final String FRESH = "max-age=60";
  private static final String LANGUAGE = "Accept-Language";
  private static final List<String> LANGUAGES = List.of("de", "fr", "en", "ja");
  private static final int CLIENTS = 15;

  private final CacheFixture fixture = new CacheFixture();
  private final List<RecordingReply> replies = new ArrayList<>();
  private final List<String> asked = new ArrayList<>();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private void ask(List<String> languages, int clients) {
    for (int i = 0; i < clients; i++) {
      for (String language : languages) {
        asked.add(language);
        replies.add(fixture.get(LANGUAGE, language));
      }
    }
  }

  private static void answer(Forwarded forwarded) {
    String language = String.valueOf(forwarded.field(FieldName.ACCEPT_LANGUAGE));
    forwarded.respond(
        200, language, "Cache-Control", FRESH, "Vary", LANGUAGE, "ETag", tag(language));
  }

  private static String tag(String language) {
    return '"' + language + '"';
  }

  private void answerFrom(int first) {
    fixture.origin.requests().stream().skip(first).forEach(CollapseByVariantTest::answer);
    fixture.run();
  }

  private void assertThatEachHasItsOwn() {
    for (int i = 0; i < replies.size(); i++) {
      assertThat(replies.get(i).text()).isEqualTo(asked.get(i));
      assertThat(replies.get(i).isComplete()).isTrue();
    }
  }

  @Test
  void whileNothingTellsOfVariantsAllWaitForOneAndThenForOneOfTheirOwn() {
    ask(LANGUAGES, CLIENTS);
    assertThat(fixture.forwarded()).isEqualTo(1);
    answer(fixture.origin.last());
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(LANGUAGES.size());
    answerFrom(1);
    assertThat(fixture.forwarded()).isEqualTo(LANGUAGES.size());
    assertThatEachHasItsOwn();
  }

  @Test
  void variantsThatAreKnownAreAskedForAtOnceAndOnceEach() {
    ask(LANGUAGES, 1);
    answerFrom(0);
    answerFrom(1);
    fixture.advance(61);
    int before = fixture.forwarded();
    ask(LANGUAGES, CLIENTS);
    assertThat(fixture.forwarded() - before).isEqualTo(LANGUAGES.size());
    fixture.origin.requests().stream()
        .skip(before)
        .forEach(
            forwarded ->
                forwarded
                    .head(
                        304,
                        -1,
                        "Cache-Control",
                        FRESH,
                        "ETag",
                        tag(String.valueOf(forwarded.field(FieldName.ACCEPT_LANGUAGE))))
                    .end());
    fixture.run();
    assertThat(fixture.forwarded() - before).isEqualTo(LANGUAGES.size());
    assertThatEachHasItsOwn();
  }

  @Test
  void aVariantThatIsNotStoredYetWaitsForNoOther() {
    ask(List.of("de"), 1);
    answerFrom(0);
    ask(List.of("fr", "en"), 2);
    assertThat(fixture.forwarded()).isEqualTo(3);
    answerFrom(1);
    assertThatEachHasItsOwn();
  }

  /** The first attempt hangs, and its followers wait for the second one when it is answered. */
  @Test
  void whatASlowAttemptBringsIsForThoseWhoWaitForTheNextOne() {
    ask(LANGUAGES, 3);
    fixture.advance(6);
    assertThat(fixture.forwarded()).isEqualTo(2);
    answer(fixture.origin.requests().getFirst());
    fixture.run();
    for (int i = 0; i < asked.size(); i++) {
      assertThat(replies.get(i).isComplete()).isEqualTo(asked.get(i).equals("de"));
    }
    assertThat(fixture.origin.requests())
        .extracting(forwarded -> forwarded.field(FieldName.ACCEPT_LANGUAGE))
        .containsExactly("de", "fr", "en", "ja");
    ask(List.of("en"), 1);
    answerFrom(1);
    assertThat(fixture.forwarded()).isEqualTo(4);
    assertThatEachHasItsOwn();
  }

  @Test
  void whoLearnsOfAnotherVariantWaitsForFiveSecondsAgainAndNoLonger() {
    ask(List.of("de"), 1);
    ask(List.of("fr"), 1);
    ask(List.of("en"), 3);
    fixture.advance(5);
    assertThat(fixture.forwarded()).isEqualTo(2);
    answer(fixture.origin.last());
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.advance(4);
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.advance(1);
    assertThat(fixture.forwarded()).isEqualTo(4);
    answerFrom(3);
    assertThat(replies.getLast().isComplete()).isTrue();
    answer(fixture.origin.requests().get(0));
    answer(fixture.origin.requests().get(2));
    fixture.run();
    assertThatEachHasItsOwn();
  }

  /** An origin could name another field with each response. */
  @Test
  void whoLearnsOfOtherFieldsTwiceWaitsNoMore() {
    fixture.get("X-A", "1");
    for (String b : List.of("x", "y", "y")) {
      replies.add(fixture.get("X-A", "2", "X-B", b));
    }
    fixture.origin.last().respond(200, "1", "Cache-Control", FRESH, "Vary", "X-A");
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "2x", "Cache-Control", FRESH, "Vary", "X-A, X-B");
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(4);
    for (int i = 2; i < 4; i++) {
      fixture
          .origin
          .requests()
          .get(i)
          .respond(200, "2y", "Cache-Control", FRESH, "Vary", "X-A, X-B");
    }
    assertThat(replies).extracting(RecordingReply::text).containsExactly("2x", "2y", "2y");
  }

  /** A client chooses how many variants there are. */
  @Test
  void moreVariantsThanCanBeFoundGoToTheOriginAlone() {
    ask(List.of("de"), 1);
    answerFrom(0);
    List<String> many = IntStream.range(0, 70).mapToObj(i -> "x-" + i).toList();
    ask(many, 2);
    assertThat(fixture.forwarded()).isEqualTo(1 + 64 + 2 * 6);
    answerFrom(1);
    assertThatEachHasItsOwn();
  }
}
