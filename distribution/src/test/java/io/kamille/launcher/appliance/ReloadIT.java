package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import io.kamille.core.client.h1.TestClient.Answer;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.Standing.Phase;
import io.kamille.core.setting.SettingChange;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A new configuration comes into force; nobody who is connected notices more than that. */
class ReloadIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void routesChangeWhileADownloadAndAPersistentConnectionGoOn() throws IOException {
    var gate = new CountDownLatch(1);
    journey
        .origin()
        .on("/a", ok("old"))
        .on(
            "/download",
            visit -> {
              visit.send(head("200 OK", "Content-Length: 10") + "\r\n01234");
              Await.opened(gate);
              visit.send("56789");
            });
    try (StubOrigin other = StubOrigin.open();
        TestClient download = journey.client().get("/download");
        TestClient persistent = journey.client().get("/a")) {
      other.on("/a", ok("new"));
      download.readUntil("01234");
      assertThat(persistent.answer().content()).isEqualTo("old");

      journey.with("upstreams: {site: {origins: ['" + other.url() + "']}}");
      journey.appliance().reload(journey.configuration());

      assertThat(persistent.get("/a").answer().content()).isEqualTo("new");
      assertThat(journey.get("/a").content()).isEqualTo("new");
      gate.countDown();
      assertThat(download.read(5)).isEqualTo("56789");
      assertThat(journey.origin().requests("/a")).hasSize(1);
    }
  }

  @Test
  void whatIsStoredStaysStored() {
    journey.origin().on("/a", ok("kept", "Cache-Control: max-age=60"));
    journey.get("/a");
    journey.with("cache: {memory: {capacity: 16MiB}, policy: lru}");
    journey.appliance().reload(journey.configuration());
    Answer hit = journey.get("/a");
    assertThat(hit.content()).isEqualTo("kept");
    assertThat(hit.field("Cache-Status")).startsWith("kamille; hit;");
  }

  @Test
  void limitsApplyFromTheNextRequestOnAnOpenConnection() {
    journey.origin().on("/" + "x".repeat(500), ok("long"));
    String target = "/" + "x".repeat(500);
    try (TestClient client = journey.client()) {
      assertThat(client.get(target).answer().content()).isEqualTo("long");
      journey.with("limits: {head-size: 1KiB}");
      journey.appliance().reload(journey.configuration());
      assertThat(client.get(target).answer().status()).isEqualTo(414);
    }
  }

  @Test
  void theLogTellsWhatIsInForceFromWhatWaits() {
    SettingChange changed = new SettingChange("limits.head-size", "32KiB", "50KiB", false);
    SettingChange waits = new SettingChange("loops", "2", "4", true);
    assertThat(ReloadSentence.sentence(List.of(), 0))
        .isEqualTo("configuration reloaded, 0 settings changed");
    assertThat(ReloadSentence.sentence(List.of(changed, waits), 0))
        .isEqualTo("configuration reloaded, 1 setting changed; 1 waits for a restart");
    assertThat(ReloadSentence.sentence(List.of(waits, waits), 0))
        .isEqualTo("configuration reloaded, 0 settings changed; 2 wait for a restart");
    assertThat(ReloadSentence.sentence(List.of(changed, waits), 1))
        .isEqualTo(
            "configuration reloaded, 1 setting changed; 1 waits for a restart;"
                + " 1 loop has the old limits still");
  }

  @Test
  void loopsThatHaveNotTakenTheLimitsInTimeAreCounted() {
    Future<?> taken = ImmediateEventExecutor.INSTANCE.newSucceededFuture(null);
    Future<?> late = ImmediateEventExecutor.INSTANCE.newPromise();
    assertThat(ClientSide.unfinished(List.of(late, taken, late), 0)).isEqualTo(2);
    assertThat(ClientSide.unfinished(List.of(taken, taken), 0)).isZero();
  }

  @Test
  void connectionsToAnOriginStayOpenWhereItsUpstreamIsTheSame() {
    journey.withUpstream("idle-timeout: 1h").origin().on("/a", ok("x"));
    try (TestClient client = journey.client()) {
      client.get("/a").answer();
      journey.with("limits: {head-size: 50KiB}");
      journey.appliance().reload(journey.configuration());
      client.get("/a").answer();
    }
    assertThat(journey.origin().requests("/a"))
        .extracting(StubOrigin.Request::connection)
        .containsExactly(1, 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"retries: 0", "retries: 0, head-timeout: 50s"})
  void anOriginThatIsOutStaysOut(String after) throws IOException {
    String health = ", health: {failures: 1, out-for: 1h}";
    journey.withUpstream("retries: 0" + health);
    journey.origin().kill();
    assertThat(journey.get("/a").status()).isEqualTo(502);
    assertThat(phase()).isEqualTo(Phase.OUT);
    journey.withUpstream(after + health);
    journey.appliance().reload(journey.configuration());
    assertThat(phase()).isEqualTo(Phase.OUT);
  }

  private Phase phase() {
    Origin origin = journey.appliance().routes().origins().values().iterator().next().getFirst();
    return origin.health().standing().phase();
  }

  @Test
  void anExchangeEndsWellThoughItsUpstreamIsGone() throws IOException {
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
    try (StubOrigin other = StubOrigin.open();
        TestClient download = journey.client().get("/download")) {
      download.readUntil("01234");
      journey.with(
          "upstreams: {another: {origins: ['" + other.url() + "']}}",
          "routes: [{upstream: another}]");
      journey.appliance().reload(journey.configuration());
      assertThat(journey.appliance().routes().origins()).containsOnlyKeys("another");
      gate.countDown();
      assertThat(download.read(5)).isEqualTo("56789");
    }
  }

  @Test
  void oneHundredReloadsLeaveNoMetricsBehind() throws IOException {
    journey.with("loops: 1").withUpstream("retries: 0").origin().on("/a", ok("x"));
    try (StubOrigin other = StubOrigin.open()) {
      other.on("/a", ok("x"));
      String first = "upstreams: {site: {origins: ['" + journey.origin().url() + "'], retries: ";
      String second = "upstreams: {site: {origins: ['" + other.url() + "'], retries: ";
      assertThat(journey.get("/a").content()).isEqualTo("x");
      int parts = journey.appliance().metrics().parts();
      for (int i = 0; i < 100; i++) {
        journey.with((i % 2 == 0 ? second : first) + i % 3 + "}}");
        journey.appliance().reload(journey.configuration());
        assertThat(journey.get("/a").content()).isEqualTo("x");
      }
      assertThat(journey.appliance().metrics().parts()).isEqualTo(parts);
    }
  }

  @Test
  void oneHundredReloadsUnderLoadLoseNoRequest() throws InterruptedException {
    journey.origin().on("/a", ok("x")).on("/b", ok("y", "Cache-Control: max-age=60"));
    journey.appliance();
    var stop = new CountDownLatch(1);
    var failed = new java.util.concurrent.ConcurrentLinkedQueue<Throwable>();
    Thread load =
        Thread.ofVirtual()
            .start(
                () -> {
                  try (TestClient client = TestClient.connect(journey.address())) {
                    while (stop.getCount() > 0) {
                      assertThat(client.get("/a").answer().content()).isEqualTo("x");
                      assertThat(client.get("/b").answer().content()).isEqualTo("y");
                    }
                  } catch (Throwable trouble) {
                    failed.add(trouble);
                  }
                });
    for (int i = 0; i < 100; i++) {
      journey.appliance().reload(journey.configuration());
    }
    stop.countDown();
    load.join();
    assertThat(failed).isEmpty();
  }
}
