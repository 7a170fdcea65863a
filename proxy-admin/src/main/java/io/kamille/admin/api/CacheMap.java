package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.cache.memory.ArenaMap;
import java.util.List;

/** {@code GET /v1/cache/map}: where in the cache's memory something lies. */
final class CacheMap implements Resource {

  private static final int MOST_CELLS = 256;

  private final ApplianceView appliance;

  CacheMap(ApplianceView appliance) {
    this.appliance = appliance;
  }

  @Override
  public Operation operation() {
    return Operation.get("/v1/cache/map", Scope.READ, "Where in the memory something lies.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) {
    ArenaMap map = appliance.map(MOST_CELLS);
    return Answer.json(
        new Document(
            appliance.cache().capacityBytes(),
            map.cellBytes(),
            map.longestFreeBytes(),
            map.used().stream().map(CacheMap::rounded).toList()));
  }

  private static double rounded(double part) {
    return Math.round(part * 1000) / 1000.0;
  }

  record Document(long capacityBytes, long cellBytes, long longestFreeBytes, List<Double> cells) {}
}
