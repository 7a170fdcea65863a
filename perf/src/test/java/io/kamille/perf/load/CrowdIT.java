package io.kamille.perf.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.perf.load.Crowd.Outcome;
import io.kamille.perf.load.Crowd.Plan;
import io.kamille.perf.load.OriginTarget.Trait;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CrowdIT {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static List<Outcome> ask(OriginTarget target, List<Plan> plans, Duration limit)
      throws IOException {
    try (var origin = OriginStub.open(0);
        var client = LoadClient.open(LoadSettings.persistent(origin.port(), plans.size()))) {
      return Crowd.ask(client, () -> LoadRequest.get("a", target), plans, limit);
    }
  }

  @Test
  void everybodyGetsEveryOctet() throws Exception {
    List<Outcome> outcomes =
        ask(OriginTarget.of(17, 600_000), Collections.nCopies(20, Plan.stay(0)), LIMIT);
    assertThat(outcomes)
        .hasSize(20)
        .allSatisfy(
            outcome -> {
              assertThat(outcome.failure()).isNull();
              assertThat(outcome.firstNanos()).isBetween(outcome.sentNanos(), outcome.doneNanos());
            });
  }

  @Test
  void whoLeavesDoesNotCountAsAFailure() throws Exception {
    OriginTarget target = OriginTarget.of(17, 600_000).with(Trait.THINK, 600_000);
    List<Outcome> outcomes = ask(target, List.of(new Plan(0, 1, Crowd.NEVER)), LIMIT);
    assertThat(outcomes.getFirst().isAnswered()).isFalse();
    assertThat(outcomes.getFirst().failure()).isNull();
  }

  @Test
  void whoWantsOnlyAShareGoesWhenItHasIt() throws Exception {
    OriginTarget target = OriginTarget.of(17, 600_000).with(Trait.DRIP, 1_000_000);
    List<Outcome> outcomes = ask(target, List.of(new Plan(0, Crowd.NEVER, 1000)), LIMIT);
    assertThat(outcomes.getFirst().isAnswered()).isTrue();
    assertThat(outcomes.getFirst().failure()).isNull();
  }

  @Test
  void aResponseThatBreaksOffIsAFailure() throws Exception {
    String begun = "HTTP/1.1 200 OK\r\nContent-Length: 4500\r\n\r\n\0";
    try (var server =
            StubServer.open(
                (_, socket) -> {
                  StubServer.write(socket, begun);
                  socket.close();
                });
        var client = LoadClient.open(LoadSettings.persistent(server.port(), 1))) {
      var request = LoadRequest.get("a", "/", new byte[4500]);
      assertThat(
              Crowd.ask(client, () -> request, List.of(Plan.stay(0)), LIMIT).getFirst().failure())
          .isEqualTo(LoadFailure.CLOSED);
    }
  }

  @Test
  void whoeverIsLeftAtTheLimitGivesUp() throws Exception {
    OriginTarget target = OriginTarget.of(17, 4500).with(Trait.THINK, 600_000);
    assertThat(ask(target, List.of(Plan.stay(0)), Duration.ofMillis(1)).getFirst().failure())
        .isEqualTo(LoadFailure.TIME_OUT);
  }
}
