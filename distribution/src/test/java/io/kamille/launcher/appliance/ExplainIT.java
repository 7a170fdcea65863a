package io.kamille.launcher.appliance;

import static io.kamille.launcher.appliance.StubOrigin.ok;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the control plane says would happen, of an appliance that does real work. */
class ExplainIT {

  @RegisterExtension private final Journey journey = new Journey();

  @Test
  void aMissAndAHitAreToldApartAndAskingReachesNoOrigin() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: max-age=60"));
    assertThat(explain("url=http://a/a"))
        .contains("\"route\":{\"name\":\"*/\",\"host\":\"*\",\"path\":\"/\",\"upstream\":\"site\"")
        .contains("\"decision\":\"forward\",\"fwd\":\"uri-miss\"");
    assertThat(journey.origin().requests()).isEmpty();
    journey.get("/a");
    assertThat(explain("url=http://a/a")).contains("\"decision\":\"serve\",\"fwd\":null");
    assertThat(explain("url=http://a/a&field=Cache-Control:%20no-cache"))
        .contains("\"decision\":\"forward\",\"fwd\":\"request\"", "\"rule\":\"request-no-cache\"");
    assertThat(explain("url=http://a/a&method=POST"))
        .contains("\"decision\":\"pass\",\"fwd\":\"method\"", "\"rule\":\"invalidation\"");
    assertThat(journey.origin().requests()).hasSize(1);
  }

  @Test
  void whatWaitsForASlowClientIsTold() throws Exception {
    assertThat(explain("url=http://a/a&method=POST&field=Transfer-Encoding:%20chunked"))
        .contains(
            "\"found\":\"content of unknown length\"", "1MiB in memory, then 256MiB in a file");
    assertThat(
            explain(
                "url=http://a/a&method=POST&field=Content-Length:%2099999999999"
                    + "&field=Content-Type:%20application/grpc"))
        .contains("it takes a connection at once");
  }

  @Test
  void whyTheLastAnswerWasNotStoredIsTold() throws Exception {
    journey.origin().on("/a", ok("x", "Cache-Control: no-store"));
    journey.get("/a");
    assertThat(explain("url=http://a/a"))
        .contains("\"rule\":\"no-store\",\"section\":\"RFC 9111 §5.2.2.5\"");
  }

  @Test
  void aHostWithoutRouteIsRefused() throws Exception {
    journey.with("routes: [{upstream: site, host: a, path: /b, cache: {enabled: off}}]");
    assertThat(explain("url=http://elsewhere/"))
        .contains("\"route\":null,\"key\":null,\"decision\":\"refuse\"")
        .contains("421 (Misdirected Request)");
    assertThat(explain("url=http://a/")).contains("404 (Not Found)");
    assertThat(explain("url=http://a/b"))
        .contains("\"cached\":false", "\"decision\":\"pass\",\"fwd\":null");
  }

  @Test
  void whomTheRouteIsForIsTold() throws Exception {
    journey.with(
        "routes: [{upstream: site}, {upstream: site, path: /a, access: {allow: [10.0.0.0/8], deny:"
            + " [10.1.0.0/16]}, cache: {bypass-paths: [/a/b]}}]");
    assertThat(explain("url=http://h/a&client=10.2.0.1"))
        .contains("\"decision\":\"forward\"", "\"rule\":\"access\"")
        .contains("10.2.0.1: allow has a range /8, deny has no range with it")
        .contains("the route is for this client");
    for (String refused : new String[] {"/a&client=10.1.0.1", "/a/b&client=10.1.0.1"}) {
      assertThat(explain("url=http://h" + refused))
          .contains("\"key\":null,\"decision\":\"refuse\",\"fwd\":null")
          .contains("10.1.0.1: allow has a range /8, deny has a range /16")
          .contains("the route is not for this client: 403 (Forbidden)");
    }
    assertThat(explain("url=http://h/a&client=::1")).contains("\"decision\":\"refuse\"");
    assertThat(explain("url=http://h/a"))
        .contains("\"decision\":\"forward\"", "no client given", "403 (Forbidden): give one");
    assertThat(explain("url=http://h/x&client=10.1.0.1")).doesNotContain("\"access\"");
  }

  @Test
  void whatTheRouteLetsBypassIsTold() throws Exception {
    journey.with(
        "routes: [{upstream: site, cache: {bypass-paths: [/admin], bypass-cookies: [session]}}]");
    assertThat(explain("url=http://a/admin/x"))
        .contains("\"upstream\":\"site\"", "\"decision\":\"pass\",\"fwd\":\"bypass\"")
        .contains(
            "routes[].cache.bypass-paths: /admin", "\"name\":\"*/\",\"host\":\"*\",\"path\":\"/\"")
        .contains("it takes the route */, to upstream site\"");
    assertThat(explain("url=http://a/x&field=Cookie:%20session=1"))
        .contains("\"decision\":\"pass\",\"fwd\":\"bypass\"", "\"rule\":\"cookie\"");
  }

  @Test
  void limitsAreToldWhereARequestMeetsThem() throws Exception {
    journey.with(
        "routes: [{upstream: site, rate-limit: [{rate: 2/s}, {rate: 9/h}],"
            + " request-content: 2MiB, head-timeout: 1s, access: {allow: [10.0.0.0/8]}},"
            + " {upstream: site, path: /b}]");
    assertThat(rules("url=http://a/a&method=POST&field=Content-Length:%20200"))
        .startsWith(
            "route ", "access ", "rate-limit 2/s by address, burst 2; 9/h by address, burst 1")
        .containsSubsequence(
            "request-content 2MiB; Content-Length: 200",
            "upload-buffer Content-Length: 200",
            "head-timeout 1s");
    String tooMuch = "url=http://a/a&method=POST&field=Content-Length:%203000000";
    assertThat(explain(tooMuch))
        .contains("\"decision\":\"refuse\"", "it has more content: 413 (Content Too Large)");
    assertThat(rules(tooMuch)).last().isEqualTo("request-content 2MiB; Content-Length: 3000000");
    assertThat(rules("url=http://a/b"))
        .noneMatch(rule -> rule.startsWith("r") && !rule.startsWith("route "));
  }

  /** Each step's rule, and what it has found. */
  private List<String> rules(String query) throws Exception {
    return Pattern.compile("\"rule\":\"([^\"]*)\",\"section\":\"[^\"]*\",\"found\":\"([^\"]*)")
        .matcher(explain(query))
        .results()
        .map(step -> step.group(1) + " " + step.group(2))
        .map(step -> step.replaceFirst("^(route|access) .*", "$1 "))
        .toList();
  }

  @Test
  void theRoutesQueryRulesHoldForTheExplainedRequestAndForWhatIsListed() throws Exception {
    journey.with("routes: [{upstream: site, cache: {query: {ignore: [utm_*]}}}]");
    journey.origin().on("/a?b=1", ok("x", "Cache-Control: max-age=60"));
    journey.get("/a?utm_x=1&b=1");
    assertThat(explain("url=http://a/a%3Fb=1%26utm_y=2"))
        .contains("\"key\":\"http://a/a?b=1\"", "\"decision\":\"serve\"")
        .contains("\"rule\":\"query\"", "it is looked up and forwarded as /a?b=1");
    assertThat(explain("url=http://a/a%3Fb=1")).doesNotContain("\"rule\":\"query\"");
    assertThat(journey.admin("/v1/cache/objects?url=http://a/a%3Fb=1%26utm_y=2").body())
        .contains("\"hits\":0");
  }

  @Test
  void whatIsAskedIsToldAsItIsUnderstood() throws Exception {
    assertThat(explain("url=HTTP%3A%2F%2Fh%3Fb&method=HEAD&field=Accept%3A+a%2Fb&field=X%3A%E9"))
        .startsWith("{\"method\":\"HEAD\",\"url\":\"HTTP://h?b\",\"route\":{\"name\":\"*/\",")
        .contains("\"upstream\":\"site\",\"cached\":true},\"key\":\"http://h/?b\",")
        .contains("\"decision\":\"pass\",\"fwd\":\"uri-miss\",\"because\":[{\"rule\":\"");
  }

  @Test
  void aQueryThatAsksForNothingIsABadRequest() throws Exception {
    Map<String, String> refused =
        Map.ofEntries(
            Map.entry("/v1/explain", "The parameter url is missing."),
            Map.entry("/v1/explain?url=http://h/&method=CONNECT", "method must be a token"),
            Map.entry("/v1/explain?url=http://h/&method=a%20b", "method must be a token"),
            Map.entry("/v1/explain?url=http://h/&method=", "method must be a token"),
            Map.entry("/v1/explain?url=http://h/&field=Accept", "field must be a field line"),
            Map.entry("/v1/explain?url=http://h/&field=A%20B:c", "field must be a field line"),
            Map.entry("/v1/explain?url=http://h/&field=A:b%0D%0AC:d", "field must be a field line"),
            Map.entry("/v1/explain?url=http://h/&field=host:a", "field must not be Host"),
            Map.entry("/v1/explain?url=http://h/&client=localhost", "client must be an IP address"),
            Map.entry("/v1/explain?url=http://h/&client=10.1", "client must be an IP address"),
            Map.entry(
                "/v1/explain?url=http://h/&client=10.0.0.0/8", "client must be an IP address"),
            Map.entry("/v1/explain?url=http://h/&client=", "client must be an IP address"));
    for (Map.Entry<String, String> each : refused.entrySet()) {
      HttpResponse<String> answer = journey.admin(each.getKey());
      assertThat(answer.statusCode()).as(each.getKey()).isEqualTo(400);
      assertThat(answer.body()).contains("\"detail\":\"" + each.getValue());
    }
  }

  private String explain(String query) throws Exception {
    HttpResponse<String> answer = journey.admin("/v1/explain?" + query);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }
}
