package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import io.kamille.perf.load.StubServer.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/*
 * The client's clock moves by ten microseconds each time it is read, so nothing here depends on how
 * fast the machine is.
 */
@Timeout(60)
class LoadClientIT {

  private static final String RIGHT = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  private static final Duration NO_LIMIT = Duration.ofHours(1);
  private static final long MILLI = 1_000_000;

  private final RequestSource hello =
      RequestSource.always(LoadRequest.get("a", "/", "hello".getBytes(StandardCharsets.US_ASCII)));

  /** Moves when it is read, and says so from a certain time on. */
  private static final class TickingClock implements LongSupplier {

    private static final long TICK_NANOS = 10_000;

    private final CountDownLatch past = new CountDownLatch(1);
    private final long markNanos;
    private long nanos;

    TickingClock(long markNanos) {
      this.markNanos = markNanos;
    }

    @Override
    public long getAsLong() {
      nanos += TICK_NANOS;
      if (nanos >= markNanos) {
        past.countDown();
      }
      return nanos;
    }
  }

  private static LoadSettings settings(int port, int connections) {
    return LoadSettings.persistent(port, connections).withTimeLimit(NO_LIMIT);
  }

  private static Arrivals hundred() {
    return Arrivals.even(RateSchedule.steady(1000, Duration.ofMillis(100)));
  }

  private static LoadClient client(LoadSettings settings) throws IOException {
    return LoadClient.open(settings, new TickingClock(0));
  }

  private LoadResult resultOf(Answer answer) throws IOException {
    try (var server = StubServer.open(answer);
        var client = client(settings(server.port(), 1))) {
      return client.run(hundred(), hello);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1024, 1 << 20})
  void whatTheOriginGivesIsRight(int size) throws Exception {
    var request = LoadRequest.get("a", "/hit/" + size, FixedContent.octets(size));
    try (var origin = Responder.open();
        var client = client(settings(origin.port(), 20))) {
      var arrivals = Arrivals.poisson(RateSchedule.steady(2000, Duration.ofMillis(50)), 1);
      LoadResult result = client.run(arrivals, RequestSource.always(request));
      assertThat(result.failures()).isEmpty();
      assertThat(result.completed()).isEqualTo(result.offered()).isPositive();
      assertThat(result.connects()).isZero();
    }
  }

  @Test
  void anotherRunUsesTheSameConnections() throws Exception {
    try (var server = StubServer.open((number, socket) -> StubServer.write(socket, RIGHT));
        var client = client(settings(server.port(), 3))) {
      client.run(hundred(), hello);
      assertThat(client.run(hundred(), hello).completed()).isEqualTo(100);
      assertThat(server.connections()).isEqualTo(3);
    }
  }

  @Test
  void aStallIsChargedForEveryRequestThatCameMeanwhile() throws Exception {
    var clock = new TickingClock(80 * MILLI);
    Answer stallingAtTheEleventh =
        (number, socket) -> {
          if (number == 11) {
            clock.past.await();
          }
          StubServer.write(socket, RIGHT);
        };
    try (var server = StubServer.open(stallingAtTheEleventh);
        var client = LoadClient.open(settings(server.port(), 1), clock)) {
      LoadResult result = client.run(hundred(), hello);
      assertThat(result.completed()).isEqualTo(100);
      // Due from 10 to 45 ms, and none of them was answered before 80 ms.
      assertThat(result.latency().getCountBetweenValues(35 * MILLI, Long.MAX_VALUE))
          .isGreaterThanOrEqualTo(36);
      assertThat(result.latencyMicros(100)).isGreaterThanOrEqualTo(70_000);
      // The client itself was never late.
      assertThat(result.latenessMicros(100)).isLessThan(1000);
    }
  }

  @Test
  void anAnswerAfterThePlannedTimeIsNoPartOfTheRate() throws Exception {
    var clock = new TickingClock(300 * MILLI);
    Answer stallingAtTheFirst =
        (number, socket) -> {
          if (number == 1) {
            clock.past.await();
          }
          StubServer.write(socket, RIGHT);
        };
    try (var server = StubServer.open(stallingAtTheFirst);
        var client = LoadClient.open(settings(server.port(), 1), clock)) {
      LoadResult result = client.run(hundred(), hello);
      assertThat(result.completed()).isEqualTo(100);
      assertThat(result.ratePerSecond()).isZero();
    }
  }

  @Test
  void withoutAnAnswerRequestsTimeOutSentOrNot() throws Exception {
    try (var server = StubServer.open((number, socket) -> {});
        var client = client(settings(server.port(), 2).withTimeLimit(Duration.ofMillis(10)))) {
      LoadResult result = client.run(hundred(), hello);
      assertThat(result.failures()).containsOnly(entry(LoadFailure.TIME_OUT, 100L));
      assertThat(result.completed()).isZero();
    }
  }

  @Test
  void aRefusedConnectionIsAFailureOfItsRequest() throws Exception {
    try (var bound = SocketChannel.open()) {
      // Taken, so that nobody else listens there, but without a listener.
      bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = ((InetSocketAddress) bound.getLocalAddress()).getPort();
      try (var client = client(settings(port, 2).withUsesPerConnection(1))) {
        assertThat(client.run(hundred(), hello).failures())
            .containsOnly(entry(LoadFailure.CONNECT, 100L));
      }
      assertThatThrownBy(() -> client(settings(port, 2)))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("connection 1 of 2");
    }
  }

  @Test
  void aResetIsAFailureOfItsRequest() throws Exception {
    LoadResult result =
        resultOf(
            (number, socket) -> {
              if (number == 7) {
                socket.setSoLinger(true, 0);
                socket.close();
              } else {
                StubServer.write(socket, RIGHT);
              }
            });
    assertThat(result.failures()).containsOnly(entry(LoadFailure.RESET, 1L));
    assertThat(result.completed()).isEqualTo(99);
    assertThat(result.connects()).isEqualTo(1);
  }

  private void assertFailsOnce(boolean isAskingAgain, int closing, String sent, int expected)
      throws IOException {
    Answer answer =
        (number, socket) -> {
          StubServer.write(socket, number == closing ? sent : RIGHT);
          if (number == closing) {
            socket.close();
          }
        };
    try (var server = StubServer.open(answer)) {
      var settings = settings(server.port(), 1);
      try (var client = client(isAskingAgain ? settings.askingAgain() : settings)) {
        assertThat(client.run(hundred(), hello).failed()).isEqualTo(expected);
        assertThat(client.sentAgain()).isEqualTo(1 - expected);
      }
    }
  }

  @Test
  void aRequestIsSentAgainIfTheConnectionEndedBeforeAnyOctetOfAnAnswer() throws Exception {
    assertFailsOnce(true, 7, "", 0);
    assertFailsOnce(false, 7, "", 1);
    assertFailsOnce(true, 7, "HTTP/1.1 ", 1);
    assertFailsOnce(true, 1, "", 1);
  }

  @Test
  void aResponseThatBreaksOffIsAFailure() throws Exception {
    LoadResult result =
        resultOf(
            (number, socket) -> {
              if (number == 7) {
                StubServer.write(socket, RIGHT.substring(0, RIGHT.length() - 1));
                socket.close();
              } else {
                StubServer.write(socket, RIGHT);
              }
            });
    assertThat(result.failures()).containsOnly(entry(LoadFailure.CLOSED, 1L));
    assertThat(result.completed()).isEqualTo(99);
  }

  @Test
  void wrongResponsesFailLoudlyAndKeepTheConnection() throws Exception {
    LoadResult result =
        resultOf(
            (number, socket) ->
                StubServer.write(
                    socket,
                    switch (number) {
                      case 3 -> RIGHT.replace("200", "503");
                      case 5, 6 -> RIGHT.replace("hello", "hallo");
                      case 7 -> RIGHT.replace("5", "4").replace("hello", "hell");
                      default -> RIGHT;
                    }));
    assertThat(result.failures())
        .containsOnly(
            entry(LoadFailure.WRONG_STATUS, 1L),
            entry(LoadFailure.WRONG_CONTENT, 2L),
            entry(LoadFailure.WRONG_LENGTH, 1L));
    assertThat(result.completed()).isEqualTo(96);
    assertThat(result.connects()).isZero();
  }

  @Test
  void afterAMalformedResponseTheConnectionIsReplaced() throws Exception {
    LoadResult result =
        resultOf((number, socket) -> StubServer.write(socket, number == 4 ? "ICY\r\n" : RIGHT));
    assertThat(result.failures()).containsOnly(entry(LoadFailure.MALFORMED, 1L));
    assertThat(result.completed()).isEqualTo(99);
    assertThat(result.connects()).isEqualTo(1);
  }

  @Test
  void aConnectionThatTheServerAnnouncesToCloseIsNotUsedAgain() throws Exception {
    String last = RIGHT.replace("OK\r\n", "OK\r\nConnection: close\r\n");
    LoadResult result =
        resultOf((number, socket) -> StubServer.write(socket, number % 10 == 0 ? last : RIGHT));
    assertThat(result.failures()).isEmpty();
    assertThat(result.connects()).isEqualTo(9);
  }

  @Test
  void aConnectionIsGivenUpAfterItsUses() throws Exception {
    try (var server = StubServer.open((number, socket) -> StubServer.write(socket, RIGHT));
        var client = client(settings(server.port(), 1).withUsesPerConnection(3))) {
      LoadResult result = client.run(hundred(), hello);
      assertThat(result.completed()).isEqualTo(100);
      assertThat(server.lastRequests()).isEqualTo(33);
      assertThat(result.connects()).isEqualTo(33);
    }
  }

  @Test
  void aNonPersistentConnectionIsOpenedForEachRequest() throws Exception {
    try (var server = StubServer.open((number, socket) -> StubServer.write(socket, RIGHT));
        var client = client(settings(server.port(), 4).withUsesPerConnection(1))) {
      assertThat(server.connections()).isZero();
      LoadResult result = client.run(hundred(), hello);
      assertThat(result.completed()).isEqualTo(100);
      assertThat(result.connects()).isEqualTo(100);
      assertThat(server.lastRequests()).isEqualTo(100);
    }
  }

  @Test
  void aConnectionIsUsedAsOftenAsIsDrawnForIt() throws Exception {
    var drawn = new AtomicInteger();
    try (var server = StubServer.open((number, socket) -> StubServer.write(socket, RIGHT));
        var client = client(settings(server.port(), 1).withUses(drawn::incrementAndGet))) {
      LoadResult result = client.run(hundred(), hello);
      assertThat(result.completed()).isEqualTo(100);
      // 1 + 2 + … + 13 = 91: the fourteenth is still in use.
      assertThat(server.lastRequests()).isEqualTo(13);
    }
  }

  @Test
  void everyAnswerOfTheOriginToWebAxe4IsRight() throws Exception {
    var workload = new WebAxe4("a", 1 << 20, 0, 1);
    try (var origin = Responder.open();
        var client = client(settings(origin.port(), 8).withUses(WebAxe4.clientUses(1)))) {
      var arrivals = Arrivals.poisson(RateSchedule.steady(2000, Duration.ofSeconds(1)), 1);
      LoadResult result = client.run(arrivals, workload);
      assertThat(result.failures()).isEmpty();
      assertThat(result.completed()).isEqualTo(result.offered()).isPositive();
    }
  }

  @Test
  void anObserverIsToldOfEachRequestAndItsFirstOctet() throws Exception {
    var outcomes = new ArrayList<LoadOutcome>();
    try (var server = StubServer.open((number, socket) -> StubServer.write(socket, RIGHT));
        var client = client(settings(server.port(), 3).withUsesPerConnection(1))) {
      LoadResult result = client.run(hundred(), hello, outcomes::add);
      assertThat(result.completed()).isEqualTo(100);
    }
    assertThat(outcomes)
        .hasSize(100)
        .allMatch(outcome -> outcome.failure() == null)
        .allMatch(outcome -> outcome.begunNanos() >= outcome.intendedNanos())
        .allMatch(outcome -> outcome.firstOctetNanos() > 0)
        .allMatch(outcome -> outcome.source() == AnswerSource.ORIGIN);
  }

  @Test
  void anObserverIsToldOfAFailure() throws Exception {
    var outcomes = new ArrayList<LoadOutcome>();
    try (var server = StubServer.open((number, socket) -> socket.close());
        var client = client(settings(server.port(), 1))) {
      LoadResult result = client.run(hundred(), hello, outcomes::add);
      assertThat(result.failed()).isEqualTo(100);
    }
    assertThat(outcomes).hasSize(100).allMatch(outcome -> outcome.failure() != null);
  }
}
