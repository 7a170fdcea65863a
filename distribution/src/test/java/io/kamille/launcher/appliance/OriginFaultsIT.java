package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.launcher.appliance.OriginFault.Outcome;
import io.kamille.launcher.appliance.OriginFault.Sees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Whatever an origin does wrong: what the client sees, what is stored, what others notice. */
class OriginFaultsIT {

  /*
   * Deadlines are short where a fault is to meet them. On a machine that stands still, a sound
   * answer meets them too: so it is asked for until it comes.
   */
  private static final Path PAGE = Path.of("..", "docs", "reference", "status-codes.md");

  static final List<OriginFault> FAULTS = OriginFault.ALL;

  @RegisterExtension private final Journey journey = new Journey();
  private final StubOrigin other;

  OriginFaultsIT() throws IOException {
    other = StubOrigin.open();
  }

  @BeforeEach
  void anotherRoute() {
    other.on("/other", ok("unharmed", "Cache-Control: no-store"));
  }

  @AfterEach
  void closeOther() throws IOException {
    other.close();
  }

  @ParameterizedTest
  @FieldSource("FAULTS")
  void theClientSeesADefinedEndAndNothingTruncatedIsStored(OriginFault fault) {
    configure(fault);
    journey.origin().on("/a", fault.script());
    meets(fault.outcome());
    assertThat(journey.accessLog(2))
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains("GET /a ")
                    .contains(" " + fault.outcome().token() + " \""));
    journey.origin().on("/a", ok("anew", "Cache-Control: max-age=600"));
    boolean isStored = fault.outcome().sees() == Sees.WHOLE;
    assertThat(sound("/a").content()).isEqualTo(isStored ? "whole" : "anew");
  }

  /** RFC 9112 §9.3: where nobody knows what the next octets mean, no request follows. */
  @ParameterizedTest
  @FieldSource("FAULTS")
  void theConnectionIsUsedAgainOnlyIfItIsSound(OriginFault fault) {
    configure(fault);
    journey.origin().on("/a", fault.script());
    meets(fault.outcome());
    int met = journey.origin().requests("/a").getLast().connection();
    journey.origin().on("/b", ok("sound", "Cache-Control: no-store"));
    assertThat(sound("/b").content()).isEqualTo("sound");
    assertThat(journey.origin().requests("/b"))
        .allMatch(request -> (request.connection() == met) == fault.leavesAConnection());
  }

  /** RFC 5861 §4: only before the head; a head that was sent cannot be taken back. */
  @ParameterizedTest
  @FieldSource("FAULTS")
  void theStoredResponseTakesThePlaceOfAnError(OriginFault fault) {
    configure(fault);
    String control = "Cache-Control: max-age=10, stale-if-error=600";
    journey.origin().on("/a", ok("kept", control, "Age: 60"));
    assertThat(sound("/a").content()).isEqualTo("kept");
    journey.origin().on("/a", fault.script());
    if (fault.outcome().isCoveredByStale()) {
      Answer stale = finalAnswer(journey.client().get("/a"));
      assertThat(stale.content()).isEqualTo("kept");
      assertThat(stale.field("Cache-Status")).contains("detail=stale-if-error");
    } else {
      meets(fault.outcome());
    }
  }

  @Test
  void thePageHasARowForEachFault() throws IOException {
    assertThat(Files.readAllLines(PAGE))
        .containsSubsequence(FAULTS.stream().map(OriginFault::row).toList());
  }

  private void configure(OriginFault fault) {
    journey.with(
        "loops: 1",
        "upstreams: {site: {origins: ['"
            + journey.origin().url()
            + "'], idle-timeout: 1h, "
            + fault.settings()
            + "}, other: {origins: ['"
            + other.url()
            + "']}}",
        "routes: [{upstream: site}, {path: /other, upstream: other}]");
  }

  /** Asks, looks at another route while the fault is under way, and reads the end. */
  private void meets(Outcome outcome) {
    TestClient client = journey.client().get("/a");
    journey.origin().awaitRequests("/a", 1);
    assertThat(journey.get("/other").content()).isEqualTo("unharmed");
    if (outcome.sees() == Sees.BROKEN_TRANSFER) {
      assertThat(client.readUntil("\r\n\r\n")).startsWith("HTTP/1.1 200 ");
      journey.origin().giveTheWord();
      assertThat(rest(client)).doesNotEndWith("\r\n0\r\n\r\n").hasSizeLessThan(100);
      return;
    }
    journey.origin().giveTheWord();
    Answer answer = finalAnswer(client);
    assertThat(answer.status()).isEqualTo(outcome.status());
    if (outcome.sees() == Sees.ERROR) {
      assertThat(answer.field("Proxy-Status")).isEqualTo("kamille; error=" + outcome.token());
    } else {
      assertThat(answer.field("Proxy-Status")).isNull();
    }
    if (outcome.sees() == Sees.WHOLE) {
      assertThat(answer.content()).isEqualTo("whole");
    }
  }

  /** What comes until the connection ends, in whatever way. */
  private static String rest(TestClient client) {
    try {
      return client.rest();
    } catch (UncheckedIOException reset) {
      return "";
    }
  }

  private static Answer finalAnswer(TestClient client) {
    Answer answer = client.answer();
    while (answer.status() < 200) {
      answer = client.answer();
    }
    return answer;
  }

  /** The first answer that met no deadline. */
  private Answer sound(String target) {
    var found = new AtomicReference<Answer>();
    Await.until(
        () -> {
          found.set(journey.get(target));
          return found.get().status() == 200;
        },
        target + " is answered");
    return found.get();
  }
}
