package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Origins that come and go by the API, and such as are drained. */
class OriginApiIT {

  private static final String PATH = "/v1/upstreams/site/origins/10.0.0.9:8080";

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void anOriginIsAddedForATimeAndRemoved() throws Exception {
    String content = "{'url':'http://10.0.0.9:8080','ttl':'30s','weight':3}";
    assertThat(request("PUT", PATH, content).body().strip())
        .isEqualTo("{\"upstream\":\"site\",\"origin\":\"10.0.0.9:8080\",\"seconds\":30}");
    assertThat(journey.admin("/v1/upstreams").body())
        .contains("{\"name\":\"10.0.0.9:8080\",\"from\":\"api\",\"until\":\"2");
    assertThat(journey.appliance().routes().origins().get("site"))
        .anyMatch(origin -> origin.weight() == 3 && origin.name().equals("10.0.0.9:8080"));
    assertThat(request("DELETE", PATH, "").statusCode()).isEqualTo(204);
    assertThat(journey.appliance().routes().origins().get("site")).hasSize(1);
    assertThat(request("DELETE", PATH, "").statusCode()).isEqualTo(404);
    assertThat(journey.admin("/v1/audit").body())
        .contains("PUT /v1/upstreams/{upstream}/origins/{origin}")
        .contains("DELETE /v1/upstreams/{upstream}/origins/{origin}");
  }

  @Test
  void whatIsNoOriginOrDoesNotSuitIsRefused() throws Exception {
    Map<String, Integer> refused =
        Map.ofEntries(
            Map.entry("{'url':'http://10.0.0.8:8080','ttl':'30s'}", 400),
            Map.entry("{'url':'10.0.0.9:8080','ttl':'30s'}", 400),
            Map.entry("{'ttl':'30s'}", 400),
            Map.entry("{'url':'http://10.0.0.9:8080','ttl':'0s'}", 400),
            Map.entry("{'url':'http://10.0.0.9:8080','ttl':'2d'}", 400),
            Map.entry("{'url':'http://10.0.0.9:8080','ttl':30}", 400),
            Map.entry("{'url':'http://10.0.0.9:8080','ttl':'30s','weight':0}", 400),
            Map.entry("{'url':'http://10.0.0.9:8080','ttl':'30s','wieght':2}", 400),
            Map.entry("{'url':'http://10.0.0.9:8080','ttl':'30s','state':'drain'}", 400),
            Map.entry("{'url':'https://10.0.0.9:8080','ttl':'30s'}", 409));
    for (Map.Entry<String, Integer> each : refused.entrySet()) {
      assertThat(request("PUT", PATH, each.getKey()).statusCode())
          .as(each.getKey())
          .isEqualTo(each.getValue());
    }
    String content = "{'url':'http://10.0.0.9:8080','ttl':'30s'}";
    assertThat(request("PUT", PATH.replace("site", "other"), content).statusCode()).isEqualTo(404);
  }

  @Test
  void anOriginIsDrainedUnlessItIsTheLast() throws Exception {
    String own = PATH.replace("10.0.0.9:8080", "127.0.0.1:" + journey.origin().port());
    String drain = "{'state':'drain','for':'10m'}";
    assertThat(request("PUT", own, drain).statusCode()).isEqualTo(409);
    assertThat(request("PUT", PATH, drain).statusCode()).isEqualTo(404);
    request("PUT", PATH, "{'url':'http://10.0.0.9:8080','ttl':'30s'}");
    assertThat(request("PUT", own, drain).body()).contains("\"seconds\":600}");
    assertThat(journey.admin("/v1/upstreams").body()).contains("\"drainedUntil\":\"2");
    assertThat(request("PUT", PATH, drain).statusCode()).isEqualTo(409);
    assertThat(request("PUT", own, "{'state':'in'}").body()).contains("\"seconds\":0}");
    assertThat(journey.admin("/v1/upstreams").body()).doesNotContain("\"drainedUntil\":\"2");
  }

  private HttpResponse<String> request(String method, String path, String content)
      throws IOException, InterruptedException {
    return journey.send(
        journey
            .adminRequest(path)
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(content.replace('\'', '"')))
            .build());
  }
}
