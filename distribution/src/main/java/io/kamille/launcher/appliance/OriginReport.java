package io.kamille.launcher.appliance;

import io.kamille.admin.view.UpstreamSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.CheckSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.ListSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginSnapshot;
import io.kamille.admin.view.UpstreamSnapshot.OriginState;
import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.Standing;
import io.kamille.core.origin.names.OriginList;
import io.kamille.core.origin.names.OriginList.Kind;
import io.kamille.core.origin.names.OriginLists;
import io.kamille.core.setting.OriginUrl;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Origins as the control plane sees them, with times of the wall clock. Stateless; any thread. */
final class OriginReport {

  private final Instant now = Instant.now();
  private final long nanos = WallClock.system().nanos();

  private OriginReport() {}

  static UpstreamSnapshot of(String upstream, List<Origin> origins, OriginLists lists) {
    OriginReport report = new OriginReport();
    Map<OriginUrl, OriginList> naming = lists.naming();
    return new UpstreamSnapshot(
        upstream,
        origins.stream().map(origin -> report.snapshot(origin, naming.get(origin.url()))).toList(),
        lists.watched().stream()
            .map(
                list ->
                    new ListSnapshot(
                        list.kind(), list.place(), list.origins().size(), list.problems()))
            .toList());
  }

  /**
   * One origin.
   *
   * @param list what names it; null if nothing does by now
   */
  private OriginSnapshot snapshot(Origin origin, @Nullable OriginList list) {
    Standing standing = origin.health().standing();
    Origin.Checked check = origin.lastCheck();
    long drained = origin.health().drainedNanos(nanos);
    return new OriginSnapshot(
        origin.name(),
        list == null ? Kind.CONFIGURATION : list.kind(),
        list == null ? null : until(list.untilNanos(origin.url())),
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

  private @Nullable String until(long atNanos) {
    return atNanos == OriginList.FOREVER ? null : time(atNanos);
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
