package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The order to stop: finish what is under way, begin nothing new. */
class DrainIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void anExchangeUnderWayIsFinishedAndNothingNewBegins() throws Exception {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/slow",
            visit -> {
              Await.opened(gate);
              visit.send(ok("finished"));
            })
        .on("/a", ok("x"));
    TestClient idle = journey.client();
    assertThat(idle.get("/a").answer().content()).isEqualTo("x");
    TestClient busy = journey.client().get("/slow");
    journey.origin().awaitRequests("/slow", 1);
    assertThat(journey.admin("/readyz").statusCode()).isEqualTo(200);

    Thread drain = Thread.ofPlatform().start(journey.appliance()::drain);
    assertThat(idle.isAtEnd()).as("an idle connection is closed at once").isTrue();
    assertThatThrownBy(() -> TestClient.connect(journey.address())).hasMessageContaining("refused");
    assertThat(journey.admin("/readyz").statusCode()).isEqualTo(503);
    assertThat(journey.admin("/readyz").body()).contains("draining");
    assertThat(journey.admin("/healthz").statusCode()).isEqualTo(200);

    gate.countDown();
    Answer answer = busy.answer();
    assertThat(answer.content()).isEqualTo("finished");
    assertThat(answer.field("Connection")).isEqualTo("close");
    assertThat(busy.isAtEnd()).isTrue();
    busy.close();
    idle.close();
    drain.join();
  }

  @Test
  void aDownloadThatHasBegunIsFinished() throws Exception {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on(
            "/download",
            visit -> {
              visit.send(head("200 OK", "Content-Length: 10") + "\r\n01234");
              Await.opened(gate);
              visit.send("56789");
            });
    TestClient client = journey.client().get("/download");
    client.readUntil("01234");
    Thread drain = Thread.ofPlatform().start(journey.appliance()::drain);
    gate.countDown();
    assertThat(client.read(5)).isEqualTo("56789");
    assertThat(client.isAtEnd()).isTrue();
    client.close();
    drain.join();
  }

  @Test
  void theDeadlineEndsWhatDoesNotEnd() throws Exception {
    var never = new CountDownLatch(1);
    journey
        .with("limits: {drain-deadline: 100ms}")
        .origin()
        .on("/hangs", visit -> Await.opened(never));
    TestClient client = journey.client().get("/hangs");
    journey.origin().awaitRequests("/hangs", 1);
    journey.appliance().drain();
    assertThat(journey.appliance().totals().connections()).isOne();
    journey.appliance().close();
    assertThatThrownBy(client::answer).isNotNull();
    never.countDown();
  }
}
