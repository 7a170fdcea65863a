package io.kamille.launcher.appliance;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.admin.tuning.TuningPolicy;
import io.kamille.admin.tuning.TuningSettings;
import io.kamille.cache.key.CacheKey;
import io.kamille.cache.key.HashSecret;
import io.kamille.cache.purge.PurgeNotes;
import io.kamille.cache.purge.RemovalListener;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.Standing.Phase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an appliance knows, another one knows that takes its place. */
class HandoverValuesTest {

  @RegisterExtension private final Journey journey = new Journey();

  private final List<String> heard = new ArrayList<>();

  private Map<String, String> state() {
    return HandoverValues.of(journey.appliance());
  }

  private List<Origin> origins() {
    return Objects.requireNonNull(journey.appliance().routes().origins().get("site"));
  }

  private void take(Map<String, String> values) {
    new HandoverValues(values).takeOver(journey.appliance());
  }

  @Test
  void whatWasSetThroughTheApiGoesOn() {
    Appliance appliance = journey.appliance();
    PaceSettings pace = appliance.loops().pace();
    TuningSettings tuning = appliance.tuner().settings();
    PaceSettings fixed = PaceSettings.fixed(300_000).withSpin(Duration.ofNanos(1_000));
    appliance.loops().pace(fixed);
    appliance.tuner().settings(tuning.with(TuningPolicy.EQUATION).withBudget(1 << 20));
    Map<String, String> values = state();
    appliance.loops().pace(pace);
    appliance.tuner().settings(tuning);
    take(values);
    assertThat(appliance.loops().pace()).isEqualTo(fixed);
    assertThat(appliance.tuner().settings().policy()).isEqualTo(TuningPolicy.EQUATION);
    assertThat(appliance.tuner().settings().budgetBytes()).isEqualTo(1 << 20);
  }

  @Test
  void aFileThatSaysSomethingElseNowWins() {
    Appliance appliance = journey.appliance();
    PaceSettings pace = appliance.loops().pace();
    take(Map.of("pace", "FIXED 300000 0; FIXED 1 0"));
    assertThat(appliance.loops().pace()).isEqualTo(pace);
  }

  @Test
  void anOriginThatIsOutStaysOut() {
    journey.with("upstreams: {site: {origins: ['http://127.0.0.1:1', 'http://127.0.0.1:2']}}");
    List<Origin> origins = origins();
    String name = "origin site 1 " + origins.get(1).url();
    take(Map.of(name, "OUT 3 1 60000000000 true FAILURES 0 why"));
    assertThat(origins.get(0).health().standing().phase()).isEqualTo(Phase.IN);
    assertThat(origins.get(1).health().standing().phase()).isEqualTo(Phase.OUT);
    assertThat(state()).containsKey(name);
  }

  @Test
  void whatIsNotUnderstoodIsLeftOut() {
    Map<String, String> before = state();
    Map<String, String> values = new HashMap<>();
    String origin = "origin site 0 " + origins().get(0).url();
    for (String name : List.of("secret", "pace", "tuning", "peak", "tickets x", "y", origin)) {
      values.put(name, "nonsense");
    }
    new HandoverValues(values).takeSecret();
    take(values);
    assertThat(state()).isEqualTo(before);
  }

  @Test
  void underTheSameSecretARemovalIsOne() {
    follower(Map.of("secret", HashSecret.words())).removed(CacheKey.of(1, 2));
    assertThat(heard).containsExactly("removed");
  }

  @Test
  void underAnotherSecretARemovalClears() {
    follower(Map.of()).removed(CacheKey.of(1, 2));
    follower(Map.of("secret", "0".repeat(32))).removed(CacheKey.of(1, 2));
    assertThat(heard).containsExactly("all", "all");
  }

  private RemovalListener follower(Map<String, String> values) {
    return new HandoverValues(values)
        .follower(
            new RemovalListener() {
              @Override
              public void removed(CacheKey key) {
                heard.add("removed");
              }

              @Override
              public void purged(PurgeNotes.Note note) {
                heard.add("purged");
              }

              @Override
              public void cleared() {
                heard.add("all");
              }
            });
  }
}
