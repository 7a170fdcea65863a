package io.kamille.admin.api;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.kamille.admin.auth.Scope;
import io.kamille.cache.CacheOperations;
import io.kamille.cache.StoredObject;
import io.kamille.cache.index.Forecast;
import io.kamille.cache.index.PolicySnapshot;
import io.kamille.cache.tiers.MemorySnapshot;
import io.kamille.cache.tiers.peak.PeakChoice;
import io.kamille.cache.tiers.peak.PeakSnapshot;
import io.kamille.cache.tiers.peak.PeakWatch;
import io.kamille.core.http.StatusCode;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the cache stores, where, and what it would hit with other memory. */
public record CacheResources(CacheOperations cache) {

  private static final System.Logger LOG = System.getLogger("kamille.admin");
  private static final String TIERS = "/v1/cache/tiers";
  private static final String WHAT_IF = "/v1/cache/what-if";
  private static final String EXPECTED_PEAK =
      "The content must be an object with peak, which is auto, off or forced.";
  private static final String EXPECTED_MINUTES =
      "The content must be an object with minutes, a number from 1 to 60.";
  private static final int LONGEST_MINUTES = 60;
  private static final double NANOS_PER_MILLI = 1e6;

  /** All of them. */
  public List<Operation> operations() {
    return List.of(
        Operation.get("/v1/cache/objects", Scope.READ, "All variants that are stored for a URL.")
            .must("url", "The URL.")
            .answers(StoredObjects.class)
            .by((_, query) -> objects(query.url())),
        Operation.get(
                TIERS,
                Scope.READ,
                "Memory by its use, the eviction policies, and whether requests use the disk.")
            .answers(Tiers.class)
            .by(this::tiers),
        Operation.put(TIERS, Scope.OPERATE, "Sets peak mode on the running process.")
            .answers(Tiers.class)
            .by((request, _) -> choosePeak(Json.content(request, Choice.class, EXPECTED_PEAK))),
        Operation.get(
                WHAT_IF,
                Scope.READ,
                "What a quarter to four times the memory would hit, by policy.")
            .answers(WhatIf.class)
            .by(this::whatIf),
        Operation.post(WHAT_IF, Scope.OPERATE, "Watches what other memory would hit, anew.")
            .answers(WhatIf.class)
            .by((request, _) -> watch(Json.content(request, Watch.class, EXPECTED_MINUTES))),
        Operation.delete(WHAT_IF, Scope.OPERATE, "Watches no longer; what was counted stays.")
            .answers(WhatIf.class)
            .by(
                () -> {
                  cache.index().judge().watch(0);
                  return whatIf();
                }));
  }

  private static double hundredths(double value) {
    return Math.round(value * 100) / 100.0;
  }

  // Objects

  private Answer objects(String url) {
    return Answer.json(new StoredObjects(url, cache.objects(url).orElse(List.of())));
  }

  private record StoredObjects(String url, List<StoredObject> objects) {}

  // Tiers

  private Answer tiers() {
    return tiers(
        cache.memory(),
        cache.keys(),
        cache.index().evictions(),
        cache.index().judge().snapshot(),
        cache.peak().map(PeakWatch::snapshot).orElse(null));
  }

  static Answer tiers(
      MemorySnapshot memory,
      long keys,
      long evictions,
      PolicySnapshot policy,
      @Nullable PeakSnapshot peak) {
    return Answer.json(
        new Tiers(
            new Memory(memory, memory.usedBytes(), keys, evictions, Policy.of(policy)),
            Peak.of(peak)));
  }

  private record Choice(String peak) {}

  private Answer choosePeak(Choice choice) throws InvalidRequest {
    String peak = choice.peak;
    for (PeakChoice each : PeakChoice.values()) {
      if (each.token().equals(peak)) {
        PeakWatch watch = cache.peak().orElse(null);
        if (watch == null) {
          return Answer.problem(StatusCode.CONFLICT, "There is no disk behind memory.");
        }
        LOG.log(Level.INFO, "peak mode is set to {0} through the API", peak);
        watch.choose(each);
        return tiers();
      }
    }
    throw new InvalidRequest(EXPECTED_PEAK);
  }

  private record Tiers(Memory memory, @Nullable Peak peak) {}

  private record Memory(
      @JsonUnwrapped MemorySnapshot memory,
      long usedBytes,
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
      List<PolicySnapshot.Estimate> estimates) {

    static Policy of(PolicySnapshot policy) {
      return new Policy(
          policy.choice().token(),
          policy.policy().token(),
          Instant.ofEpochSecond(policy.sinceEpochSeconds()).toString(),
          policy.reason(),
          policy.switches(),
          policy.sampledShare(),
          policy.sampledRequests(),
          policy.estimates());
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

  // What if

  private record Watch(int minutes) {}

  private Answer watch(Watch asked) throws InvalidRequest {
    int minutes = Json.number(asked.minutes, 0, LONGEST_MINUTES, EXPECTED_MINUTES);
    cache.index().judge().watch(Duration.ofMinutes(minutes).toSeconds());
    return whatIf();
  }

  private Answer whatIf() {
    return whatIf(cache.index().judge().forecast());
  }

  static Answer whatIf(@Nullable Forecast forecast) {
    return Answer.json(
        forecast == null
            ? new WhatIf(false, null, null, 0, List.of())
            : new WhatIf(
                forecast.isOpen(),
                Instant.ofEpochSecond(forecast.sinceEpochSeconds()).toString(),
                Instant.ofEpochSecond(forecast.untilEpochSeconds()).toString(),
                forecast.sampledShare(),
                forecast.estimates()));
  }

  /** Times are null and there are no estimates if nobody has asked yet. */
  private record WhatIf(
      boolean open,
      @Nullable String since,
      @Nullable String until,
      double sampledShare,
      List<Forecast.Estimate> estimates) {}
}
