package io.kamille.launcher.configuration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.setting.ConfigNode;
import io.kamille.core.setting.ConfigTree;
import io.kamille.core.setting.Member;
import io.kamille.core.setting.Problems;
import io.kamille.core.setting.Section;
import io.kamille.core.setting.Subsection;
import io.kamille.launcher.configuration.RemovedSettings.Removed;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RemovedSettingsTest {

  private static final String LEAST =
      """
      listeners: ["127.0.0.1:8080"]
      upstreams: {web: {origins: ["http://127.0.0.1:9000"]}}
      """;

  private static final List<Removed> ROWS =
      List.of(
          new Removed("engine.least", List.of(), "10 % is built in"),
          new Removed("upstreams.*.lane", List.of(), "lanes share one size"),
          new Removed("routes[].old", List.of(), "nothing takes its place"),
          new Removed("tuning.policy", List.of("equal", "window"), "the default holds"));

  @Test
  void aFileWithASettingThatIsGoneIsReadWithAWarning() {
    var reading =
        ConfigurationFile.parse(
            "k.yaml",
            (LEAST + "routes: [{upstream: web, cache: {query: {no-vary-search: on}}}]\n")
                .getBytes(UTF_8));
    assertThat(((ConfigurationReading.Accepted) reading).configuration().warnings())
        .containsExactly(
            "k.yaml:3:42: warning: routes[0].cache.query.no-vary-search is gone and has no effect;"
                + " name the parameters in query.ignore or query.keep");
  }

  @Test
  void whatIsGoneIsTakenOutWhereverItStands() {
    assertThat(
            clean(
                """
                engine: {least: 0.1, pacing: off}
                upstreams:
                  a: {lane: 1}
                  b: {lane: [2], retries: 0}
                routes:
                - upstream: a
                - {upstream: b, old: {x: 1}}
                tuning: {policy: window}
                """))
        .containsExactly(
            "k.yaml:1:10: warning: engine.least is gone and has no effect; 10 % is built in",
            "k.yaml:3:7: warning: upstreams.a.lane is gone and has no effect; lanes share one size",
            "k.yaml:4:7: warning: upstreams.b.lane is gone and has no effect; lanes share one size",
            "k.yaml:7:17: warning: routes[1].old is gone and has no effect; nothing takes its place",
            "k.yaml:8:18: warning: tuning.policy: window is gone and has no effect; the default"
                + " holds");
  }

  @Test
  void whatLooksAlikeStays() {
    assertThat(
            clean(
                """
                engine: off
                upstreams: {a: {hedge: {lane: 1}}}
                routes: {old: 1}
                least: 1
                tuning: {policy: proportional}
                """))
        .isEmpty();
  }

  @Test
  void nothingIsBothGoneAndThere() {
    Set<String> there = new HashSet<>();
    collect("", Configuration.file(), there);
    assertThat(RemovedSettings.all())
        .allSatisfy(
            row -> assertThat(there.contains(row.path())).isEqualTo(!row.values().isEmpty()));
  }

  private static void collect(String prefix, Section<?> section, Set<String> paths) {
    for (Member member : section.members()) {
      String path = prefix + member.key();
      paths.add(path);
      if (member instanceof Subsection<?> child) {
        String inside =
            switch (child.shape()) {
              case ONE -> ".";
              case LIST, SOME -> "[].";
              case NAMED -> ".*.";
            };
        collect(path + inside, child.section(), paths);
      }
    }
  }

  private static List<String> clean(String text) {
    ConfigNode root = ConfigTree.parse(text.getBytes(UTF_8), new Problems("k.yaml"));
    return RemovedSettings.clean("k.yaml", Objects.requireNonNull(root), ROWS).warnings();
  }
}
