package io.kamille.launcher.appliance;

import io.kamille.admin.view.UpstreamSnapshot.CheckSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginState;
import io.kamille.core.time.WallClock;
import io.kamille.core.upstream.Origin;
import io.kamille.core.upstream.Standing;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;

/** Origins as the control plane sees them, with times of the wall clock. Stateless; any thread. */
final class OriginReport {

  private final Instant now = Instant.now();
  private final long nanos = WallClock.system().nanos();

  private OriginReport() {}

  static List<OriginSnapshot> of(List<Origin> origins) {
    OriginReport report = new OriginReport();
    return origins.stream().map(report::snapshot).toList();
  }

  private OriginSnapshot snapshot(Origin origin) {
    Standing standing = origin.health().standing();
    Origin.Checked check = origin.lastCheck();
    long drained = origin.health().drainedNanos(nanos);
    return new OriginSnapshot(
        origin.name(),
        state(standing),
        origin.inFlight(),
        origin.adaptiveLimit(),
        origin.health().failuresInAll(),
        standing.isFromTheStart() ? null : time(standing.sinceNanos()),
        standing.why(),
        drained == 0 ? null : time(nanos + drained),
        check == null
            ? null
            : new CheckSnapshot(time(check.nanos()), check.trouble(), time(check.nextNanos())));
  }

  private static OriginState state(Standing standing) {
    return switch (standing.phase()) {
      case IN -> OriginState.IN;
      case OUT, PROBED -> OriginState.OUT;
      case RETURNING -> OriginState.RETURNING;
    };
  }

  private String time(long atNanos) {
    return now.plusNanos(atNanos - nanos).truncatedTo(ChronoUnit.MILLIS).toString();
  }
}
