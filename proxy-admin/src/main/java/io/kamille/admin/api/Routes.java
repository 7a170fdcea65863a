package io.kamille.admin.api;

import io.kamille.admin.auth.Scope;
import io.kamille.admin.view.ApplianceView;
import io.kamille.admin.view.RouteSnapshot;
import io.kamille.core.loop.WallClock;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/routes}: the routes, and what was asked of each. */
final class Routes implements Resource {

  private final ApplianceView appliance;
  private final WallClock clock;

  Routes(ApplianceView appliance, WallClock clock) {
    this.appliance = appliance;
    this.clock = clock;
  }

  @Override
  public Operation operation() {
    return Operation.get(
            "/v1/routes", Scope.READ, "The routes, and what was asked of each since the start.")
        .answers(Document.class);
  }

  @Override
  public Answer answer(AdminRequest request) {
    long now = clock.epochMillis();
    return Answer.json(
        new Document(appliance.routes().stream().map(route -> Row.of(route, now)).toList()));
  }

  private record Document(List<Row> routes) {}

  private record Row(
      String name,
      String host,
      String path,
      String upstream,
      boolean cached,
      long requests,
      long hits,
      long failures,
      @Nullable String lastRequest) {

    static Row of(RouteSnapshot route, long now) {
      return new Row(
          route.name(),
          route.host(),
          route.path(),
          route.upstream(),
          route.isCached(),
          route.requests(),
          route.hits(),
          route.failures(),
          route.idleMillis() < 0
              ? null
              : Instant.ofEpochMilli(now - route.idleMillis()).toString());
    }
  }
}
