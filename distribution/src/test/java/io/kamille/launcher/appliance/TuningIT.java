package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.head;
import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.tuning.BufferTuner;
import io.kamille.admin.tuning.ConnectionOrder;
import io.kamille.admin.tuning.ConnectionSnapshot;
import io.kamille.admin.tuning.TuningPolicy;
import io.kamille.core.Await;
import io.kamille.core.client.h2.TestH2Client;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Send buffers of an appliance that runs: every protocol, and every way to change the policy. */
class TuningIT {

  private static final String LISTENERS =
      "listeners: ['127.0.0.1:0', {address: '127.0.0.1:0', tls: self-signed}]";
  private static final String SIZING = "tuning: {policy: equation, budget: 512KiB}";

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void everyProtocolIsTunedAlikeAndGivenBackAlike() throws Exception {
    journey.with(LISTENERS, SIZING);
    journey.origin().on("/large", ok("x".repeat(1 << 20), "Cache-Control: max-age=600"));
    journey.client().get("/large").answer();
    try (HttpClient h1 = client(Version.HTTP_1_1);
        HttpClient h2 = client(Version.HTTP_2)) {
      get(h1, "/large");
      get(h2, "/large");
      Await.until(() -> connections().size() == 3, "each connection was looked at");
      assertThat(connections())
          .extracting(ConnectionSnapshot::protocol)
          .containsExactlyInAnyOrder("HTTP/1.1", "HTTP/1.1 over TLS", "HTTP/2 over TLS");
      assertThat(connections())
          .allSatisfy(
              each -> {
                assertThat(each.sendBuffer().grantedBytes()).isPositive();
                assertThat(each.sendBuffer().notSentLowWatermarkBytes()).isPositive();
                assertThat(each.why()).isNotBlank();
              });

      journey.with("tuning: {policy: off}");
      journey.appliance().reload(journey.configuration());
      Await.until(() -> connections().isEmpty(), "the kernel has all of them back");
      assertThat(tuner().snapshot().fixedUntilTheyClose()).isZero();
    }
  }

  @Test
  void aReloadKeepsWhatAnOperatorSetUnlessTheFileSaysSomethingElse() throws IOException {
    journey.with(SIZING);
    journey.appliance();
    tuner().settings(tuner().settings().with(TuningPolicy.EQUATION));
    journey.with("limits: {head-size: 1KiB}");
    journey.appliance().reload(journey.configuration());
    assertThat(tuner().settings().policy()).isEqualTo(TuningPolicy.EQUATION);
    journey.with("tuning: {policy: kernel}");
    journey.appliance().reload(journey.configuration());
    assertThat(tuner().settings().policy()).isEqualTo(TuningPolicy.KERNEL);
  }

  @Test
  void aPolicyOfTheRunningProcessReachesConnectionsThatAreOpen() throws Exception {
    journey.with("tuning: {policy: off}");
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=600"));
    var client = journey.client();
    client.get("/a").answer();
    assertThat(connections()).isEmpty();
    journey.send(
        journey
            .adminRequest("/v1/tuning")
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString("{\"policy\":\"equation\"}"))
            .build());
    client.get("/a").answer();
    Await.until(() -> !connections().isEmpty(), "the connection was looked at");
    Await.until(
        () -> {
          ConnectionSnapshot only = connections().getFirst();
          return only.sendBuffer().notSentLowWatermarkBytes() > 0 && only.allocationBytes() > 0;
        },
        "it has its part");
  }

  @Test
  void aResponseUnderWayIsLookedAtAsSoonAsTuningBegins() throws Exception {
    journey.with("tuning: {policy: off}");
    journey.origin().on("/large", ok("x".repeat(16 << 20), "Cache-Control: max-age=600"));
    journey.client(4_096).request("GET", "/large").readUntil("\r\n\r\n");
    tuner().settings(tuner().settings().with(TuningPolicy.KERNEL));
    Await.until(() -> !connections().isEmpty(), "the connection was looked at");
  }

  /** Until the sweep of the next second, it was taken for one that had sent no request. */
  @Test
  void theFirstResponseOfAConnectionIsLookedAtAlthoughNothingMoreIsWritten() throws Exception {
    journey.with("tuning: {policy: off}");
    journey
        .origin()
        .on(
            "/slow",
            visit ->
                visit
                    .send(head("200 OK", "Content-Length: 9") + "\r\n")
                    .awaitTheWord()
                    .send("too late."));
    journey.client().request("GET", "/slow").readUntil("\r\n\r\n");
    tuner().settings(tuner().settings().with(TuningPolicy.KERNEL));
    Await.until(() -> !connections().isEmpty(), "the connection was looked at");
    journey.origin().giveTheWord();
  }

  @Test
  void contentThatWaitsOnAStreamForItsWindowIsCountedAsPending() throws Exception {
    journey.with(
        "listeners: ['127.0.0.1:0', {address: '127.0.0.1:0', protocols: [h2c]}]",
        "tuning: {policy: kernel}");
    journey.origin().on("/own", ok("x".repeat(1 << 20), "Cache-Control: no-store"));
    journey.origin().on("/stored", ok("x".repeat(1 << 20), "Cache-Control: max-age=600"));
    journey.client().get("/stored").answer();
    InetSocketAddress address = Journey.address(journey.appliance().listening().get(1));
    try (var passed = TestH2Client.connect(address);
        var hit = TestH2Client.connect(address)) {
      passed.get(1, "/own").flush();
      hit.get(1, "/stored").flush();
      Await.until(
          () -> connections().stream().anyMatch(each -> each.pending().bufferedBytes() > 32 << 10),
          "what the origin sent is counted");
      Await.until(
          () -> connections().stream().anyMatch(each -> each.pending().leasedBytes() > 32 << 10),
          "what lies in the store is counted");
    }
  }

  /** All 4 MiB were encrypted at once, and waited in memory of their own. */
  @Test
  void aClientThatDoesNotReadHoldsLittleUnderTlsToo() throws Exception {
    journey.with(LISTENERS, "tuning: {policy: kernel}");
    journey.origin().on("/large", ok("x".repeat(4 << 20), "Cache-Control: max-age=600"));
    journey.client().get("/large").answer();
    try (Socket client = TrustingAll.context().getSocketFactory().createSocket()) {
      client.setReceiveBufferSize(4 << 10);
      client.connect(Journey.address(journey.appliance().listening().get(1)));
      client
          .getOutputStream()
          .write("GET /large HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(client.getInputStream().read()).isEqualTo('H');
      Await.until(
          () -> connections().stream().anyMatch(each -> each.pending().bufferedBytes() > 0),
          "it was looked at");
      assertThat(connections())
          .allSatisfy(each -> assertThat(each.pending().bufferedBytes()).isLessThan(1 << 20));
    }
  }

  private BufferTuner tuner() {
    return journey.appliance().tuner();
  }

  private List<ConnectionSnapshot> connections() {
    return tuner().connections(ConnectionOrder.BUFFER, 10);
  }

  private static HttpClient client(Version version) {
    return HttpClient.newBuilder().version(version).sslContext(TrustingAll.context()).build();
  }

  private void get(HttpClient client, String target) throws IOException, InterruptedException {
    String address = journey.appliance().listening().get(1);
    var request = HttpRequest.newBuilder(URI.create("https://" + address + target)).build();
    assertThat(client.send(request, BodyHandlers.ofString()).body()).hasSize(1 << 20);
  }
}
