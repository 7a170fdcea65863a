package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.TiersSnapshot;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.peak.PeakSnapshot;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /v1/cache/tiers}: what takes memory, what is forgotten when it is short, and whether
 * requests use the disk.
 */
final class CacheTiers implements Resource {

  static final String PATH = "/v1/cache/tiers";

  private final ApplianceView appliance;

  CacheTiers(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.get(
            PATH,
            Scope.READ,
            "Memory by its use, the eviction policies, and whether requests use the disk.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) {
    return present(appliance);
  }

  /** How it is at this moment. */
  static Answer present(ApplianceView appliance) {
    TiersSnapshot tiers = appliance.tiers();
    MemorySnapshot memory = tiers.memory();
    return Answer.json(
        new Document(
            new Memory(
                memory.capacityBytes(),
                memory.usedBytes(),
                memory.storedBytes(),
                memory.indexBytes(),
                memory.fillingBytes(),
                memory.leasedBytes(),
                memory.renewingBytes(),
                memory.retiredBytes(),
                tiers.keys(),
                tiers.evictions(),
                Policy.of(tiers.policy())),
            Peak.of(tiers.peak())));
  }

  record Document(Memory memory, @Nullable Peak peak) {}

  private record Memory(
      long capacityBytes,
      long usedBytes,
      long storedBytes,
      long indexBytes,
      long fillingBytes,
      long leasedBytes,
      long renewingBytes,
      long retiredBytes,
      long keys,
      long evictions,
      Policy policy) {}

  private record Policy(
      String setting,
      String policy,
      String since,
      String reason,
      long switches,
      double sampledShare,
      long sampledRequests,
      List<Estimate> estimates) {

    static Policy of(PolicySnapshot policy) {
      return new Policy(
          policy.choice().token(),
          policy.policy().token(),
          Instant.ofEpochSecond(policy.sinceEpochSeconds()).toString(),
          policy.reason(),
          policy.switches(),
          policy.sampledShare(),
          policy.sampledRequests(),
          policy.estimates().stream().map(Estimate::of).toList());
    }
  }

  private record Peak(
      String setting,
      String mode,
      String since,
      String reason,
      int trialReads,
      double readMillis,
      double queue,
      double quietReadMillis,
      double originMillis,
      double requestsPerSecond,
      double meanRequestsPerSecond,
      long skippedReads,
      long skippedWrites) {

    private static final double NANOS_PER_MILLI = 1e6;

    static @Nullable Peak of(@Nullable PeakSnapshot peak) {
      return peak == null
          ? null
          : new Peak(
              peak.choice().token(),
              peak.mode().token(),
              Instant.ofEpochSecond(peak.sinceEpochSeconds()).toString(),
              peak.reason(),
              peak.trialReads(),
              rounded(peak.readNanos() / NANOS_PER_MILLI),
              rounded(peak.queue()),
              rounded(peak.quietReadNanos() / NANOS_PER_MILLI),
              rounded(peak.originNanos() / NANOS_PER_MILLI),
              rounded(peak.requestsPerSecond()),
              rounded(peak.meanRequestsPerSecond()),
              peak.skippedReads(),
              peak.skippedWrites());
    }

    private static double rounded(double value) {
      return Math.round(value * 100) / 100.0;
    }
  }

  private record Estimate(String policy, double objectHitRatio, double byteHitRatio) {

    static Estimate of(PolicySnapshot.Estimate estimate) {
      return new Estimate(
          estimate.policy().token(),
          rounded(estimate.objectHitRatio()),
          rounded(estimate.byteHitRatio()));
    }

    private static double rounded(double ratio) {
      return Math.round(ratio * 10_000) / 10_000.0;
    }
  }
}
