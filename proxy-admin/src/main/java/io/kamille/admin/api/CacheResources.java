package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.TiersSnapshot;
import io.kamille.cache.StoredObject;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakSnapshot;
import io.kamille.core.http.StatusCode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** What the cache stores, where, and what it would hit with other memory. */
final class CacheResources {

  private static final String TIERS = "/v1/cache/tiers";
  private static final String WHAT_IF = "/v1/cache/what-if";
  private static final String EXPECTED_PEAK =
      "The content must be an object with peak, which is auto, off or forced.";
  private static final String EXPECTED_MINUTES =
      "The content must be an object with minutes, a number from 1 to 60.";
  private static final int LONGEST_MINUTES = 60;
  private static final double NANOS_PER_MILLI = 1e6;

  private final ApplianceView appliance;

  private CacheResources(ApplianceView appliance) {
    this.appliance = appliance;
  }

  static List<Operation> of(ApplianceView appliance) {
    CacheResources all = new CacheResources(appliance);
    return List.of(
        Operation.get("/v1/cache/objects", Scope.READ, "All variants that are stored for a URL.")
            .must("url", "The URL.")
            .answers(StoredObjects.class)
            .by((_, query) -> all.objects(query.url())),
        Operation.get(
                TIERS,
                Scope.READ,
                "Memory by its use, the eviction policies, and whether requests use the disk.")
            .answers(Tiers.class)
            .by(all::tiers),
        Operation.put(TIERS, Scope.OPERATE, "Sets peak mode on the running process.")
            .answers(Tiers.class)
            .by((request, _) -> all.choosePeak(Json.content(request))),
        Operation.get(
                WHAT_IF,
                Scope.READ,
                "What a quarter to four times the memory would hit, by policy.")
            .answers(WhatIf.class)
            .by(all::whatIf),
        Operation.post(WHAT_IF, Scope.OPERATE, "Watches what other memory would hit, anew.")
            .answers(WhatIf.class)
            .by((request, _) -> all.watch(Json.content(request))),
        Operation.delete(WHAT_IF, Scope.OPERATE, "Watches no longer; what was counted stays.")
            .answers(WhatIf.class)
            .by(
                () -> {
                  appliance.watch(0);
                  return all.whatIf();
                }));
  }

  private static double ratio(double value) {
    return Math.round(value * 10_000) / 10_000.0;
  }

  private static double hundredths(double value) {
    return Math.round(value * 100) / 100.0;
  }

  // Objects

  private Answer objects(String url) {
    return Answer.json(
        new StoredObjects(url, appliance.objects(url).stream().map(Stored::of).toList()));
  }

  private record StoredObjects(String url, List<Stored> objects) {}

  private record Stored(
      int status,
      String state,
      String decision,
      int ageSeconds,
      int ttlSeconds,
      Lifetime freshness,
      boolean noCache,
      boolean mustRevalidate,
      int staleWhileRevalidateSeconds,
      int staleIfErrorSeconds,
      String tier,
      int hits,
      StoredObject.Size bytes,
      List<StoredObject.SelectedBy> selectedBy,
      @Nullable String etag,
      @Nullable String lastModified,
      @Nullable String contentType,
      @Nullable String coding,
      List<StoredObject.Form> forms) {

    static Stored of(StoredObject object) {
      return new Stored(
          object.status(),
          object.isFresh() ? "fresh" : "stale",
          object.decision(),
          object.ageSeconds(),
          object.ttlSeconds(),
          new Lifetime(object.freshness().lifetimeSeconds(), object.freshness().source().token()),
          object.isValidatedAlways(),
          object.isValidatedOnceStale(),
          object.staleWhileRevalidateSeconds(),
          object.staleIfErrorSeconds(),
          object.tier(),
          object.hits(),
          object.size(),
          object.selectedBy(),
          object.entityTag(),
          object.lastModified(),
          object.contentType(),
          object.coding(),
          object.forms());
    }
  }

  private record Lifetime(int lifetimeSeconds, String source) {}

  // Tiers

  private Answer tiers() {
    TiersSnapshot tiers = appliance.tiers();
    MemorySnapshot memory = tiers.memory();
    return Answer.json(
        new Tiers(
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

  private Answer choosePeak(JsonNode document) throws InvalidRequest {
    String peak = document.size() == 1 ? document.path("peak").stringValue("") : "";
    for (PeakChoice each : PeakChoice.values()) {
      if (each.token().equals(peak)) {
        return appliance.choosePeak(each)
            ? tiers()
            : Answer.problem(StatusCode.CONFLICT, "There is no disk behind memory.");
      }
    }
    throw new InvalidRequest(EXPECTED_PEAK);
  }

  private record Tiers(Memory memory, @Nullable Peak peak) {}

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
      List<PolicyEstimate> estimates) {

    static Policy of(PolicySnapshot policy) {
      return new Policy(
          policy.choice().token(),
          policy.policy().token(),
          Instant.ofEpochSecond(policy.sinceEpochSeconds()).toString(),
          policy.reason(),
          policy.switches(),
          policy.sampledShare(),
          policy.sampledRequests(),
          policy.estimates().stream().map(PolicyEstimate::of).toList());
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

    static @Nullable Peak of(@Nullable PeakSnapshot peak) {
      return peak == null
          ? null
          : new Peak(
              peak.choice().token(),
              peak.mode().token(),
              Instant.ofEpochSecond(peak.sinceEpochSeconds()).toString(),
              peak.reason(),
              peak.trialReads(),
              hundredths(peak.readNanos() / NANOS_PER_MILLI),
              hundredths(peak.queue()),
              hundredths(peak.quietReadNanos() / NANOS_PER_MILLI),
              hundredths(peak.originNanos() / NANOS_PER_MILLI),
              hundredths(peak.requestsPerSecond()),
              hundredths(peak.meanRequestsPerSecond()),
              peak.skippedReads(),
              peak.skippedWrites());
    }
  }

  private record PolicyEstimate(String policy, double objectHitRatio, double byteHitRatio) {

    static PolicyEstimate of(PolicySnapshot.Estimate estimate) {
      return new PolicyEstimate(
          estimate.policy().token(),
          ratio(estimate.objectHitRatio()),
          ratio(estimate.byteHitRatio()));
    }
  }

  // What if

  private Answer watch(JsonNode document) throws InvalidRequest {
    if (!document.isObject() || !Set.copyOf(document.propertyNames()).equals(Set.of("minutes"))) {
      throw new InvalidRequest(EXPECTED_MINUTES);
    }
    int minutes = Json.number(document, "minutes", 0, LONGEST_MINUTES, EXPECTED_MINUTES);
    appliance.watch(Duration.ofMinutes(minutes).toSeconds());
    return whatIf();
  }

  private Answer whatIf() {
    Forecast forecast = appliance.forecast();
    return Answer.json(
        forecast == null
            ? new WhatIf(false, null, null, 0, List.of())
            : new WhatIf(
                forecast.isOpen(),
                Instant.ofEpochSecond(forecast.sinceEpochSeconds()).toString(),
                Instant.ofEpochSecond(forecast.untilEpochSeconds()).toString(),
                forecast.sampledShare(),
                forecast.estimates().stream().map(Estimate::of).toList()));
  }

  /** Times are null and there are no estimates if nobody has asked yet. */
  private record WhatIf(
      boolean open,
      @Nullable String since,
      @Nullable String until,
      double sampledShare,
      List<Estimate> estimates) {}

  private record Estimate(
      String policy,
      double factor,
      long capacityBytes,
      long requests,
      double objectHitRatio,
      double byteHitRatio,
      double filled,
      double error) {

    static Estimate of(Forecast.Estimate estimate) {
      return new Estimate(
          estimate.policy().token(),
          estimate.factor(),
          estimate.capacityBytes(),
          estimate.requests(),
          ratio(estimate.objectHitRatio()),
          ratio(estimate.byteHitRatio()),
          ratio(estimate.filled()),
          ratio(estimate.error()));
    }
  }
}
