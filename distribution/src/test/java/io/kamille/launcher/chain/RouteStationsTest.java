package io.kamille.launcher.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.launcher.configuration.Configuration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RouteStationsTest {

  private static final String EVERYTHING =
      """
      request-id: on, error-pages: {5xx: {body: Sorry.}}, security-headers: on,
      access: {deny: [192.0.2.1]}, rate-limit: {rate: 1/s},
      request-content: 1MiB, auth: {forward: {upstream: other}}, redirects-file: "%m",
      split: {upstream: other, share: 0.1}, response-headers: {set: {A: b}},
      mirror: {upstream: other}\
      """;

  @Test
  void aPlainRouteIsTheCacheAndItsUpstream() {
    assertThat(chain("")).isEqualTo("cache → overload → upstream web");
  }

  @Test
  void allStationsStandInOneOrder() {
    assertThat(
            chain(
                """
                request-id: on, error-pages: {5xx: {body: Sorry.}}, access: {deny: [192.0.2.1]},
                rate-limit: {rate: 1/s}, auth: {forward: {upstream: other}},
                split: {upstream: other, share: 0.1},
                response-headers: {set: {A: b}}, mirror: {upstream: other}\
                """))
        .isEqualTo(
            "request-id → error-pages → access → rate-limit → auth by upstream other → split (some"
                + " to other, past the cache) → cache → overload → headers and path → mirror"
                + " (copies to other) → upstream web");
  }

  /** A station that comes, goes or moves shows in the page that new readers begin with. */
  @Test
  void theJourneyTellsOfEachStationInOrder(@TempDir Path directory) throws IOException {
    String everything =
        EVERYTHING.replace("%m", Files.createFile(directory.resolve("moved.csv")).toString());
    String page = Files.readString(Path.of("../docs/journey.md"));
    List<String> told = new ArrayList<>();
    Matcher rows =
        Pattern.compile("^\\|.*\\| `(\\w+Station)` \\|$", Pattern.MULTILINE).matcher(page);
    while (rows.find()) {
      told.add(rows.group(1));
    }
    assertThat(new HashSet<>(told)).isEqualTo(new HashSet<>(StationNames.all()));
    List<String> cached = new ArrayList<>(told);
    cached.remove("OverloadStation");
    assertThat(names(everything)).isEqualTo(cached);
    List<String> uncached = new ArrayList<>(told);
    uncached.subList(uncached.indexOf("CacheStation"), uncached.indexOf("RuleStation")).clear();
    assertThat(names(everything + ", cache: {enabled: off}")).isEqualTo(uncached);
  }

  private static List<String> names(String settings) {
    Configuration configuration = configuration(settings);
    return StationNames.of(configuration.routes().getFirst(), configuration);
  }

  private static String chain(String settings) {
    Configuration configuration = configuration(settings);
    return RouteStations.describe(configuration.routes().getFirst(), configuration);
  }

  private static Configuration configuration(String settings) {
    return RequestTestsTest.configuration(
        """
        listeners: [{address: '127.0.0.1:0'}]
        upstreams: {web: {origins: ['http://a.test']}, other: {origins: ['http://b.test']}}
        routes: [{upstream: web%s}]
        """
            .replace("%s", (settings.isEmpty() ? "" : ", ") + settings.replace("\n", " ")));
  }
}
