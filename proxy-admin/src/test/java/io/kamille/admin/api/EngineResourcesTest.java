package io.kamille.admin.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.core.loop.LoopTurns;
import io.kamille.core.loop.PaceJudgement;
import io.kamille.core.loop.PaceReason;
import io.kamille.core.loop.PaceSettings;
import io.kamille.core.metric.Histogram;
import io.kamille.core.metric.MetricDescriptor;
import io.kamille.core.metric.MetricRegistry;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class EngineResourcesTest {

  private static final MetricDescriptor TURNS =
      MetricDescriptor.histogram("kamille_loop_turn_seconds", "Turns.");

  @Test
  void loopsTellHowTheyTurnAndWhy() {
    Histogram turns = new MetricRegistry().histogram(TURNS);
    turns.record(1_000);
    turns.record(5_000);
    LoopTurns loop =
        new LoopTurns(
            "kamille-loop-1",
            250_000,
            PaceReason.SAVES,
            400,
            1_200,
            2_000,
            3,
            0.25,
            new PaceJudgement(true, 250_000, 0.15, 0.04, 150_000, System.nanoTime()),
            300,
            75_000_000,
            0,
            0,
            0,
            0,
            1,
            turns.snapshot());
    Answer answer = EngineResources.loops(PaceSettings.ADAPTIVE, List.of(loop), List.of(0.25));
    String json = new String(answer.content(), StandardCharsets.UTF_8);
    assertThat(json.replaceAll("ageSeconds\":\\d+", "ageSeconds\":0").strip())
        .isEqualTo(
            "{\"pacing\":\"adaptive\",\"spin\":\"off\",\"loops\":[{\"name\":\"kamille-loop-1\",\"intervalMicros\":250.0,\"reason\":\"saves\",\"pollsPerSecond\":2000.0,\"eventsPerPoll\":3.0,\"utilisation\":0.25,\"judgement\":{\"allowsPauses\":true,\"intervalMicros\":250.0,\"saving\":0.15,\"uncertainty\":0.04,\"waitMicros\":150.0,\"ageSeconds\":0},\"polls\":400,\"events\":1200,\"pauses\":300,\"pauseSeconds\":0.075,\"spinBudgetMicros\":0.0,\"spins\":0,\"paidSpins\":0,\"spinSeconds\":0.0,\"stalls\":1,\"shedShare\":0.25,\"turns\":{\"count\":2,\"seconds\":6.0E-6,\"p50Micros\":1.024,\"p99Micros\":5.12,\"buckets\":[{\"upToMicros\":1.024,\"count\":1},{\"upToMicros\":5.12,\"count\":1}]}}]}");
  }
}
