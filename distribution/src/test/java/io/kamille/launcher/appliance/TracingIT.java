package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The ways of single requests through the stations of an appliance. */
class TracingIT {

  private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  @RegisterExtension private final Journey journey = new Journey();

  private JsonNode read(String path) throws Exception {
    HttpResponse<String> answer = journey.admin(path);
    assertThat(answer.statusCode()).isEqualTo(200);
    return JsonMapper.builder().build().readTree(answer.body());
  }

  private void order(String content) throws Exception {
    HttpResponse<String> answer =
        journey.send(
            journey
                .adminRequest("/v1/traces")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(content))
                .build());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  /** The steps of the only exchange of a trace, with their details. */
  private List<String> steps(JsonNode listed) throws Exception {
    JsonNode exchange =
        read("/v1/traces/" + listed.path("trace").stringValue()).path("exchanges").path(0);
    double before = 0;
    List<String> steps = new ArrayList<>();
    for (JsonNode step : exchange.path("steps")) {
      assertThat(step.path("atMillis").doubleValue()).isGreaterThanOrEqualTo(before);
      before = step.path("atMillis").doubleValue();
      steps.add(step.path("step").stringValue() + " " + step.path("detail").stringValue());
    }
    assertThat(exchange.path("millis").doubleValue()).isGreaterThanOrEqualTo(before);
    return steps;
  }

  @Test
  void aMissAndAHitTellTheirWays() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.appliance();
    order("{\"url\":\"/a\",\"count\":2}");
    try (TestClient client = journey.client()) {
      client.get("/a").answer();
      Await.until(() -> journey.appliance().routes().cache().keys() == 1, "the response is stored");
      client.get("/a").answer();
      client.get("/a").answer();
      Await.until(
          () -> journey.appliance().clientSide().tracing().traces().size() == 2,
          "both are recorded");
    }
    JsonNode all = read("/v1/traces");
    assertThat(all.path("order").isNull()).isTrue();
    String origin = "127.0.0.1:" + journey.origin().port();
    assertThat(List.of(steps(all.path("traces").path(0)), steps(all.path("traces").path(1))))
        .containsExactlyInAnyOrder(
            List.of(
                "route */",
                "lookup nothing stored",
                "decision uri-miss",
                "collapse leads",
                "origin " + origin,
                "send new connection",
                "response 200",
                "store is being stored",
                "response-end "),
            List.of("route */", "lookup stored", "decision serve"));
    assertThat(journey.origin().request("/a").field("traceparent")).isNotNull();
  }

  @Test
  void anOriginLearnsOfTheTraceAndOfNothingElseIfThereIsNone() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: no-store"));
    journey.with("tracing: {trust: ['127.0.0.1']}");
    journey.get("/a", "Traceparent: " + PARENT, "Tracestate: a=b");
    StubOrigin.Request traced = journey.origin().requests("/a").getFirst();
    assertThat(traced.field("traceparent"))
        .startsWith(PARENT.substring(0, 36))
        .doesNotContain(PARENT.substring(36, 52));
    assertThat(traced.field("tracestate")).isEqualTo("a=b");
    journey.get("/a");
    assertThat(journey.origin().requests("/a").get(1).field("traceparent")).isNull();
  }

  @Test
  void aCollectorThatIsNotThereHarmsNobody() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.with("tracing: {ratio: 1, endpoint: 'http://127.0.0.1:1/v1/traces'}");
    for (int i = 0; i < 5; i++) {
      assertThat(journey.get("/a").content()).isEqualTo("x");
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (journey.admin("/metrics").body().contains("kamille_traces_lost_total 0")) {
      assertThat(System.nanoTime() - deadline).isNegative();
    }
    assertThat(journey.get("/a").content()).isEqualTo("x");
  }

  @Test
  void whatCannotBeOrderedIsABadRequest() throws Exception {
    for (String content :
        List.of(
            "{}", "{\"url\":\"x\"}", "{\"url\":\"/\",\"count\":21}", "{\"url\":\"/\",\"x\":1}")) {
      HttpResponse<String> answer =
          journey.send(
              journey
                  .adminRequest("/v1/traces")
                  .header("Content-Type", "application/json")
                  .POST(BodyPublishers.ofString(content))
                  .build());
      assertThat(answer.statusCode()).as(content).isEqualTo(400);
    }
    assertThat(journey.admin("/v1/traces/nothing").statusCode()).isEqualTo(404);
  }
}
