package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import io.kamille.core.client.h1.TestClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Health, metrics, status and purges of an appliance that does real work. */
class ControlPlaneIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void healthAndReadinessNeedNoToken() throws Exception {
    HttpResponse<String> health = journey.send(withoutToken("/healthz"));
    assertThat(health.statusCode()).isEqualTo(200);
    assertThat(journey.send(withoutToken("/readyz")).body()).contains("ready");
  }

  @Test
  void statusNeedsTheTokenOfTheFileThatOnlyWeMayRead() throws Exception {
    assertThat(journey.send(withoutToken("/v1/status")).statusCode()).isEqualTo(401);
    HttpRequest wrong =
        HttpRequest.newBuilder(withoutToken("/v1/status").uri())
            .header("Authorization", "Bearer " + "0".repeat(64))
            .build();
    HttpResponse<String> refused = journey.send(wrong);
    assertThat(refused.statusCode()).isEqualTo(401);
    assertThat(refused.headers().firstValue("WWW-Authenticate")).isPresent();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(journey.file("token"))))
        .isEqualTo("rw-------");
  }

  @Test
  void statusShowsListenersLoopsCacheAndOrigins() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    try (TestClient client = journey.client()) {
      client.get("/a").answer();
      client.get("/a").answer();
      Await.until(() -> journey.appliance().totals().requests() == 2, "both are counted");
      String status = journey.admin("/v1/status").body();
      String time = "\"20[0-9-]{8}T[0-9:.]*Z\"";
      assertThat(status.strip())
          .matches(
              "\\{\"version\":\"test\",\"state\":\"ready\",\"started\":"
                  + time
                  + ",\"uptimeSeconds\":[0-9]{1,3},\"listeners\":\\[\\{\"address\":\""
                  + journey.appliance().listening().getFirst()
                  + "\",\"connections\":1,\"certificateExpires\":null}],\"loops\":\\["
                  + "(\\{\"name\":\"kamille-loop-[12]\",\"requests\":[02],\"connections\":[01],"
                  + "\"cpuSeconds\":[0-9.E-]*},?){2}],\"cache\":\\{\"capacityBytes\":16777216,"
                  + "\"usedBytes\":[0-9]+,\"objects\":1,\"hits\":1,\"misses\":1,\"hitRatio\":0.5},"
                  + "\"upstreams\":\\[\\{\"name\":\"site\",\"origins\":\\[\\{\"name\":\"127.0.0.1:"
                  + journey.origin().port()
                  + "\",\"from\":\"configuration\",\"until\":null,\"state\":\"in\",\"inFlight\":0,"
                  + "\"failures\":0,\"since\":null,\"why\":\"\",\"drainedUntil\":null,"
                  + "\"check\":null}],\"lists\":\\[]}],\"reload\":\\{\"successful\":true,"
                  + "\"lastSuccess\":"
                  + time
                  + "},\"configurable\":false,\"clustered\":false}");
    }
  }

  @Test
  void routesAndUpstreamsTellWhatWasAsked() throws Exception {
    assertThat(journey.admin("/v1/routes").body())
        .contains("\"requests\":0,\"hits\":0,\"failures\":0,\"lastRequest\":null}");
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a");
    journey.get("/a");
    Await.until(() -> journey.appliance().totals().requests() == 2, "both are counted");
    assertThat(journey.admin("/v1/routes").body())
        .contains(
            "{\"name\":\"*/\",\"host\":\"*\",\"path\":\"/\",\"upstream\":\"site\",\"cached\":true,"
                + "\"requests\":2,\"hits\":1,\"failures\":0,\"lastRequest\":\"2");
    assertThat(journey.admin("/v1/upstreams").body())
        .contains("{\"name\":\"site\",\"requests\":1,\"failures\":0,\"retries\":0,\"head\":{")
        .containsPattern("\"p99Millis\":[0-9.]*[1-9]")
        .contains("\"state\":\"in\"", "\"check\":null,\"requests\":1}],\"lists\":[]}");
  }

  @Test
  void theDescriptionHasEveryOperation() throws Exception {
    assertThat(journey.admin("/v1/openapi.json").body())
        .contains("\"version\":\"test\"", "\"/v1/status\":{\"get\":", "\"/v1/explain\":{\"get\":")
        .contains("\"uptimeSeconds\":{\"type\":\"integer\"}");
  }

  @Test
  void metricsCountWhatHappened() throws Exception {
    journey.origin().on("/a", ok("hello", "Cache-Control: max-age=60"));
    try (TestClient client = journey.client()) {
      for (int i = 0; i < 3; i++) {
        client.get("/a").answer();
      }
      client.send("BAD\r\n\r\n").answer();
    }
    Await.until(() -> journey.appliance().totals().requests() == 4, "all are counted");
    journey.awaitNoConnections();
    String metrics = journey.admin("/metrics").body();
    assertThat(value(metrics, "kamille_requests_total", "cache=\"hit\"", "status=\"2xx\""))
        .isEqualTo(2);
    assertThat(value(metrics, "kamille_requests_total", "cache=\"miss\"", "status=\"2xx\""))
        .isEqualTo(1);
    assertThat(value(metrics, "kamille_requests_total", "cache=\"none\"", "status=\"4xx\""))
        .isEqualTo(1);
    assertThat(value(metrics, "kamille_request_failures_total", "error=\"http_request_error\""))
        .isEqualTo(1);
    assertThat(value(metrics, "kamille_request_duration_seconds_count", "cache=\"hit\""))
        .isEqualTo(2);
    assertThat(value(metrics, "kamille_upstream_requests_total", "upstream=\"site\"")).isEqualTo(1);
    assertThat(value(metrics, "kamille_upstream_origin_in", "upstream=\"site\"")).isEqualTo(1);
    assertThat(value(metrics, "kamille_cache_memory_capacity_bytes")).isEqualTo(16 << 20);
    assertThat(value(metrics, "kamille_cache_memory_used_bytes")).isPositive();
    assertThat(value(metrics, "kamille_cache_keys")).isEqualTo(1);
    assertThat(value(metrics, "kamille_connections")).isZero();
    assertThat(metrics.lines().filter(line -> line.startsWith("kamille_loop_cpu_seconds_total{")))
        .hasSize(2);
    assertThat(metrics).contains("jvm_memory_used_bytes", "process_uptime_seconds");
  }

  @Test
  void objectsTellOfEveryVariantOfAnUrl() throws Exception {
    journey
        .origin()
        .on("/a?b=c", ok("hallo", "Cache-Control: max-age=60", "Vary: Accept", "ETag: \"1\""));
    journey.get("/a?b=c", "Accept: text/html");
    journey.get("/a?b=c", "Accept: text/html");
    journey.get("/a?b=c", "Accept: text/plain");
    HttpResponse<String> objects = journey.admin("/v1/cache/objects?url=http://a/a?b=c");
    assertThat(objects.statusCode()).isEqualTo(200);
    assertThat(objects.body().split("\\{\"status\":200,", -1)).hasSize(3);
    assertThat(objects.body())
        .containsPattern(
            "\\{\"status\":200,\"state\":\"fresh\",\"decision\":\"serve\",\"ageSeconds\":\\d+,"
                + "\"ttlSeconds\":\\d+,\"freshness\":\\{\"lifetimeSeconds\":60,\"source\":\"max-age\"},"
                + "\"noCache\":false,\"mustRevalidate\":false,\"staleWhileRevalidateSeconds\":-?\\d+,"
                + "\"staleIfErrorSeconds\":-?\\d+,\"tier\":\"memory\",\"hits\":1,"
                + "\"bytes\":\\{\"head\":\\d+,\"content\":5,\"occupied\":\\d+},\"selectedBy\":\\[[^]]*],"
                + "\"etag\":\"\\\\\"1\\\\\"\",\"lastModified\":null,\"contentType\":[^,]*,"
                + "\"coding\":[^,]*,\"forms\":\\[]}")
        .contains(
            "\"selectedBy\":[{\"field\":\"accept\",\"value\":\"text/html\"}]",
            "\"hits\":1,",
            "\"hits\":0,")
        .contains("\"content\":5,", "\"etag\":\"\\\"1\\\"\"")
        .contains("\"freshness\":{\"lifetimeSeconds\":60,\"source\":\"max-age\"}");
    assertThat(journey.admin("/v1/cache/objects?url=http://a/other").body().strip())
        .isEqualTo("{\"url\":\"http://a/other\",\"objects\":[]}");
  }

  @Test
  void tiersTellWhatTakesMemoryAndWhatIsForgotten() throws Exception {
    journey.origin().on("/a", ok("hallo", "Cache-Control: max-age=60"));
    journey.get("/a");
    String tiers = journey.admin("/v1/cache/tiers").body();
    assertThat(tiers)
        .containsPattern("\"storedBytes\":[1-9][0-9]{2},\"indexBytes\":256,\"fillingBytes\":0,")
        .contains("\"keys\":1,")
        .contains("\"policy\":{\"setting\":\"auto\",\"policy\":\"tinylfu\",\"since\":\"");
  }

  @Test
  void aPurgeMakesTheNextRequestAMiss() throws Exception {
    journey
        .origin()
        .on("/a?b=c", ok("x", "Cache-Control: max-age=60", "Vary: Accept"))
        .on("/other", ok("y", "Cache-Control: max-age=60"));
    journey.get("/a?b=c", "Accept: text/html");
    journey.get("/a?b=c", "Accept: text/plain");
    journey.get("/other");
    HttpResponse<String> purged = journey.purge("http://a/a?b=c");
    assertThat(purged.statusCode()).isEqualTo(200);
    assertThat(purged.body().strip()).isEqualTo("{\"id\":1,\"state\":\"done\",\"purged\":2}");
    assertThat(journey.get("/a?b=c", "Accept: text/html").field("Cache-Status"))
        .contains("fwd=uri-miss");
    assertThat(journey.get("/other").field("Cache-Status")).contains("; hit;");
    assertThat(journey.purge("http://a/never-seen").body()).contains("\"purged\":0}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"nonsense", "http://a/\u00fc", "http://u@a/", "http://a:x/", "http://a:65536/"})
  void aPurgeOfAnUrlThatNoRequestCanHaveIsABadRequest(String url) throws Exception {
    HttpResponse<String> refused = journey.purge(url);
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("\"detail\":\"url: found ");
  }

  @Test
  void whatAClientCouldAskForCanBePurged() throws Exception {
    journey.origin().on("/a|{b}?c=^", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a|{b}?c=^");
    assertThat(journey.purge("http://a:80/a|{b}?c=^").body()).contains("\"purged\":1}");
  }

  @Test
  void aPurgeWithoutTheTokenChangesNothing() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a");
    HttpRequest request =
        HttpRequest.newBuilder(withoutToken("/v1/cache/purges").uri())
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"url\": \"http://a/a\"}"))
            .build();
    assertThat(journey.send(request).statusCode()).isEqualTo(401);
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;");
  }

  @Test
  void thePaceChangesWhileRequestsAreServed() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a");
    HttpResponse<String> changed = journey.pace("{\"pacing\": \"300us\"}");
    assertThat(changed.statusCode()).isEqualTo(200);
    assertThat(changed.body()).contains("\"pacing\":\"300us\"");
    Await.until(this::allLoopsArePaced, "every loop has had a turn");
    assertThat(journey.get("/a").field("Cache-Status")).contains("; hit;");
    assertThat(journey.pace("{\"pacing\": \"slow\"}").statusCode()).isEqualTo(400);
  }

  private boolean allLoopsArePaced() {
    String loops;
    try {
      loops = journey.admin("/v1/engine/loops").body();
    } catch (IOException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
    return loops.split("\"intervalMicros\":300.0,\"reason\":\"fixed\"", -1).length == 3;
  }

  private HttpRequest withoutToken(String path) {
    String address = journey.appliance().adminListening().orElseThrow();
    return HttpRequest.newBuilder(URI.create("http://" + address + path)).build();
  }

  /** The value of the only sample of that name whose labels hold all of these. */
  private static double value(String metrics, String name, String... labels) {
    return metrics
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .filter(line -> Arrays.stream(labels).allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .reduce((one, two) -> Double.NaN)
        .orElseThrow(() -> new AssertionError(name + " is missing"));
  }
}
