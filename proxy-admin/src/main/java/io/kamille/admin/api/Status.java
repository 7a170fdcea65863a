package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.CacheSnapshot;
import io.kamille.admin.view.ListenerSnapshot;
import io.kamille.admin.view.LoopSnapshot;
import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.core.loop.WallClock;
import java.time.Instant;
import java.util.List;

/** {@code GET /v1/status}: the appliance at a glance. */
final class Status implements Resource {

  private final ApplianceView appliance;
  private final WallClock clock;
  private final boolean isConfigurable;

  /**
   * Of this appliance.
   *
   * @param isConfigurable whether {@code /v1/config} is served
   */
  Status(ApplianceView appliance, WallClock clock, boolean isConfigurable) {
    this.appliance = appliance;
    this.clock = clock;
    this.isConfigurable = isConfigurable;
  }

  @Override
  public Operation operation() {
    return Operation.get("/v1/status", Scope.READ, "The appliance at a glance.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) {
    long started = appliance.startedEpochMillis();
    return Answer.json(
        new Document(
            appliance.version(),
            appliance.state(),
            Instant.ofEpochMilli(started).toString(),
            (clock.epochMillis() - started) / 1000,
            appliance.listeners(),
            appliance.loops(),
            Cache.of(appliance.cache()),
            appliance.upstreams(),
            isConfigurable));
  }

  private record Document(
      String version,
      ApplianceView.State state,
      String started,
      long uptimeSeconds,
      List<ListenerSnapshot> listeners,
      List<LoopSnapshot> loops,
      Cache cache,
      List<UpstreamSnapshot> upstreams,
      boolean configurable) {}

  private record Cache(
      long capacityBytes, long usedBytes, long objects, long hits, long misses, double hitRatio) {

    static Cache of(CacheSnapshot cache) {
      return new Cache(
          cache.capacityBytes(),
          cache.usedBytes(),
          cache.objects(),
          cache.hits(),
          cache.misses(),
          cache.hitRatio());
    }
  }
}
