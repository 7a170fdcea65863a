package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RoutesByHostTest {

  private static final String LEAST =
      """
      listeners: [{address: ':0'}]
      upstreams: {app: {origins: [{url: 'http://127.0.0.1:1'}]}}
      routes:
      """;

  /** The longest path that is the one that is looked for, or a directory above it. */
  @Test
  void theMostSpecificPathIsFound() {
    var random = new SplittableRandom(20_261_129);
    for (int round = 0; round < 20; round++) {
      List<String> paths =
          Stream.generate(() -> path(random)).limit(1 + random.nextInt(40)).distinct().toList();
      RoutesByHost routes = new RoutesByHost(accepted(paths));
      for (int i = 0; i < 50; i++) {
        String sought = path(random);
        String longest =
            paths.stream()
                .filter(path -> sought.equals(path) || sought.startsWith(directory(path)))
                .max(Comparator.comparingInt(String::length))
                .orElse(null);
        RouteSettings found = routes.find("a.test", sought);
        assertThat(found == null ? null : found.path())
            .as(sought + " in " + paths)
            .isEqualTo(longest);
        assertThat(routes.find("b.test", sought)).isNull();
      }
    }
  }

  private static String directory(String path) {
    return path.endsWith("/") ? path : path + "/";
  }

  private static String path(SplittableRandom random) {
    StringBuilder path = new StringBuilder("/");
    for (int segments = random.nextInt(4); segments > 0; segments--) {
      path.append("ab".charAt(random.nextInt(2))).append(random.nextInt(3) == 0 ? "" : "/");
    }
    return path.toString();
  }

  private static List<RouteSettings> accepted(List<String> paths) {
    String text =
        paths.stream()
            .map(path -> "- {host: a.test, path: " + path + ", upstream: app}\n")
            .collect(Collectors.joining("", LEAST, ""));
    var reading = ConfigurationFile.parse("kamille.yaml", text.getBytes(UTF_8));
    assertThat(reading).isInstanceOf(ConfigurationReading.Accepted.class);
    return ((ConfigurationReading.Accepted) reading).configuration().routes();
  }
}
