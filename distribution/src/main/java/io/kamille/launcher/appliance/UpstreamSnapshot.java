package io.kamille.launcher.appliance;

import io.kamille.core.loop.WallClock;
import io.kamille.core.origin.Origin;
import io.kamille.core.origin.Standing;
import io.kamille.core.origin.names.OriginList;
import io.kamille.core.origin.names.OriginList.NamedBy;
import io.kamille.core.origin.names.OriginLists;
import io.kamille.core.setting.OriginUrl;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One upstream and its origins as the control plane tells of them.
 *
 * @param lists what names them besides the configuration
 */
record UpstreamSnapshot(String name, List<OriginSnapshot> origins, List<ListSnapshot> lists) {

  UpstreamSnapshot {
    origins = List.copyOf(origins);
    lists = List.copyOf(lists);
  }

  /** As it is now. */
  static UpstreamSnapshot of(String upstream, List<Origin> origins, OriginLists lists) {
    Now now = new Now(Instant.now(), WallClock.system().nanos());
    Map<OriginUrl, OriginList> naming = lists.naming();
    return new UpstreamSnapshot(
        upstream,
        origins.stream()
            .map(origin -> OriginSnapshot.of(origin, naming.get(origin.url()), now))
            .toList(),
        lists.watched().stream()
            .map(
                list ->
                    new ListSnapshot(
                        list.kind(), list.place(), list.origins().size(), list.problems()))
            .toList());
  }

  /** One moment by both clocks. */
  private record Now(Instant instant, long nanos) {

    String time(long atNanos) {
      return instant.plusNanos(atNanos - nanos).truncatedTo(ChronoUnit.MILLIS).toString();
    }
  }

  /**
   * A list of origins outside the configuration.
   *
   * @param place which file, say
   * @param origins how many it names; after trouble, how many it named before
   * @param problems what is wrong with it, a line for each
   */
  record ListSnapshot(NamedBy kind, String place, int origins, List<String> problems) {

    ListSnapshot {
      problems = List.copyOf(problems);
    }
  }

  /** Whether requests go to an origin. */
  enum OriginState {
    IN,
    /** It failed; after a while one request probes it. */
    OUT,
    /** It answered again, and gets a growing share of the requests. */
    RETURNING;

    private static OriginState of(Standing standing) {
      return switch (standing.phase()) {
        case IN -> IN;
        case OUT, PROBED -> OUT;
        case RETURNING -> RETURNING;
      };
    }
  }

  /**
   * One origin.
   *
   * @param name host and port
   * @param from what names it
   * @param until until when that does, as RFC 3339 says it; null if there is no end
   * @param inFlight requests it has not answered yet
   * @param failures since the start
   * @param since when it came into this state, as RFC 3339 says it; null if it always was
   * @param why what brought it there; empty if nothing did
   * @param drainedUntil until when somebody drains it, as RFC 3339 says it; null if nobody does
   * @param check how its last check went; null if there was none
   */
  record OriginSnapshot(
      String name,
      NamedBy from,
      @Nullable String until,
      OriginState state,
      long inFlight,
      long failures,
      @Nullable String since,
      String why,
      @Nullable String drainedUntil,
      @Nullable CheckSnapshot check) {

    /** By what names it now; null if nothing does any more. */
    private static OriginSnapshot of(Origin origin, @Nullable OriginList list, Now now) {
      Standing standing = origin.health().standing();
      Origin.Checked check = origin.lastCheck();
      long drained = origin.health().drainedNanos(now.nanos());
      long until = list == null ? OriginList.FOREVER : list.untilNanos(origin.url());
      return new OriginSnapshot(
          origin.name(),
          list == null ? NamedBy.CONFIGURATION : list.kind(),
          until == OriginList.FOREVER ? null : now.time(until),
          OriginState.of(standing),
          origin.inFlight(),
          origin.health().failuresInAll(),
          standing.isFromTheStart() ? null : now.time(standing.sinceNanos()),
          standing.why(),
          drained == 0 ? null : now.time(now.nanos() + drained),
          check == null
              ? null
              : new CheckSnapshot(
                  now.time(check.nanos()), check.trouble(), now.time(check.nextNanos())));
    }
  }

  /**
   * How a check of an origin went.
   *
   * @param at when it ended, as RFC 3339 says it
   * @param trouble what was wrong; empty if it passed
   * @param next when the next one begins
   */
  record CheckSnapshot(String at, String trouble, String next) {}
}
