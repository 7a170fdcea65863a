package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.gate.CommandedLaw;
import io.kamille.core.gate.CommandedLaw.Command;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a late loop sheds, through a whole appliance; a test commands what the law says. */
class OverloadIT {

  private final CommandedLaw law = new CommandedLaw();

  @RegisterExtension
  private final Journey journey =
      new Journey()
          .on(
              new Machine(
                  Machine.HERE.disk(), Machine.HERE.names(), law::at, Machine.HERE.network()));

  @BeforeEach
  void stores() {
    journey.origin().on("/stored", ok("stored", "Cache-Control: max-age=600"));
    journey.origin().on("/other", ok("other", "Cache-Control: max-age=600"));
    assertThat(journey.get("/stored").status()).isEqualTo(200);
  }

  @Test
  void missesAreShedBeforeHits() {
    law.shed(Command.FORWARDS);
    Answer shed = journey.get("/other");
    assertThat(shed.status()).isEqualTo(503);
    assertThat(shed.field("Retry-After")).isIn("1", "2", "3");
    assertThat(shed.field("Cache-Control")).isEqualTo("no-store");
    assertThat(shed.field("Proxy-Status"))
        .isEqualTo(
            "kamille; error=proxy_internal_response; details=\"too busy for this request now\"");
    assertThat(journey.get("/stored").status()).isEqualTo(200);
    assertThat(journey.origin().requests()).hasSize(1);
    assertThat(journey.appliance().overload().shedForwards()).isEqualTo(1);
  }

  @Test
  void aStaleResponseThatMayStandInForAnErrorIsTheAnswerToAShedValidation() {
    journey
        .origin()
        .on("/kept", ok("kept", "Cache-Control: max-age=10, stale-if-error=600", "Age: 60"));
    journey.origin().on("/gone", ok("gone", "Cache-Control: max-age=10", "Age: 60", "ETag: x"));
    assertThat(journey.get("/kept").content()).isEqualTo("kept");
    assertThat(journey.get("/gone").content()).isEqualTo("gone");
    law.shed(Command.FORWARDS);
    Answer stale = journey.get("/kept");
    assertThat(stale.status()).isEqualTo(200);
    assertThat(stale.content()).isEqualTo("kept");
    assertThat(stale.field("Cache-Status"))
        .startsWith("kamille; hit; ttl=-")
        .endsWith("; detail=stale-if-error");
    assertThat(journey.get("/gone").status()).isEqualTo(503);
    assertThat(journey.origin().requests("/kept")).hasSize(1);
    assertThat(journey.appliance().overload().shedForwards()).isEqualTo(2);
  }

  @Test
  void hitsAreShedWhenThatIsNotEnough() {
    law.shed(Command.EVERYTHING);
    assertThat(journey.get("/stored").status()).isEqualTo(503);
    assertThat(journey.appliance().overload().shedAtOnce()).isEqualTo(1);
  }

  @Test
  void aConnectionThatWasShedIsServedAgainLater() {
    law.shed(Command.FORWARDS);
    TestClient client = journey.client();
    assertThat(client.get("/other").answer().status()).isEqualTo(503);
    law.shed(Command.BY_LAW);
    assertThat(client.get("/other").answer().status()).isEqualTo(200);
    assertThat(client.get("/stored").answer().status()).isEqualTo(200);
  }

  @Test
  void whatWasSentBehindAShedRequestIsAnsweredInOrder() {
    law.shed(Command.FORWARDS);
    TestClient client = journey.client();
    client.get("/other").get("/stored").get("/other");
    assertThat(client.answer().status()).isEqualTo(503);
    assertThat(client.answer().status()).isEqualTo(200);
    assertThat(client.answer().status()).isEqualTo(503);
  }

  @Test
  void requestsWithContentAreShedToo() {
    law.shed(Command.FORWARDS);
    TestClient client = journey.client();
    client.send("POST /other HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello");
    assertThat(client.answer().status()).isEqualTo(503);
    assertThat(client.get("/stored").answer().status()).isEqualTo(200);
  }
}
