package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.Await;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Purges by the API of an appliance that does real work. */
class PurgeIT {

  @RegisterExtension private final Journey journey = new Journey();

  private String post(String content) throws IOException, InterruptedException {
    HttpResponse<String> answer =
        journey.send(
            journey
                .adminRequest("/v1/cache/purges")
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(content))
                .build());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body().strip();
  }

  private String purges() {
    try {
      return journey.admin("/v1/cache/purges").body();
    } catch (IOException | InterruptedException failed) {
      throw new AssertionError(failed);
    }
  }

  private void store(String target, String... fields) {
    String[] all = new String[fields.length + 1];
    all[0] = "Cache-Control: max-age=60";
    System.arraycopy(fields, 0, all, 1, fields.length);
    journey.origin().on(target, ok("x", all));
    journey.get(target);
  }

  private boolean isHit(String target) {
    String status = journey.get(target).field("Cache-Status");
    return status != null && status.contains("; hit;");
  }

  @Test
  void aTagTakesAllItsResponsesAndNoOther() throws Exception {
    store("/1", "Surrogate-Key: product-1 shoes");
    store("/2", "Cache-Tag: shoes, sale");
    store("/3", "Surrogate-Key: hats");
    assertThat(post("{\"tags\": [\"shoes\"]}")).startsWith("{\"id\":1,\"state\":\"");
    assertThat(isHit("/1")).isFalse();
    assertThat(isHit("/2")).isFalse();
    assertThat(isHit("/3")).isTrue();
    Await.until(
        () -> purges().contains("\"state\":\"done\",\"purged\":2}"), "both are counted as purged");
    assertThat(purges()).contains("{\"id\":1,\"kind\":\"tag\",\"of\":\"shoes\",\"mode\":\"hard\"");
  }

  @Test
  void theSweepFreesWhatNobodyAsksForAnyMore() throws Exception {
    store("/a/1");
    store("/a/2");
    store("/b");
    post("{\"prefix\": \"http://a/a/\"}");
    Await.until(() -> journey.appliance().routes().cache().keys() == 1, "two are swept");
    assertThat(isHit("/b")).isTrue();
  }

  @Test
  void aDryRunCountsAndChangesNothing() throws Exception {
    store("/1", "Cache-Tag: a");
    store("/2", "Cache-Tag: a");
    assertThat(post("{\"url\": \"http://a/1\", \"dry_run\": true}"))
        .isEqualTo("{\"id\":1,\"state\":\"done\",\"matched\":1}");
    post("{\"tags\": [\"a\", \"b\"], \"dry_run\": true}");
    Await.until(() -> purges().contains("\"state\":\"done\",\"matched\":2}"), "both are counted");
    assertThat(isHit("/1")).isTrue();
    assertThat(isHit("/2")).isTrue();
  }

  @Test
  void whatIsPurgedSoftlyIsServedOnceMoreAndThenNew() throws Exception {
    store("/1", "Cache-Tag: a");
    journey.origin().on("/1", ok("new", "Cache-Control: max-age=60"));
    post("{\"all\": true, \"mode\": \"soft\"}");
    assertThat(journey.get("/1").content()).isEqualTo("x");
    Await.until(() -> journey.get("/1").content().equals("new"), "the new response is stored");
    assertThat(journey.origin().requests("/1")).hasSize(2);
  }

  @Test
  void aHostIsPurgedUnderBothSchemes() throws Exception {
    store("/1");
    post("{\"host\": \"b\"}");
    assertThat(isHit("/1")).isTrue();
    post("{\"host\": \"A:80\"}");
    assertThat(isHit("/1")).isFalse();
  }
}
