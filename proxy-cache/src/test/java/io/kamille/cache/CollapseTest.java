package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.purge.PurgeTarget;
import io.kamille.core.exchange.Failure.ErrorType;
import io.kamille.core.http.FieldName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that wait for one forwarded before them (RFC 9111 §4). */
class CollapseTest {

  private static final String FRESH = "max-age=60";
  private static final String LONG_FRESH = "max-age=600";
  private static final String TAG = "\"v1\"";

  private final CacheFixture fixture = new CacheFixture();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private List<RecordingReply> get(int count, String... fields) {
    List<RecordingReply> replies = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      replies.add(fixture.get(fields));
    }
    return replies;
  }

  @Test
  void followersReadWhileTheLeaderStillFills() {
    List<RecordingReply> replies = get(4);
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.origin.last().head(200, 10, "Cache-Control", FRESH, "X-Own", "1").write("01234");
    fixture.run();
    for (RecordingReply reply : replies) {
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.text()).isEqualTo("01234");
      assertThat(reply.announcedLength()).isEqualTo(10);
      assertThat(reply.isEnded()).isFalse();
    }
    fixture.origin.last().write("56789").end();
    fixture.run();
    for (RecordingReply reply : replies) {
      assertThat(reply.text()).isEqualTo("0123456789");
      assertThat(reply.isComplete()).isTrue();
      assertThat(reply.field("X-Own")).isEqualTo("1");
    }
    assertThat(replies.get(0).field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; stored; ttl=60");
    assertThat(replies.get(1).field("Cache-Status"))
        .isEqualTo("kamille; fwd=uri-miss; collapsed; ttl=60");
    assertThat(replies.get(1).field("Age")).isEqualTo("0");
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void whoComesInTheMiddleGetsAllOfIt() {
    fixture.get();
    fixture.origin.last().head(200, -1, "Cache-Control", FRESH).write("01234");
    fixture.run();
    RecordingReply late = fixture.get();
    assertThat(late.text()).isEqualTo("01234");
    fixture.origin.last().write("56789").end();
    fixture.run();
    assertThat(late.text()).isEqualTo("0123456789");
    assertThat(late.isComplete()).isTrue();
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void whenTheResponseIsNotStorableAllGoAtOnceAndNobodyWaitsNextTime() {
    List<RecordingReply> replies = get(4);
    fixture.origin.last().respond(200, "mine", "Cache-Control", "private");
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(4);
    assertThat(replies.get(0).text()).isEqualTo("mine");
    get(2);
    assertThat(fixture.forwarded()).isEqualTo(6);
    fixture.origin.requests().stream()
        .skip(1)
        .forEach(forwarded -> forwarded.respond(200, "x", "Cache-Control", "private"));
    fixture.advance(11);
    get(2);
    assertThat(fixture.forwarded()).isEqualTo(7);
    fixture.origin.last().respond(200, "x", "Cache-Control", FRESH);
    fixture.run();
  }

  @Test
  void aStorableAnswerMakesRequestsWaitAgain() {
    get(1);
    fixture.origin.last().respond(200, "mine", "Cache-Control", "private");
    get(1);
    fixture.origin.last().respond(200, "ours", "Cache-Control", FRESH);
    fixture.cache.operations().purges().clear();
    List<RecordingReply> replies = get(3);
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.last().respond(200, "ours", "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("ours"));
  }

  @Test
  void anAnswerToAClientWithCookieIsNotRememberedForThoseWithout() {
    fixture.get("Cookie", "session=1");
    List<RecordingReply> known = get(2, "Cookie", "session=2");
    List<RecordingReply> unknown = get(3);
    fixture.origin.last().respond(200, "mine", "Cache-Control", "private");
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(4);
    assertThat(fixture.origin.last().request().fields().has(FieldName.COOKIE)).isFalse();
    fixture.origin.last().respond(200, "ours", "Cache-Control", FRESH);
    fixture.run();
    assertThat(unknown).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("ours"));
    for (int i = 1; i < 3; i++) {
      fixture.origin.requests().get(i).respond(200, "own", "Cache-Control", "private");
    }
    assertThat(known).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("own"));
    fixture.cache.operations().purges().clear();
    get(3, "Cookie", "session=3");
    assertThat(fixture.forwarded()).isEqualTo(7);
    fixture.origin.requests().stream()
        .skip(4)
        .forEach(forwarded -> forwarded.respond(200, "x", "Cache-Control", "private"));
    get(3);
    assertThat(fixture.forwarded()).isEqualTo(8);
    fixture.origin.last().respond(200, "ours", "Cache-Control", FRESH);
  }

  @Test
  void anAnswerToAnAuthorizedRequestIsNotRememberedForOthers() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    RecordingReply leader = fixture.get("Authorization", "Basic eDp5");
    List<RecordingReply> replies = get(3);
    fixture.origin.last().respond(200, "mine", "Cache-Control", FRESH);
    fixture.run();
    assertThat(leader.text()).isEqualTo("mine");
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.last().respond(200, "ours", "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("ours"));
    assertThat(fixture.forwarded()).isEqualTo(3);
  }

  /** Otherwise they would wait for one another, a round trip each. */
  @Test
  void whoIsAuthorizedWaitsForOneOther() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    List<RecordingReply> replies = get(4, "Authorization", "Basic eDp5");
    fixture.origin.last().respond(200, "mine", "Cache-Control", FRESH);
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(5);
    fixture.origin.requests().stream()
        .skip(2)
        .forEach(asked -> asked.respond(200, "mine", "Cache-Control", FRESH));
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("mine"));
  }

  @Test
  void whatMayNotBeStoredByTheRequestIsNotRemembered() {
    fixture.get("Cache-Control", "no-store");
    fixture.origin.last().respond(200, "x", "Cache-Control", "no-store");
    fixture.get("Authorization", "Basic eDp5");
    fixture.origin.last().respond(200, "x", "Cache-Control", "private");
    get(3);
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.last().respond(200, "x", "Cache-Control", FRESH);
    fixture.run();
  }

  @Test
  void aRefusalOfOneRequestIsNotRemembered() {
    for (int status : new int[] {400, 401, 403, 412, 416, 429}) {
      int before = fixture.forwarded();
      fixture.get();
      fixture.origin.last().respond(status, "no", "Cache-Control", "no-store");
      get(2);
      assertThat(fixture.forwarded()).isEqualTo(before + 2);
      fixture.origin.last().fail(ErrorType.CONNECTION_REFUSED);
      fixture.run();
    }
  }

  @Test
  void anErrorOfTheOriginIsNotRememberedAsUncachable() {
    get(1);
    fixture.origin.last().respond(503, "sorry", "Cache-Control", "no-store");
    get(2);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "x", "Cache-Control", FRESH);
    fixture.run();
  }

  @Test
  void aResponseThatMustBeValidatedIsNotShared() {
    List<RecordingReply> replies = get(2);
    fixture.origin.last().respond(200, "a", "Cache-Control", "no-cache", "ETag", TAG);
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", "no-cache");
    assertThat(replies.get(1).text()).isEqualTo("a");
  }

  @Test
  void aFollowersConditionIsJudgedAgainstTheResponseInFlight() {
    fixture.get();
    RecordingReply follower = fixture.get("If-None-Match", TAG);
    fixture.origin.last().head(200, 5, "Cache-Control", FRESH, "ETag", TAG);
    fixture.run();
    assertThat(follower.status()).isEqualTo(304);
    assertThat(follower.isComplete()).isTrue();
    fixture.origin.last().write("hello").end();
  }

  @Test
  void rangesAndHeadDoNotWait() {
    fixture.get();
    fixture.get("Range", "bytes=0-1");
    fixture.send("HEAD", CacheFixture.URI);
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.requests().get(0).respond(200, "hello", "Cache-Control", FRESH);
    fixture.origin.requests().get(1).respond(206, "he", "Content-Range", "bytes 0-1/5");
    fixture.origin.requests().get(2).head(200, 5).end();
  }

  @Test
  void whenTheLeadersClientLeavesBeforeTheHeadTheFollowersGetTheResponse() {
    List<RecordingReply> replies = get(3);
    replies.get(0).leave();
    fixture.run();
    assertThat(fixture.origin.last().isCancelled()).isFalse();
    fixture.origin.last().respond(200, "hello", "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies.get(1).text()).isEqualTo("hello");
    assertThat(replies.get(2).text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(1);
  }

  @Test
  void whenEverybodyHasLeftTheRequestIsCancelled() {
    List<RecordingReply> replies = get(3);
    replies.get(0).leave();
    replies.get(1).leave();
    fixture.run();
    assertThat(fixture.origin.last().isCancelled()).isFalse();
    replies.get(2).leave();
    fixture.run();
    assertThat(fixture.origin.last().isCancelled()).isTrue();
    get(1);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "x");
  }

  @Test
  void whenTheLeadersClientLeavesAloneALittleIsStillFilled() {
    RecordingReply leader = fixture.get();
    fixture.origin.last().head(200, 10, "Cache-Control", FRESH).write("01234");
    leader.leave();
    assertThat(fixture.origin.last().isCancelled()).isFalse();
    fixture.origin.last().write("56789").end();
    assertThat(fixture.get().text()).isEqualTo("0123456789");
  }

  @Test
  void anAnswerThatCannotBeHadIsTheAnswerForAll() {
    List<RecordingReply> replies = get(3);
    fixture.origin.last().fail(ErrorType.CONNECTION_TIMEOUT);
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(replies).allSatisfy(reply -> assertThat(reply.status()).isEqualTo(504));
  }

  @Test
  void whenTheLeaderFailsForItselfOneFollowerLeads() {
    List<RecordingReply> replies = get(3);
    fixture.origin.last().fail(ErrorType.HTTP_REQUEST_ERROR);
    fixture.run();
    assertThat(replies.get(0).status()).isEqualTo(400);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "hello", "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies.get(1).text()).isEqualTo("hello");
    assertThat(replies.get(2).text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void whenTheContentBreaksOffItBreaksOffForAllWhoHaveBegun() {
    List<RecordingReply> replies = get(3);
    fixture.origin.last().head(200, 10, "Cache-Control", FRESH).write("01234");
    fixture.run();
    fixture.origin.last().abort();
    fixture.run();
    assertThat(replies)
        .allSatisfy(
            reply -> {
              assertThat(reply.isAborted()).isTrue();
              assertThat(reply.isComplete()).isFalse();
            });
    get(1);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "x");
  }

  @Test
  void lessContentThanAnnouncedIsNeverACompleteResponse() {
    List<RecordingReply> replies = get(2);
    fixture.origin.last().head(200, 10, "Cache-Control", FRESH).write("01234");
    fixture.run();
    fixture.origin.last().end();
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.isAborted()).isTrue());
    assertThat(fixture.cache.operations().keys()).isZero();
  }

  @Test
  void whoHasNotBegunWhenTheContentBreaksOffAsksAgain() {
    List<RecordingReply> replies = get(2);
    fixture.origin.last().head(200, 10, "Cache-Control", FRESH).write("01234").abort();
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "0123456789", "Cache-Control", FRESH);
    assertThat(replies.get(0).isAborted()).isTrue();
    assertThat(replies.get(1).text()).isEqualTo("0123456789");
  }

  @Test
  void whenTheLeaderHangsOneFollowerLeadsForAll() {
    List<RecordingReply> replies = get(51);
    fixture.advance(4);
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.advance(1);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.advance(60);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "second", "Cache-Control", LONG_FRESH);
    fixture.run();
    assertThat(replies.subList(1, 51))
        .allSatisfy(
            reply -> {
              assertThat(reply.text()).isEqualTo("second");
              assertThat(reply.isComplete()).isTrue();
            });
    fixture.origin.requests().get(0).respond(200, "late", "Cache-Control", LONG_FRESH);
    assertThat(replies.get(0).text()).isEqualTo("late");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void whenTheFirstAttemptIsAnsweredAfterAllNobodyWaitsForTheSecond() {
    List<RecordingReply> replies = get(51);
    fixture.advance(6);
    fixture.origin.requests().get(0).respond(200, "late", "Cache-Control", LONG_FRESH);
    fixture.run();
    assertThat(replies.get(1).isBegun()).isFalse();
    assertThat(replies.subList(2, 51))
        .allSatisfy(reply -> assertThat(reply.text()).isEqualTo("late"));
    fixture.origin.requests().get(1).respond(200, "second", "Cache-Control", LONG_FRESH);
    assertThat(replies.get(1).text()).isEqualTo("second");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void whenTheFirstValidationIsAnsweredAfterAllNobodyWaitsForTheSecond() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    List<RecordingReply> replies = get(4);
    fixture.advance(6);
    fixture.origin.requests().get(1).respond(304, "", "ETag", TAG, "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies.get(1).isBegun()).isFalse();
    assertThat(replies.subList(2, 4))
        .allSatisfy(reply -> assertThat(reply.text()).isEqualTo("hello"));
    fixture.origin.requests().get(2).respond(304, "", "ETag", TAG, "Cache-Control", FRESH);
    assertThat(replies.get(1).text()).isEqualTo("hello");
    assertThat(fixture.forwarded()).isEqualTo(3);
  }

  /** What was asked for before the purge is not stored. */
  @Test
  void whatCameTooLateForThePurgeEndsNoOtherWait() {
    get(1);
    fixture.cache.operations().purge(CacheFixture.URI);
    List<RecordingReply> replies = get(3);
    fixture.origin.requests().get(0).respond(200, "old", "Cache-Control", FRESH);
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "new", "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("new"));
  }

  @Test
  void whenBothAttemptsHangAllAreAnsweredWhenTheSecondFails() {
    List<RecordingReply> replies = get(51);
    fixture.advance(5);
    fixture.origin.requests().get(0).fail(ErrorType.HTTP_RESPONSE_TIMEOUT);
    fixture.run();
    assertThat(replies.get(0).status()).isEqualTo(504);
    assertThat(replies.get(1).isEnded()).isFalse();
    fixture.origin.requests().get(1).fail(ErrorType.HTTP_RESPONSE_TIMEOUT);
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.status()).isEqualTo(504));
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void aKeySeesOneMoreAttemptPerWaitTimeoutHoweverManyAsk() {
    List<RecordingReply> replies = new ArrayList<>();
    for (int second = 0; second < 20; second++) {
      replies.addAll(get(10));
      fixture.advance(1);
    }
    assertThat(fixture.forwarded()).isBetween(2, 5);
    fixture.origin.requests().forEach(next -> next.respond(200, "x", "Cache-Control", LONG_FRESH));
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("x"));
  }

  @Test
  void whoWaitsEachForItsTimeIsNeverEarlierInLeadingThanTheTimeoutSays() {
    get(1);
    fixture.advance(3);
    get(1);
    fixture.advance(3);
    get(1);
    assertThat(fixture.forwarded()).isEqualTo(1);
    fixture.advance(2);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.advance(60);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.requests().forEach(next -> next.respond(200, "x", "Cache-Control", LONG_FRESH));
    fixture.run();
  }

  @Test
  void whenTheSecondAttemptEndsWithNothingToShareOneFollowerLeadsAgain() {
    List<RecordingReply> replies = get(51);
    fixture.advance(60);
    fixture.origin.last().fail(ErrorType.HTTP_REQUEST_ERROR);
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.last().head(200, 10, "Cache-Control", LONG_FRESH).write("01234").abort();
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(4);
    fixture.origin.last().respond(200, "x", "Cache-Control", LONG_FRESH);
    fixture.run();
    assertThat(replies.subList(3, 51)).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("x"));
    fixture.origin.requests().get(0).respond(200, "x", "Cache-Control", LONG_FRESH);
  }

  @Test
  void aLeaderThatHangsIsCancelledWhenItsClientHasLeftAndAllHaveGoneOver() {
    List<RecordingReply> replies = get(3);
    replies.get(0).leave();
    fixture.run();
    assertThat(fixture.origin.last().isCancelled()).isFalse();
    fixture.advance(5);
    assertThat(fixture.origin.requests().get(0).isCancelled()).isTrue();
    fixture.origin.last().respond(200, "x", "Cache-Control", LONG_FRESH);
    fixture.run();
    assertThat(replies.get(2).text()).isEqualTo("x");
  }

  @Test
  void aSlowFollowerHoldsNobodyUp() {
    List<RecordingReply> replies = get(3);
    fixture.origin.last().head(200, 10, "Cache-Control", FRESH).write("01234");
    fixture.run();
    replies.get(1).pause();
    fixture.origin.last().write("56789").end();
    fixture.run();
    assertThat(replies.get(0).isComplete()).isTrue();
    assertThat(replies.get(2).isComplete()).isTrue();
    assertThat(replies.get(1).text()).isEqualTo("01234");
    fixture.cache.operations().purges().clear();
    replies.get(1).resume();
    assertThat(replies.get(1).text()).isEqualTo("0123456789");
    assertThat(replies.get(1).isComplete()).isTrue();
  }

  @Test
  void aFollowerThatWasSlowBeforeTheHeadGetsNothingUntilItIsNot() {
    fixture.get();
    RecordingReply follower = fixture.get();
    follower.pause();
    fixture.origin.last().respond(200, "hello", "Cache-Control", FRESH);
    fixture.run();
    assertThat(follower.text()).isEmpty();
    follower.resume();
    assertThat(follower.text()).isEqualTo("hello");
  }

  @Test
  void aSlowLeaderHoldsNobodyUp() {
    List<RecordingReply> replies = get(2);
    fixture.origin.last().head(200, 15, "Cache-Control", FRESH).write("01234");
    replies.get(0).pause();
    assertThat(fixture.origin.last().isPaused()).isFalse();
    fixture.origin.last().write("56789").write("abcde").end();
    fixture.run();
    assertThat(replies.get(1).isComplete()).isTrue();
    assertThat(replies.get(0).text()).isEqualTo("01234");
    replies.get(0).resume();
    assertThat(replies.get(0).text()).isEqualTo("0123456789abcde");
    assertThat(replies.get(0).isComplete()).isTrue();
  }

  @Test
  void aSlowLeaderCatchesUpWhileTheFillGoesOn() {
    RecordingReply leader = fixture.get();
    fixture.origin.last().head(200, 15, "Cache-Control", FRESH).write("01234");
    leader.pause();
    fixture.origin.last().write("56789");
    leader.resume();
    assertThat(leader.text()).isEqualTo("0123456789");
    fixture.origin.last().write("abcde").end();
    assertThat(leader.text()).isEqualTo("0123456789abcde");
    assertThat(leader.isComplete()).isTrue();
  }

  @Test
  void followersOfAValidationGetTheFreshenedResponse() {
    fixture.store("hello", "ETag", TAG);
    fixture.advance(100);
    List<RecordingReply> replies = get(3);
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(304, "", "ETag", TAG, "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("hello"));
    assertThat(replies.get(1).field("Cache-Status")).isEqualTo("kamille; hit; ttl=60");
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  /** Otherwise they would wait for one another, a round trip each. */
  @ParameterizedTest
  @EnumSource(Purging.class)
  void whatMustBeValidatedEachTimeIsAskedAboutByAllAtOnceWhateverIsPurged(Purging purging) {
    fixture.fill(200, "hello", "ETag", TAG, "Cache-Control", "max-age=0", "Cache-Tag", "own");
    List<RecordingReply> replies = get(4);
    purge(purging);
    int before = fixture.forwarded();
    fixture.origin.requests().get(1).respond(304, "", "ETag", TAG, "Cache-Control", "max-age=0");
    fixture.run();
    assertThat(fixture.forwarded()).isEqualTo(before + 3);
    fixture.origin.requests().stream()
        .skip(before)
        .forEach(asked -> asked.respond(200, "hello", "Cache-Control", "max-age=0"));
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("hello"));
  }

  /** Otherwise all would go to the origin at once. */
  @ParameterizedTest
  @EnumSource(Purging.class)
  void whatWasFreshenedIsFoundAndIfItWasRemovedOneFollowerLeadsForAll(Purging purging) {
    fixture.store("hello", "ETag", TAG, "Cache-Tag", "own");
    fixture.advance(100);
    List<RecordingReply> replies = get(4);
    purge(purging);
    int before = fixture.forwarded();
    fixture.origin.requests().get(1).respond(304, "", "ETag", TAG, "Cache-Control", FRESH);
    fixture.run();
    boolean isRemoved = purging != Purging.OTHER_TAG;
    assertThat(fixture.forwarded() - before).isEqualTo(isRemoved ? 1 : 0);
    if (isRemoved) {
      fixture.origin.last().respond(200, "newer", "Cache-Control", FRESH);
      fixture.run();
      assertThat(fixture.forwarded()).isEqualTo(before + 1);
    }
    assertThat(replies.getFirst().text()).isEqualTo("hello");
    assertThat(replies.subList(1, 4))
        .allSatisfy(reply -> assertThat(reply.text()).isEqualTo(isRemoved ? "newer" : "hello"));
  }

  /** All but the first concern the response that is asked for. */
  enum Purging {
    OTHER_TAG,
    TAG,
    TAG_SOFT,
    URL,
    URL_SOFT,
    PREFIX,
    EVERYTHING,
    UNSAFE_REQUEST
  }

  private void purge(Purging purging) {
    switch (purging) {
      case OTHER_TAG -> purge(PurgeTarget.tags(List.of("other")), false);
      case TAG -> purge(PurgeTarget.tags(List.of("own")), false);
      case TAG_SOFT -> purge(PurgeTarget.tags(List.of("own")), true);
      case URL -> purge(PurgeTarget.url(CacheFixture.URI), false);
      case URL_SOFT -> purge(PurgeTarget.url(CacheFixture.URI), true);
      case PREFIX -> purge(PurgeTarget.prefix(CacheFixture.URI), false);
      case EVERYTHING -> fixture.cache.operations().purges().clear();
      case UNSAFE_REQUEST -> {
        fixture.send("POST", CacheFixture.URI);
        fixture.origin.last().respond(200, "done");
      }
    }
    fixture.run();
  }

  private void purge(@Nullable PurgeTarget target, boolean isSoft) {
    fixture.cache.operations().purges().purge(Objects.requireNonNull(target), isSoft);
  }

  @Test
  void followersOfAFailedValidationGetTheStaleResponseToo() {
    fixture.get();
    fixture
        .origin
        .last()
        .respond(200, "hello", "Cache-Control", "max-age=60, stale-if-error=600", "ETag", TAG);
    fixture.advance(100);
    List<RecordingReply> replies = get(3);
    fixture.origin.last().respond(503, "sorry");
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isEqualTo("hello"));
    assertThat(fixture.forwarded()).isEqualTo(2);
  }

  @Test
  void authorizedRequestsDoNotWait() {
    get(2, "Authorization", "Basic eDp5");
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.requests().forEach(forwarded -> forwarded.respond(200, "x"));
  }

  @Test
  void afterAPurgeNobodyJoinsWhatBeganBefore() {
    RecordingReply before = fixture.get();
    RecordingReply follower = fixture.get();
    fixture.cache.operations().purge(CacheFixture.URI);
    RecordingReply after = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.requests().get(0).respond(200, "old", "Cache-Control", FRESH);
    fixture.run();
    assertThat(before.text()).isEqualTo("old");
    assertThat(follower.text()).isEqualTo("old");
    assertThat(after.isBegun()).isFalse();
    fixture.origin.requests().get(1).respond(200, "new", "Cache-Control", FRESH);
    assertThat(fixture.get().text()).isEqualTo("new");
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
  void aFollowerThatFailsIsBrokenOffAloneAndHoldsNothing(Class<? extends Throwable> fault) {
    List<RecordingReply> replies = get(4);
    replies.get(1).whenWritten(() -> fail(fault));
    fixture.origin.last().head(200, 10, "Cache-Control", FRESH).write("01234");
    fixture.run();
    fixture.origin.last().write("56789").end();
    fixture.run();
    assertThat(replies.get(1).isAborted()).isTrue();
    for (int other : new int[] {0, 2, 3}) {
      assertThat(replies.get(other).text()).isEqualTo("0123456789");
      assertThat(replies.get(other).isComplete()).isTrue();
    }
  }

  private static void fail(Class<? extends Throwable> fault) {
    if (fault == OutOfMemoryError.class) {
      throw new OutOfMemoryError("thrown by the test");
    }
    throw new IllegalStateException("thrown by the test");
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
  void theLastNewsReachesTheOthersAndTheLeaseOfTheFailedOneEnds(Class<? extends Throwable> fault) {
    List<RecordingReply> replies = get(3);
    replies.get(1).whenWritten(() -> fail(fault));
    fixture.origin.last().respond(200, "0123456789", "Cache-Control", FRESH);
    fixture.run();
    assertThat(replies.get(1).isAborted()).isTrue();
    assertThat(replies.get(2).isComplete()).isTrue();
    assertThat(fixture.cache.operations().purge(CacheFixture.URI)).hasValue(1);
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }

  /** What comes is probably another error: nobody waits for it in vain, for a second. */
  @Test
  void nobodyWaitsRightAfterAnErrorThatIsNotShared() {
    get(2);
    fixture.origin.last().respond(503, "bad");
    fixture.run();
    fixture.origin.last().respond(503, "bad");
    get(2);
    assertThat(fixture.forwarded()).isEqualTo(4);
    fixture.origin.requests().subList(2, 4).forEach(asked -> asked.respond(503, "bad"));
    fixture.advance(2);
    get(2);
    assertThat(fixture.forwarded()).isEqualTo(5);
    fixture.origin.last().respond(200, "page", "Cache-Control", "max-age=60");
  }
}
