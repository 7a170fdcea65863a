package io.kamille.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.station.CacheHandler;
import io.kamille.cache.tiers.WorkerThreads;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.gate.RouteGate;
import io.kamille.core.loop.WallClock;
import io.kamille.core.metric.MetricRegistry;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The cache under several loops at once. Ends with every lease ended. */
class ManyLoopsTest {

  private static final String URI = CacheFixture.URI;
  private static final int LOOPS = 4;

  private final List<EventLoop> loops = new ArrayList<>();
  private final ScriptedOrigin origin = new ScriptedOrigin();
  private final Cache cache =
      Cache.open(
          CacheFixture.memory(8 << 20, Long.MAX_VALUE),
          WorkerThreads.compressing(),
          new MetricRegistry(),
          WallClock.system());
  private final CacheHandler handler =
      cache.handler(origin, TestSettings.of(4 << 20), RouteGate.OPEN);

  ManyLoopsTest() {
    for (int i = 0; i < LOOPS; i++) {
      loops.add(new DefaultEventLoop());
    }
  }

  @AfterEach
  void everyLeaseHasEnded() {
    loops.forEach(loop -> loop.shutdownGracefully(0, 10, TimeUnit.SECONDS));
    loops.forEach(loop -> loop.terminationFuture().syncUninterruptibly());
    cache.operations().purges().clear();
    assertThat(cache.operations().usedBytes()).isZero();
    assertThat(cache.operations().inFlight()).isZero();
    cache.close();
  }

  private EventLoop loop(int number) {
    return loops.get(number % LOOPS);
  }

  /** Sends a request on a loop; complete when the handler has seen it. */
  private CompletableFuture<Void> send(EventLoop loop, RecordingReply reply) {
    return send(handler, loop, reply);
  }

  private static CompletableFuture<Void> send(
      CacheHandler handler, EventLoop loop, RecordingReply reply) {
    Exchange exchange = CacheFixture.exchange(loop, "GET", URI, reply);
    return CompletableFuture.runAsync(() -> handler.handle(exchange), loop);
  }

  private static void await(CompletableFuture<?> future) {
    future.orTimeout(30, TimeUnit.SECONDS).join();
  }

  private static byte[] octets(int length, Random random) {
    byte[] octets = new byte[length];
    random.nextBytes(octets);
    return octets;
  }

  @Test
  void fiftyFollowersOnAllLoopsReadWhatOneRequestBrings() {
    List<RecordingReply> replies = new ArrayList<>();
    RecordingReply leader = new RecordingReply();
    await(send(loop(0), leader));
    replies.add(leader);
    for (int i = 0; i < 50; i++) {
      RecordingReply follower = new RecordingReply();
      await(send(loop(i), follower));
      replies.add(follower);
    }
    assertThat(origin.requests()).hasSize(1);
    byte[] content = octets(1_000_000, new Random(1));
    ScriptedOrigin.Forwarded forwarded = origin.last();
    loop(0).execute(() -> forwarded.head(200, content.length, "Cache-Control", "max-age=60"));
    for (int at = 0; at < content.length; at += 10_000) {
      byte[] chunk = Arrays.copyOfRange(content, at, at + 10_000);
      loop(0).execute(() -> forwarded.write(chunk));
    }
    loop(0).execute(forwarded::end);
    for (RecordingReply reply : replies) {
      await(reply.whenEnded());
      assertThat(reply.isComplete()).isTrue();
      assertThat(reply.content()).isEqualTo(content);
    }
    assertThat(origin.requests()).hasSize(1);
  }

  @Test
  void whenTheResponseIsNotSharedAllFollowersReachTheOrigin() {
    List<RecordingReply> replies = new ArrayList<>();
    for (int i = 0; i <= 20; i++) {
      RecordingReply reply = new RecordingReply();
      await(send(loop(i), reply));
      replies.add(reply);
    }
    ScriptedOrigin.Forwarded first = origin.last();
    assertThat(origin.requests()).hasSize(1);
    origin.answering(next -> next.respond(200, "own", "Cache-Control", "private"));
    loop(0).execute(() -> first.respond(200, "own", "Cache-Control", "private"));
    for (RecordingReply reply : replies) {
      await(reply.whenEnded());
      assertThat(reply.text()).isEqualTo("own");
    }
    assertThat(origin.requests()).hasSize(21);
  }

  @Test
  void anythingAtAnyTimeLeavesEveryReaderWithTheWholeOrNothing() {
    Random random = new Random(20_261_122);
    for (int round = 0; round < 60; round++) {
      round(handler, random);
    }
  }

  @Test
  void anythingAtAnyTimeLeavesEveryReaderWithTheWholeEvenIfItCannotBeStored() {
    Random random = new Random(20_261_123);
    for (int round = 0; round < 60; round++) {
      round(
          cache.handler(origin, TestSettings.of(1 + random.nextInt(150_000)), RouteGate.OPEN),
          random);
    }
  }

  /** One response in random chunks, readers that come, pause and leave, a purge, an ending. */
  private void round(CacheHandler handler, Random random) {
    int before = origin.requests().size();
    byte[] content = octets(random.nextInt(200_000), random);
    List<RecordingReply> replies = new ArrayList<>();
    RecordingReply leader = new RecordingReply();
    replies.add(leader);
    cache.operations().purges().clear();
    origin.answering(forwarded -> {});
    await(send(handler, loop(0), leader));
    ScriptedOrigin.Forwarded forwarded = origin.last();
    assertThat(origin.requests()).hasSize(before + 1);
    origin.answering(
        next -> next.head(200, content.length, "Cache-Control", "max-age=60").write(content).end());
    loop(0).execute(() -> forwarded.head(200, -1, "Cache-Control", "max-age=60"));
    int ending = random.nextInt(4);
    for (int at = 0; at < content.length; ) {
      int length = Math.min(content.length - at, 1 + random.nextInt(40_000));
      byte[] chunk = Arrays.copyOfRange(content, at, at + length);
      loop(0).execute(() -> forwarded.write(chunk));
      at += length;
      int event = random.nextInt(8);
      if (event < 5) {
        reader(handler, random, replies);
      } else if (event == 5) {
        loop(0).execute(leader::leave);
      } else if (event == 6 && ending == 0) {
        cache.operations().purge(URI);
      }
    }
    loop(0)
        .execute(
            () -> {
              if (ending == 1 && !forwarded.isCancelled()) {
                forwarded.abort();
              } else {
                forwarded.end();
              }
            });
    for (RecordingReply reply : replies) {
      await(reply.whenEnded());
      if (reply.isComplete()) {
        assertThat(reply.content()).isEqualTo(content);
      } else if (reply.isEnded()) {
        assertThat(ending).isEqualTo(1);
      }
    }
  }

  private void reader(CacheHandler handler, Random random, List<RecordingReply> replies) {
    RecordingReply reply = new RecordingReply();
    EventLoop home = loop(random.nextInt(LOOPS));
    int manner = random.nextInt(4);
    if (manner == 0) {
      reply.whenWritten(
          () -> {
            reply.pause();
            home.execute(reply::resume);
          });
    } else if (manner == 1) {
      reply.whenWritten(reply::leave);
    }
    replies.add(reply);
    send(handler, home, reply)
        .whenComplete(
            (handled, trouble) -> {
              if (trouble != null) {
                reply.whenEnded().completeExceptionally(trouble);
              }
            });
  }
}
