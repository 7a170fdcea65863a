package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.StubServer.Answer;
import io.kamille.perf.load.UserDemand.Count;
import io.kamille.perf.load.UserDemand.Marks;
import io.kamille.perf.load.UserDemand.Wants;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A hundred requests within 100 ms of a clock that moves by 10 µs each time it is read. */
@Timeout(60)
class UserDemandIT {

  private static final String RIGHT = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  private static final String BUSY =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
  private static final LoadRequest HELLO =
      LoadRequest.get("a", "/", "hello".getBytes(StandardCharsets.US_ASCII));

  private static LongSupplier tickingClock() {
    long[] nanos = {0};
    return () -> nanos[0] += 10_000;
  }

  private static UserDemand.Result run(int users, Answer answer, boolean areRude, Marks marks)
      throws IOException {
    try (var server = StubServer.open(answer);
        var client =
            LoadClient.open(
                LoadSettings.persistent(server.port(), users).withTimeLimit(Duration.ofHours(1)),
                tickingClock())) {
      var arrivals = Arrivals.even(RateSchedule.steady(1000, Duration.ofMillis(100)));
      var wants = new Wants(HELLO, HELLO, 0);
      var how = new UserDemand.Settings(wants, Duration.ZERO, areRude, 1);
      return UserDemand.run(client, arrivals, how, marks);
    }
  }

  private static Answer always(String text) {
    return (_, socket) -> StubServer.write(socket, text);
  }

  @Test
  void everythingIsAnswered() throws Exception {
    UserDemand.Result result = run(3, always(RIGHT), false, new Marks() {});
    assertThat(result.of(Count.OFFERED)).isEqualTo(100);
    assertThat(result.latency().getTotalCount()).isEqualTo(100);
    assertThat(result.of(Count.FAILED) + result.of(Count.TIMED_OUT) + result.of(Count.SHED))
        .isZero();
  }

  @Test
  void usersWhoWaitAreShedOnceEach() throws Exception {
    UserDemand.Result result = run(3, always(BUSY), false, new Marks() {});
    assertThat(result.of(Count.SHED)).isEqualTo(3);
    assertThat(result.of(Count.TURNED_AWAY)).isEqualTo(97);
  }

  @Test
  void rudeUsersAreShedAgainAndAgain() throws Exception {
    UserDemand.Result result = run(3, always(BUSY), true, new Marks() {});
    assertThat(result.of(Count.SHED)).isEqualTo(100);
  }

  @Test
  void afterAFailureAUserConnectsAgain() throws Exception {
    UserDemand.Result result =
        run(
            1,
            (number, socket) -> {
              if (number == 1) {
                socket.close();
              } else {
                StubServer.write(socket, RIGHT);
              }
            },
            false,
            new Marks() {});
    assertThat(result.of(Count.FAILED)).isEqualTo(1);
    assertThat(result.latency().getTotalCount()).isEqualTo(99);
  }

  @Test
  void itTellsWhenWhatCountsBeginsAndEnds() throws Exception {
    List<String> told = new ArrayList<>();
    run(
        1,
        always(RIGHT),
        false,
        new Marks() {
          @Override
          public void begin() {
            told.add("begin");
          }

          @Override
          public void end() {
            told.add("end");
          }
        });
    assertThat(told).containsExactly("begin", "end");
  }

  @Test
  void aStallIsChargedForAllThatCameDueBehindIt() throws Exception {
    UserDemand.Result result =
        run(
            1,
            (number, socket) -> {
              if (number == 100) {
                StubServer.write(socket, RIGHT.replace("hello", "hallo"));
              } else {
                StubServer.write(socket, RIGHT);
              }
            },
            false,
            new Marks() {});
    assertThat(result.of(Count.GOOD) + result.of(Count.FAILED)).isLessThanOrEqualTo(100);
    assertThat(result.latency().getTotalCount()).isEqualTo(99);
    assertThat(result.of(Count.OFFERED)).isEqualTo(100);
  }
}
