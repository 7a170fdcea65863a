package io.kamille.cache.fill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.key.CacheKey;
import io.kamille.cache.memory.Arena;
import io.kamille.cache.memory.ArenaWriter;
import io.kamille.cache.purge.PurgeTable;
import io.kamille.cache.rules.CachePolicy;
import io.kamille.cache.rules.ForwardReason;
import io.kamille.cache.rules.SelectingFields;
import io.kamille.cache.rules.StoredFacts;
import io.kamille.cache.rules.VaryBy;
import io.kamille.cache.serve.CacheStatus;
import io.kamille.cache.serve.Forwarding;
import io.kamille.cache.store.StoredOctets;
import io.kamille.core.exchange.DiscardingReply;
import io.kamille.core.exchange.Exchange;
import io.kamille.core.exchange.Failure;
import io.kamille.core.exchange.RequestContent;
import io.kamille.core.http.RequestHead;
import io.kamille.core.http.ResponseHead;
import io.kamille.core.loop.ManualClock;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may follow a leader, and which leaders are found. */
class InFlightTest {

  private static final SelectingFields LANGUAGES =
      SelectingFields.of(
          ResponseHead.of(200, "Vary", "Accept-Language").fields(),
          RequestHead.of("GET", "http://example.org/"),
          VaryBy.NONE);

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final InFlightTable table =
      new InFlightTable(ManualClock.atSeconds(1_800_000_000), new PurgeTable());
  private final RequestHead request = RequestHead.of("GET", "http://example.org/");
  private final CacheKey key = CacheKey.of(request);
  private final InFlight flight =
      Objects.requireNonNull(table.begin(key, request, null, channel.eventLoop()));

  @AfterEach
  void end() {
    channel.finishAndReleaseAll();
  }

  @Test
  void aLeaderThatNobodyFollowsLeavesForGood() {
    assertThat(flight.closeIfDeserted()).isTrue();
    assertThat(flight.enter()).isFalse();
    assertThat(flight.followers()).isZero();
    assertThat(flight.closeIfDeserted()).isTrue();
  }

  @Test
  void whoHasEnteredBeforeKeepsTheLeader() {
    assertThat(flight.enter()).isTrue();
    assertThat(flight.closeIfDeserted()).isFalse();
    assertThat(flight.enter()).isTrue();
    flight.left();
    assertThat(flight.closeIfDeserted()).isFalse();
    flight.left();
    assertThat(flight.closeIfDeserted()).isTrue();
    assertThat(flight.enter()).isFalse();
  }

  /** Another flight may come to know its variant while the table is asked. */
  @Test
  void everyFlightInTheTableHasALeader() {
    flight.freshened();
    InFlight other = Objects.requireNonNull(begin("de"));
    var isOver = new AtomicBoolean();
    try (Arena arena = Arena.open(1 << 20)) {
      ArenaWriter writer = Objects.requireNonNull(arena.writer(1, 0));
      Stage filling = filling(writer.bytes());
      var leader =
          CompletableFuture.runAsync(
              () -> {
                while (!isOver.get()) {
                  other.publish(filling);
                  other.publish(new Stage.Waiting());
                }
              });
      try {
        for (int i = 0; i < 20_000; i++) {
          InFlight own = begin("fr");
          assertThat(table.size()).isEqualTo(own == null ? 1 : 2);
          if (own != null) {
            own.freshened();
          }
        }
      } finally {
        isOver.set(true);
        leader.join();
        writer.abandon();
      }
    }
  }

  /** Otherwise it would ask again and again until the leader's loop has ended the flight. */
  @Test
  void whoComesTooLateForTheContentFindsAnotherFlightOrNone() {
    List<@Nullable InFlight> found = new ArrayList<>();
    FollowerFallback fallback =
        new FollowerFallback() {
          @Override
          public void lookAgain(Exchange exchange, Wait wait) {
            found.add(table.find(key, exchange.request()));
          }

          @Override
          public void failed(Exchange exchange, Forwarding forwarding, Failure why) {
            throw new IllegalStateException(why.toString());
          }

          @Override
          public void brokenOffSlow() {}
        };
    try (Arena arena = Arena.open(1 << 20)) {
      ArenaWriter writer = Objects.requireNonNull(arena.writer(1, 0));
      flight.publish(filling(writer.bytes()));
      writer.abandon();
      Follower.follow(
          exchange(),
          flight,
          ForwardReason.URI_MISS,
          new CacheStatus("test"),
          fallback,
          Wait.NOT_BEGUN);
    }
    assertThat(found).hasSize(1).containsOnlyNulls();
    assertThat(flight.followers()).isZero();
  }

  private Exchange exchange() {
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 8080);
    return new Exchange(
        channel.eventLoop(),
        address,
        address,
        request,
        RequestContent.NONE,
        new DiscardingReply(() -> {}));
  }

  private @Nullable InFlight begin(String language) {
    RequestHead asking = RequestHead.of("GET", "http://example.org/", "Accept-Language", language);
    return table.begin(key, asking, LANGUAGES, channel.eventLoop());
  }

  /** A response for everybody that is being filled. */
  private static Stage filling(StoredOctets octets) {
    ResponseHead head = ResponseHead.of(200);
    StoredFacts facts = StoredFacts.of(head, CachePolicy.DEFAULT, 0, 0);
    return new Stage.Filling(head, octets, 0, 0, SelectingFields.NONE, facts, 60);
  }
}
