package io.kamille.admin.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.Policy;
import io.kamille.cache.index.PolicyChoice;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.index.PolicySnapshot.Estimate;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakSnapshot;
import io.kamille.cache.tiers.peak.TierMode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class CacheResourcesTest {

  private static String json(Answer answer) {
    return new String(answer.content(), StandardCharsets.UTF_8).strip();
  }

  @Test
  void tiersTellWhatTakesMemoryAndWhatIsForgotten() {
    PolicySnapshot policy =
        new PolicySnapshot(
            PolicyChoice.AUTO,
            Policy.LRU,
            1_795_251_600,
            "lru hits more",
            3,
            List.of(
                new Estimate(Policy.TINYLFU, 0.25, 0.123456), new Estimate(Policy.LRU, 0.5, 0.75)),
            4096,
            0.25);
    PeakSnapshot peak =
        new PeakSnapshot(
            PeakChoice.AUTO,
            TierMode.PEAK,
            1_795_251_600,
            "slow",
            4,
            64e6,
            6.4,
            4e6,
            50e6,
            100,
            80,
            7,
            5);
    MemorySnapshot memory = new MemorySnapshot(1 << 20, 1000, 500, 300, 20, 7, 0, 4096);
    assertThat(json(CacheResources.tiers(memory, 2, 9, policy, peak)))
        .isEqualTo(
            "{\"memory\":{\"capacityBytes\":1048576,\"storedBytes\":1000,"
                + "\"indexBytes\":500,\"fillingBytes\":300,\"leasedBytes\":20,\"renewingBytes\":7,"
                + "\"retiredBytes\":0,\"pageBytes\":4096,\"usedBytes\":1827,\"keys\":2,\"evictions\":9,\"policy\":{"
                + "\"setting\":\"auto\",\"policy\":\"lru\",\"since\":\"2026-11-21T09:00:00Z\",\"reason\":\"lru"
                + " hits"
                + " more\",\"switches\":3,\"sampledShare\":0.25,\"sampledRequests\":4096,\"estimates\":[{\"policy\":\"tinylfu\",\"objectHitRatio\":0.25,\"byteHitRatio\":0.123456},{\"policy\":\"lru\",\"objectHitRatio\":0.5,\"byteHitRatio\":0.75}]}},\"peak\":{\"setting\":\"auto\",\"mode\":\"peak\",\"since\":\"2026-11-21T09:00:00Z\",\"reason\":\"slow\",\"trialReads\":4,\"readMillis\":64.0,\"queue\":6.4,\"quietReadMillis\":4.0,\"originMillis\":50.0,\"requestsPerSecond\":100.0,\"meanRequestsPerSecond\":80.0,\"skippedReads\":7,\"skippedWrites\":5}}");
  }

  @Test
  void anEstimateTellsWhatSoMuchMemoryWouldHit() {
    Forecast forecast =
        new Forecast(
            1_795_251_600,
            1_795_252_200,
            true,
            0.25,
            List.of(new Forecast.Estimate(Policy.LRU, 2, 2 << 20, 400, 0.5, 0.25, 0.75, 0.025)));
    assertThat(json(CacheResources.whatIf(forecast)))
        .contains("\"until\":\"2026-11-21T09:10:00Z\",\"sampledShare\":0.25")
        .contains("{\"policy\":\"lru\",\"factor\":2.0,\"capacityBytes\":2097152,\"requests\":400");
  }
}
