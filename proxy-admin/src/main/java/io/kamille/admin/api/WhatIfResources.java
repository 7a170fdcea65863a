package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.cache.index.Forecast;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** {@code /v1/cache/what-if}: what other amounts of memory, and each policy, would hit. */
final class WhatIfResources {

  private static final String PATH = "/v1/cache/what-if";
  private static final int LONGEST_MINUTES = 60;
  private static final String EXPECTED =
      "The content must be an object with minutes, a number from 1 to 60.";

  private WhatIfResources() {}

  static List<Resource> of(ApplianceView appliance) {
    return List.of(new Shown(appliance), new Beginning(appliance), new Ending(appliance));
  }

  /** Times are null and there are no estimates if nobody has asked yet. */
  record Document(
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
          rounded(estimate.objectHitRatio()),
          rounded(estimate.byteHitRatio()),
          rounded(estimate.filled()),
          rounded(estimate.error()));
    }

    private static double rounded(double ratio) {
      return Math.round(ratio * 10_000) / 10_000.0;
    }
  }

  private static Answer present(ApplianceView appliance) {
    Forecast forecast = appliance.forecast();
    return Answer.json(
        forecast == null
            ? new Document(false, null, null, 0, List.of())
            : new Document(
                forecast.isOpen(),
                Instant.ofEpochSecond(forecast.sinceEpochSeconds()).toString(),
                Instant.ofEpochSecond(forecast.untilEpochSeconds()).toString(),
                forecast.sampledShare(),
                forecast.estimates().stream().map(Estimate::of).toList()));
  }

  /** {@code GET}: what was counted so far. */
  private record Shown(ApplianceView appliance) implements Resource {

    @Override
    public Operation operation() {
      return Operation.get(
              PATH, Scope.READ, "What a quarter to four times the memory would hit, by policy.")
          .answers(Document.class);
    }

    @Override
    public Answer answer(AdminRequest request) {
      return present(appliance);
    }
  }

  /** {@code POST}: watches for a while. */
  private record Beginning(ApplianceView appliance) implements Resource {

    @Override
    public Operation operation() {
      return Operation.post(PATH, Scope.OPERATE, "Watches what other memory would hit, anew.")
          .answers(Document.class);
    }

    @Override
    public Answer answer(AdminRequest request) throws InvalidRequest {
      JsonNode document = JsonContent.of(request);
      if (!document.isObject() || !Set.copyOf(document.propertyNames()).equals(Set.of("minutes"))) {
        throw new InvalidRequest(EXPECTED);
      }
      JsonNode minutes = document.get("minutes");
      if (!minutes.isInt() || minutes.intValue() < 1 || minutes.intValue() > LONGEST_MINUTES) {
        throw new InvalidRequest(EXPECTED);
      }
      appliance.watch(Duration.ofMinutes(minutes.intValue()).toSeconds());
      return present(appliance);
    }
  }

  /** {@code DELETE}: watches no longer. */
  private record Ending(ApplianceView appliance) implements Resource {

    @Override
    public Operation operation() {
      return Operation.delete(PATH, Scope.OPERATE, "Watches no longer; what was counted stays.")
          .answers(Document.class);
    }

    @Override
    public Answer answer(AdminRequest request) {
      appliance.watch(0);
      return present(appliance);
    }
  }
}
