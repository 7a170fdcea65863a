package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Responses of unknown length that several requests share and that turn out not to be storable to
 * their end.
 */
class OverflowTest {

  private static final String FRESH = "max-age=60";
  private static final int CAPACITY = 1 << 20;
  private static final int LIMIT = 400_000;
  private static final int CHUNK = 50_000;

  private final CacheFixture fixture = new CacheFixture(CAPACITY, TestSettings.of(LIMIT));
  private final Random random = new Random(1);
  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
  private final List<RecordingReply> replies = new ArrayList<>();

  @AfterEach
  void everyLeaseHasEnded() {
    fixture.close();
  }

  private RecordingReply get() {
    RecordingReply reply = fixture.get();
    replies.add(reply);
    return reply;
  }

  /** A leader and {@code followers}, who have begun. */
  private ScriptedOrigin.Forwarded begin(int followers) {
    for (int i = 0; i <= followers; i++) {
      get();
    }
    ScriptedOrigin.Forwarded origin = fixture.origin.last();
    origin.head(200, -1, "Cache-Control", FRESH);
    fixture.run();
    return origin;
  }

  private void write(ScriptedOrigin.Forwarded origin, int length) {
    byte[] chunk = new byte[length];
    random.nextBytes(chunk);
    sent.writeBytes(chunk);
    origin.write(chunk);
    fixture.run();
  }

  /** Writes until the limit is passed. */
  private void overflow(ScriptedOrigin.Forwarded origin) {
    while (sent.size() <= LIMIT) {
      write(origin, CHUNK);
    }
  }

  /** Writes as the origin would: until it is paused. */
  private void writeUntilPaused(ScriptedOrigin.Forwarded origin) {
    for (int i = 0; i < 1000 && !origin.isPaused(); i++) {
      write(origin, CHUNK);
    }
    assertThat(origin.isPaused()).isTrue();
  }

  private void end(ScriptedOrigin.Forwarded origin) {
    origin.end();
    fixture.run();
  }

  private void assertWhole(RecordingReply reply) {
    assertThat(reply.content()).isEqualTo(sent.toByteArray());
    assertThat(reply.isComplete()).isTrue();
  }

  private long slow() {
    return fixture.counted("kamille_cache_slow_readers_total");
  }

  @Test
  void whoHasBegunGetsTheWholeOfWhatOutgrowsTheLimit() {
    ScriptedOrigin.Forwarded origin = begin(3);
    write(origin, CHUNK);
    get();
    overflow(origin);
    write(origin, CHUNK);
    assertThat(replies).allSatisfy(reply -> assertThat(reply.content()).hasSize(sent.size()));
    end(origin);
    assertThat(replies).hasSize(5).allSatisfy(this::assertWhole);
    assertThat(fixture.forwarded()).isEqualTo(1);
    assertThat(fixture.cache.operations().usedBytes()).isZero();
    fixture.get();
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(3);
    fixture.origin.requests().get(1).respond(200, "x");
    fixture.origin.requests().get(2).respond(200, "x");
  }

  @Test
  void whoHasNotBegunGoesToTheOriginAlone() {
    get();
    RecordingReply follower = fixture.get();
    ScriptedOrigin.Forwarded origin = fixture.origin.last();
    byte[] content = new byte[LIMIT + 1];
    sent.writeBytes(content);
    origin.head(200, -1, "Cache-Control", FRESH).write(content);
    fixture.run();
    assertThat(follower.isBegun()).isFalse();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "alone");
    assertThat(follower.text()).isEqualTo("alone");
    end(origin);
    assertWhole(replies.get(0));
  }

  @Test
  void whoComesLaterGoesToTheOriginAlone() {
    ScriptedOrigin.Forwarded origin = begin(1);
    overflow(origin);
    RecordingReply late = fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(2);
    fixture.origin.last().respond(200, "alone");
    assertThat(late.text()).isEqualTo("alone");
    end(origin);
    assertThat(replies).allSatisfy(this::assertWhole);
  }

  @Test
  void whoHasBegunGetsTheWholeOfWhatFindsNoMemory() {
    List<RecordingReply> readers = new ArrayList<>();
    String content = "x".repeat(350_000);
    for (int i = 0; i < 2; i++) {
      String uri = "http://example.org/" + i;
      fixture.send("GET", uri);
      fixture.origin.last().respond(200, content, "Cache-Control", FRESH);
      RecordingReply reader = new RecordingReply();
      reader.whenWritten(reader::pause);
      fixture.handler.handle(fixture.exchange("GET", uri, reader));
      readers.add(reader);
    }
    ScriptedOrigin.Forwarded origin = begin(3);
    while (sent.size() < LIMIT - CHUNK) {
      write(origin, CHUNK);
    }
    end(origin);
    assertThat(replies).allSatisfy(this::assertWhole);
    assertThat(fixture.counted("kamille_cache_fills_total", "abandoned")).isEqualTo(1);
    for (RecordingReply reader : readers) {
      reader.whenWritten(() -> {});
      reader.resume();
      assertThat(reader.text()).isEqualTo(content);
    }
    fixture.get();
    fixture.get();
    assertThat(fixture.forwarded()).isEqualTo(4);
    fixture.origin.last().respond(200, "x", "Cache-Control", FRESH);
    fixture.run();
  }

  @Test
  void aSlowFollowerPausesTheOriginWhenTheWindowIsFull() {
    ScriptedOrigin.Forwarded origin = begin(2);
    write(origin, CHUNK);
    replies.get(1).pause();
    overflow(origin);
    assertThat(origin.isPaused()).isFalse();
    writeUntilPaused(origin);
    assertThat(sent.size()).isLessThan(LIMIT + CHUNK + (1 << 20) + CHUNK);
    assertThat(replies.get(2).content()).hasSize(sent.size());
    assertThat(replies.get(1).content()).hasSize(CHUNK);
    replies.get(1).resume();
    fixture.run();
    assertThat(origin.isPaused()).isFalse();
    assertThat(replies.get(1).content()).hasSize(sent.size());
    write(origin, CHUNK);
    end(origin);
    assertThat(replies).allSatisfy(this::assertWhole);
    assertThat(slow()).isZero();
  }

  @Test
  void aFollowerThatPausesAtEveryChunkGetsTheWhole() {
    ScriptedOrigin.Forwarded origin = begin(2);
    RecordingReply follower = replies.get(1);
    follower.whenWritten(follower::pause);
    overflow(origin);
    write(origin, CHUNK);
    end(origin);
    assertThat(follower.isEnded()).isFalse();
    for (int i = 0; i < 1000 && !follower.isEnded(); i++) {
      follower.resume();
    }
    assertThat(replies).allSatisfy(this::assertWhole);
  }

  @Test
  void aLeaderThatPausesAtEveryChunkGetsTheWholeAndHoldsNobodyUp() {
    ScriptedOrigin.Forwarded origin = begin(2);
    RecordingReply leader = replies.get(0);
    leader.whenWritten(leader::pause);
    overflow(origin);
    write(origin, CHUNK);
    assertThat(origin.isPaused()).isFalse();
    end(origin);
    assertWhole(replies.get(1));
    assertThat(leader.isEnded()).isFalse();
    for (int i = 0; i < 1000 && !leader.isEnded(); i++) {
      leader.resume();
    }
    assertWhole(leader);
  }

  @Test
  void aClientThatIsResumedWithinAWriteGetsTheOctetsInOrder() {
    ScriptedOrigin.Forwarded origin = begin(2);
    for (RecordingReply reply : replies) {
      reply.whenWritten(
          () -> {
            reply.pause();
            reply.resume();
          });
    }
    overflow(origin);
    write(origin, CHUNK);
    end(origin);
    assertThat(replies).allSatisfy(this::assertWhole);
  }

  @Test
  void whoHoldsOthersUpForTooLongIsBrokenOffAlone() {
    ScriptedOrigin.Forwarded origin = begin(2);
    write(origin, CHUNK);
    replies.get(1).pause();
    writeUntilPaused(origin);
    fixture.advance(1);
    assertThat(replies.get(1).isAborted()).isFalse();
    fixture.advance(1);
    assertThat(replies.get(1).isAborted()).isTrue();
    assertThat(replies.get(1).isComplete()).isFalse();
    assertThat(slow()).isEqualTo(1);
    assertThat(origin.isPaused()).isFalse();
    write(origin, CHUNK);
    end(origin);
    assertWhole(replies.get(0));
    assertWhole(replies.get(2));
  }

  @Test
  void aLeaderThatHoldsItsFollowersUpForTooLongIsBrokenOffAlone() {
    ScriptedOrigin.Forwarded origin = begin(2);
    write(origin, CHUNK);
    replies.get(0).pause();
    writeUntilPaused(origin);
    fixture.advance(2);
    assertThat(replies.get(0).isAborted()).isTrue();
    assertThat(slow()).isEqualTo(1);
    assertThat(origin.isPaused()).isFalse();
    write(origin, CHUNK);
    end(origin);
    assertWhole(replies.get(1));
    assertWhole(replies.get(2));
  }

  @Test
  void whoStillTakesSomethingIsWaitedForLonger() {
    ScriptedOrigin.Forwarded origin = begin(2);
    write(origin, CHUNK);
    RecordingReply slow = replies.get(1);
    slow.pause();
    slow.whenWritten(slow::pause);
    for (int i = 0; i < 1000 && !origin.isPaused(); i++) {
      write(origin, 10_000);
    }
    for (int second = 0; second < 28; second += 2) {
      slow.resume();
      fixture.advance(2);
      assertThat(slow.isAborted()).isFalse();
    }
    assertThat(origin.isPaused()).isTrue();
    slow.resume();
    fixture.advance(2);
    assertThat(slow.isAborted()).isTrue();
    assertThat(slow()).isEqualTo(1);
    end(origin);
    assertWhole(replies.get(0));
    assertWhole(replies.get(2));
  }

  @Test
  void whereAllAreSlowNobodyIsHeldUpAndNobodyIsBrokenOff() {
    ScriptedOrigin.Forwarded origin = begin(2);
    replies.forEach(RecordingReply::pause);
    writeUntilPaused(origin);
    fixture.advance(300);
    assertThat(slow()).isZero();
    replies.forEach(RecordingReply::resume);
    fixture.run();
    assertThat(origin.isPaused()).isFalse();
    write(origin, CHUNK);
    end(origin);
    assertThat(replies).allSatisfy(this::assertWhole);
  }

  @Test
  void aReaderOfTheWindowThatFailsHoldsNobodyUp() {
    ScriptedOrigin.Forwarded origin = begin(3);
    overflow(origin);
    RecordingReply faulty = replies.remove(1);
    faulty.whenWritten(
        () -> {
          throw new OutOfMemoryError("thrown by the test");
        });
    for (int i = 0; i < 100; i++) {
      write(origin, CHUNK);
      assertThat(origin.isPaused()).isFalse();
    }
    end(origin);
    assertThat(faulty.isAborted()).isTrue();
    assertThat(replies).hasSize(3).allSatisfy(this::assertWhole);
  }

  @Test
  void whenTheSlowOneLeavesTheOthersGoOn() {
    ScriptedOrigin.Forwarded origin = begin(2);
    replies.get(1).pause();
    writeUntilPaused(origin);
    replies.get(1).leave();
    fixture.run();
    assertThat(origin.isPaused()).isFalse();
    write(origin, CHUNK);
    end(origin);
    assertWhole(replies.get(0));
    assertWhole(replies.get(2));
  }

  @Test
  void whenTheLeadersClientLeavesTheFollowersGetTheWhole() {
    ScriptedOrigin.Forwarded origin = begin(2);
    overflow(origin);
    replies.get(0).leave();
    write(origin, CHUNK);
    assertThat(origin.isCancelled()).isFalse();
    end(origin);
    assertWhole(replies.get(1));
    assertWhole(replies.get(2));
  }

  @Test
  void aLeaderWhoseClientLeftBeforeTheWindowBeganHoldsNothingOfIt() {
    ScriptedOrigin.Forwarded origin = begin(1);
    write(origin, CHUNK);
    replies.get(0).pause();
    replies.get(0).leave();
    overflow(origin);
    for (int i = 0; i < 100; i++) {
      write(origin, CHUNK);
      assertThat(origin.isPaused()).as("a window that nobody reads is full").isFalse();
    }
    end(origin);
    assertWhole(replies.get(1));
  }

  @Test
  void whenEverybodyHasLeftTheOriginIsCancelled() {
    ScriptedOrigin.Forwarded origin = begin(2);
    replies.get(2).pause();
    overflow(origin);
    write(origin, CHUNK);
    replies.get(0).leave();
    replies.get(1).leave();
    fixture.run();
    assertThat(origin.isCancelled()).isFalse();
    replies.get(2).leave();
    fixture.run();
    assertThat(origin.isCancelled()).isTrue();
    assertThat(fixture.cache.operations().usedBytes()).isZero();
  }

  @Test
  void whenTheFollowersLeaveTheLeaderGetsTheWholeAtItsOwnPace() {
    ScriptedOrigin.Forwarded origin = begin(1);
    overflow(origin);
    replies.get(1).leave();
    replies.get(0).pause();
    writeUntilPaused(origin);
    fixture.advance(300);
    assertThat(replies.get(0).isEnded()).isFalse();
    replies.get(0).resume();
    fixture.run();
    assertThat(origin.isPaused()).isFalse();
    write(origin, CHUNK);
    end(origin);
    assertWhole(replies.get(0));
  }

  @Test
  void whenTheContentBreaksOffInTheWindowItBreaksOffForAll() {
    ScriptedOrigin.Forwarded origin = begin(2);
    replies.get(1).pause();
    overflow(origin);
    origin.abort();
    fixture.run();
    assertThat(replies).allSatisfy(reply -> assertThat(reply.isAborted()).isTrue());
  }

  @Test
  void chunksOfOneOctetFillTheWindowToo() {
    ScriptedOrigin.Forwarded origin = begin(1);
    replies.get(1).pause();
    overflow(origin);
    int before = sent.size();
    for (int i = 0; i < 20_000 && !origin.isPaused(); i++) {
      write(origin, 1);
    }
    assertThat(origin.isPaused()).isTrue();
    assertThat(sent.size() - before).isLessThan(9000);
    replies.get(1).resume();
    end(origin);
    assertThat(replies).allSatisfy(this::assertWhole);
  }
}
