package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many ask for the same at once (RFC 9111 §4). */
class CollapseIT {

  private static final int CLIENTS = 50;

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void theOriginIsAskedOnceAndAllGetTheSame() {
    var gate = new CountDownLatch(1);
    String content = "slow but steady ".repeat(10_000);
    journey
        .origin()
        .on(
            "/slow",
            visit -> {
              Await.opened(gate);
              visit.send(ok(content, "Cache-Control: max-age=60"));
            });
    List<TestClient> clients = ask("/slow");
    gate.countDown();
    for (TestClient client : clients) {
      assertThat(client.answer().content().equals(content)).isTrue();
    }
    assertThat(journey.origin().requests("/slow")).hasSize(1);
    assertThat(journey.get("/slow").field("Cache-Status")).contains("; hit;");
  }

  @Test
  void followersReadWhileTheLeaderStillFills() {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/slow",
            visit -> {
              visit.send(head("200 OK", "Cache-Control: max-age=60", "Content-Length: 10\r\n"));
              visit.send("01234");
              Await.opened(gate);
              visit.send("56789");
            });
    TestClient leader = journey.client().get("/slow");
    leader.readUntil("01234");
    TestClient follower = journey.client().get("/slow");
    assertThat(follower.readUntil("01234")).contains("; collapsed");
    gate.countDown();
    assertThat(leader.read(5)).isEqualTo("56789");
    assertThat(follower.read(5)).isEqualTo("56789");
    assertThat(journey.origin().requests("/slow")).hasSize(1);
  }

  @Test
  void whatTurnsOutUncachableIsFetchedForEach() {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/mine",
            visit -> {
              Await.opened(gate);
              visit.send(ok("mine", "Cache-Control: private"));
            });
    List<TestClient> clients = ask("/mine");
    gate.countDown();
    for (TestClient client : clients) {
      assertThat(client.answer().content()).isEqualTo("mine");
    }
    assertThat(journey.origin().requests("/mine")).hasSize(CLIENTS);
  }

  @Test
  void followersOfALeaderWhoLeavesAreServed() {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/slow",
            visit -> {
              Await.opened(gate);
              visit.send(ok("worth the wait", "Cache-Control: max-age=60"));
            });
    TestClient leader = journey.client().get("/slow");
    journey.origin().awaitRequests("/slow", 1);
    TestClient follower = journey.client().get("/slow");
    Await.until(() -> journey.appliance().totals().connections() == 2, "both are connected");
    leader.reset();
    Await.until(() -> journey.appliance().totals().connections() == 1, "the leader is gone");
    gate.countDown();
    Answer answer = follower.answer();
    assertThat(answer.content()).isEqualTo("worth the wait");
  }

  @Test
  void theFailureOfTheLeaderIsTheFailureOfItsFollowers() {
    var gate = new CountDownLatch(1);
    journey
        .withUpstream("retries: 0")
        .origin()
        .on(
            "/broken",
            visit -> {
              Await.opened(gate);
              visit.reset();
            });
    List<TestClient> clients = ask("/broken");
    gate.countDown();
    for (TestClient client : clients) {
      assertThat(client.answer().status()).isEqualTo(502);
    }
  }

  private List<TestClient> ask(String target) {
    List<TestClient> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(journey.client().get(target));
    }
    journey.origin().awaitRequests(target, 1);
    return clients;
  }
}
