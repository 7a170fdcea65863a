package io.kamille.admin.api;

import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.TiersSnapshot;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.tier.MemorySnapshot;
import java.time.Instant;
import java.util.List;

/** {@code GET /v1/cache/tiers}: what takes memory, and what is forgotten when it is short. */
final class CacheTiers implements Resource {

  private final ApplianceView appliance;

  CacheTiers(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public String path() {
    return "/v1/cache/tiers";
  }

  @Override
  public String method() {
    return "GET";
  }

  @Override
  public Answer answer(AdminRequest request) {
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
                Policy.of(tiers.policy()))));
  }

  private record Document(Memory memory) {}

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
      double sampledShare,
      long sampledRequests,
      List<Estimate> estimates) {

    static Policy of(PolicySnapshot policy) {
      return new Policy(
          policy.choice().token(),
          policy.policy().token(),
          Instant.ofEpochSecond(policy.sinceEpochSeconds()).toString(),
          policy.reason(),
          policy.sampledShare(),
          policy.sampledRequests(),
          policy.estimates().stream().map(Estimate::of).toList());
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
